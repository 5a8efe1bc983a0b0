"""Row functions for fused operations: from nodes to Python that `ck.udf` compiles."""

from __future__ import annotations

import numpy as np

from colkern.generated import function_of_text
from colkern.jit import Udf, udf
from colkern.spark.acceleration.nodes import Constant, Fused, Node, NumPyType, is_float


def compiled_loop(
    root: Node, leaves: list[Node], columns: list[tuple[str, bool]], *, is_last: bool
) -> Udf:
    """Returns the compiled loop over rows for a node and the fused nodes below it.

    Args:
        root: The node of the results.
        leaves: The nodes below it that are columns already.
        columns: For each leaf, the name of its type as in signatures, and whether it may be null.
        is_last: Whether these are the results of the function, in which NaN becomes null.
    """
    body = _Body(leaves, [may_be_null for _, may_be_null in columns])
    result = body.value_of(root)
    if is_last and is_float(root.dtype):
        result = f"None if {result} != {result} else {result}"
    types = ", ".join(f"{type_}{'?' if nulls else ''}" for type_, nulls in columns)
    names = {"np": np, "__name__": __name__}
    function = function_of_text("body", body.source(result), names, "accelerated")
    # Integers wrap around, and division by zero is IEEE 754's, as in NumPy.
    return udf(function, signature=f"({types}) -> {root.dtype}", arithmetic="machine")


class _Body:
    """The statements of a row function; parameters that may be None become NaN."""

    def __init__(self, leaves: list[Node], nullable: list[bool]) -> None:
        self._parameters = [f"c{k}" for k in range(len(leaves))]
        self._statements: list[str] = []
        self._names: dict[bytes, str] = {}
        for leaf, name, may_be_none in zip(leaves, self._parameters, nullable, strict=True):
            plain = f"np.{leaf.dtype}({name})"
            # A NaN of the column's own type; otherwise the variable would become a float64.
            null = f"np.{leaf.dtype}(np.nan)"
            self._named(leaf, f"{null} if {name} is None else {plain}" if may_be_none else plain)

    def source(self, result: str) -> str:
        lines = [*self._statements, f"return {result}"]
        return f"def body({', '.join(self._parameters)}):\n" + "".join(f"    {x}\n" for x in lines)

    def value_of(self, node: Node) -> str:
        """Returns the name of the variable that holds a node's value."""
        if node.identity in self._names:
            return self._names[node.identity]
        if not isinstance(node, Fused):
            raise AssertionError(f"{node} is neither fused nor a leaf")
        pairs = zip(node.operands, node.reads, strict=True)
        operands = [self._converted(operand, dtype) for operand, dtype in pairs]
        value = node.expression.format(*operands)
        if node.dtype != np.bool_:
            value = f"np.{node.dtype}({value})"
        return self._named(node, value)

    def _converted(self, node: Node, dtype: NumPyType) -> str:
        """Returns the code of a node's value, converted to the dtype in which an operation computes."""
        if isinstance(node, Constant):
            return _literal(node.value, dtype)
        name = self.value_of(node)
        if node.dtype == dtype:
            return name
        return f"({name} != 0)" if dtype == np.bool_ else f"np.{dtype}({name})"

    def _named(self, node: Node, value: str) -> str:
        name = self._names[node.identity] = f"v{len(self._names)}"
        self._statements.append(f"{name} = {value}")
        return name


def _literal(value: object, dtype: NumPyType) -> str:
    plain = dtype.type(value).item()
    if dtype.kind != "f":
        return f"np.{dtype}({plain})" if dtype.kind == "i" else repr(plain)
    named = {np.inf: "np.inf", -np.inf: "-np.inf"}.get(plain, repr(plain))
    return f"np.{dtype}({'np.nan' if plain != plain else named})"
