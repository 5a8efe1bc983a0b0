"""Programs that compute a graph over a batch, in compiled loops and in NumPy, Arrow and pandas."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from colkern.arrays import Array
from colkern.builders import array as new_array
from colkern.errors import UnsupportedError
from colkern.generated import function_of_text
from colkern.jit import Udf, udf
from colkern.spark.acceleration import graph as g
from colkern.spark.acceleration.forms import Column, column_of
from colkern.spark.acceleration.original import Original

Values: TypeAlias = dict[bytes, Column]
"""The columns computed so far for a batch, by the identities of their nodes."""

Step: TypeAlias = Callable[[Values, Sequence[pa.Array]], Column]


class Program:
    """The steps that compute the results for batches whose columns have given types, with nulls or without.

    Args:
        result: The node of the results.
        columns: For each column its type, and whether it has nulls.
        original: Converts columns to pandas and back as Spark does.

    Raises:
        UnsupportedError, CompileError: If a column's type is not supported, or the graph does not compile.
    """

    def __init__(
        self, result: g.Node, columns: Sequence[tuple[pa.DataType, bool]], original: Original
    ) -> None:
        self._columns = columns
        self._original = original
        self._steps: dict[bytes, Step] = {}
        self._result = result
        self._add(result, is_last=True)

    def __call__(self, columns: Sequence[pa.Array]) -> pa.Array:
        """Returns the results with pandas' dtype, NaN as null; results of other types as Spark converts
        them."""
        values: Values = {}
        with np.errstate(all="ignore"):
            for identity, step in self._steps.items():
                values[identity] = step(values, columns)
        results = values[b"result"]
        if isinstance(results.value, Array):
            return results.arrow
        is_other = self._result.dtype == g.OTHER
        arrow = self._as_declared(results.value) if is_other else results.arrow
        if arrow is None:
            return self._original.arrow(results.pandas, len(columns[0]))
        if not pa.types.is_floating(arrow.type):
            return arrow
        return pa.array(arrow.to_numpy(zero_copy_only=False), from_pandas=True)

    def _as_declared(self, results: object) -> pa.Array | None:
        """Returns the results of a row function that are of the declared type, or decimals that fit it;
        else None."""
        declared = self._original.arrow_type
        if isinstance(results, pa.Array):
            if results.type == declared:
                return results
            if pa.types.is_decimal(results.type) and pa.types.is_decimal(declared):
                with contextlib.suppress(pa.ArrowInvalid):
                    return results.cast(declared)
        return None

    def _add(self, node: g.Node, *, is_last: bool = False) -> None:
        """Add the steps for a node's column; `is_last` if it is the column of the results."""
        identity = b"result" if is_last else node.identity
        if identity in self._steps or isinstance(node, g.Constant):
            return
        if isinstance(node, g.Whole):
            self._add_whole(node, identity)
        elif isinstance(node, g.Fused) or (is_last and isinstance(node.dtype, np.dtype)):
            self._add_kernel(node, identity, is_last)
        elif isinstance(node, g.Input):
            self._steps[identity] = partial(self._input, node)

    def _input(self, node: g.Input, _: Values, columns: Sequence[pa.Array]) -> Column:
        return Column(
            columns[node.position], node.dtype, lambda column: self._original.pandas([column])[0]
        )

    def _add_whole(self, node: g.Whole, identity: bytes) -> None:
        for operand in node.operands:
            self._add(operand)
        reads: Sequence[g.Form] = node.reads or ["own"] * len(node.operands)

        def step(values: Values, _: Sequence[pa.Array]) -> Column:
            operands = [
                operand.value
                if isinstance(operand, g.Constant)
                else values[operand.identity].form(form)
                for operand, form in zip(node.operands, reads, strict=True)
            ]
            return column_of(node.function(*operands), node.dtype)

        self._steps[identity] = step

    def _add_kernel(self, node: g.Node, identity: bytes, is_last: bool) -> None:
        leaves = list({leaf.identity: leaf for leaf in _leaves(node)}.values())
        if not leaves:
            raise UnsupportedError("the result does not depend on a column")
        for leaf in leaves:
            if isinstance(leaf, g.Whole):
                self._add(leaf)
        loop = compiled_loop(node, leaves, list(map(self._kind, leaves)), is_last=is_last)

        def step(values: Values, columns: Sequence[pa.Array]) -> Column:
            return Column(loop(*[_leaf(leaf, values, columns) for leaf in leaves]), node.dtype)

        self._steps[identity] = step

    def _kind(self, leaf: g.Node) -> tuple[str, bool]:
        """Returns the name of the type of a leaf's column, and whether it has nulls."""
        if not isinstance(leaf, g.Input):
            return str(leaf.dtype), False
        type_, has_nulls = self._columns[leaf.position]
        return np.dtype(type_.to_pandas_dtype()).name, has_nulls


def _leaves(node: g.Node) -> Iterator[g.Node]:
    """Yields the nodes below a fused one whose columns exist before its loop runs."""
    if isinstance(node, g.Input | g.Whole):
        yield node
    elif isinstance(node, g.Fused):
        for operand in node.operands:
            yield from _leaves(operand)


def _leaf(leaf: g.Node, values: Values, columns: Sequence[pa.Array]) -> pa.Array | Array:
    if isinstance(leaf, g.Input):
        return columns[leaf.position]
    column = values[leaf.identity]
    # Loops read the bits of Arrow's booleans.
    return column.arrow if leaf.dtype in (g.TEXT, g.OTHER, bool) else new_array(column.numpy)


# Loops: from fused nodes to a row function that `ck.udf` compiles


def compiled_loop(
    root: g.Node, leaves: list[g.Node], columns: list[tuple[str, bool]], *, is_last: bool
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
    if is_last and g.is_float(root.dtype):
        result = f"None if {result} != {result} else {result}"
    types = ", ".join(f"{type_}{'?' if nulls else ''}" for type_, nulls in columns)
    names = {"np": np, "__name__": __name__}
    function = function_of_text("body", body.source(result), names, "accelerated")
    # Integers wrap around, and division by zero is IEEE 754's, as in NumPy.
    return udf(function, signature=f"({types}) -> {root.dtype}", arithmetic="machine")


class _Body:
    """The statements of a row function; parameters that may be None become NaN."""

    def __init__(self, leaves: list[g.Node], nullable: list[bool]) -> None:
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

    def value_of(self, node: g.Node) -> str:
        """Returns the name of the variable that holds a node's value."""
        if node.identity in self._names:
            return self._names[node.identity]
        if not isinstance(node, g.Fused):
            raise AssertionError(f"{node} is neither fused nor a leaf")
        pairs = zip(node.operands, node.reads, strict=True)
        operands = [self._converted(operand, dtype) for operand, dtype in pairs]
        value = node.expression.format(*operands)
        if node.dtype != np.bool_:
            value = f"np.{node.dtype}({value})"
        return self._named(node, value)

    def _converted(self, node: g.Node, dtype: g.NumPyType) -> str:
        """Returns the code of a node's value, converted to the dtype in which an operation computes."""
        if isinstance(node, g.Constant):
            return _literal(node.value, dtype)
        name = self.value_of(node)
        if node.dtype == dtype:
            return name
        return f"({name} != 0)" if dtype == np.bool_ else f"np.{dtype}({name})"

    def _named(self, node: g.Node, value: str) -> str:
        name = self._names[node.identity] = f"v{len(self._names)}"
        self._statements.append(f"{name} = {value}")
        return name


def _literal(value: object, dtype: g.NumPyType) -> str:
    plain = dtype.type(value).item()
    if dtype.kind != "f":
        return f"np.{dtype}({plain})" if dtype.kind == "i" else repr(plain)
    named = {np.inf: "np.inf", -np.inf: "-np.inf"}.get(plain, repr(plain))
    return f"np.{dtype}({'np.nan' if plain != plain else named})"
