"""What computes a graph over a batch: compiled loops, and NumPy and Arrow between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from colkern.builders import array as new_array
from colkern.errors import UnsupportedError
from colkern.layouts import Role
from colkern.spark.acceleration.generation import Kernel
from colkern.spark.acceleration.nodes import TEXT, Constant, Fused, Input, Node, Whole

Step: TypeAlias = Callable[[dict[bytes, Any]], Any]

_SOURCES = (Input, Whole)


class Program:
    """The steps that compute the results for batches whose columns are of one shape.

    Args:
        result: What the results are made by.
        columns: For each column of a batch its type, and whether it has nulls.

    Raises:
        UnsupportedError: If a column is not of a type that can be computed with.
        CompileError: If the graph does not compile.
    """

    def __init__(self, result: Node, columns: Sequence[tuple[pa.DataType, bool]]) -> None:
        self._columns = columns
        self._steps: dict[bytes, Step] = {}
        self._result = result
        self._add(result, is_last=True)

    def __call__(self, columns: Sequence[pa.Array]) -> pa.Array:
        """The results: of the dtype that pandas has for them, NaN as null."""
        values: dict[bytes, Any] = {}
        with np.errstate(all="ignore"):
            for identity, step in self._steps.items():
                values[identity] = step({**values, b"columns": columns})
        made = values[b"result"]
        return made if isinstance(made, pa.Array) else pa.array(made, from_pandas=True)

    def _add(self, node: Node, *, is_last: bool = False) -> None:
        """Add the steps for a node's column; last the one for the results."""
        identity = b"result" if is_last else node.identity
        if identity in self._steps or isinstance(node, Constant):
            return
        if isinstance(node, Whole):
            self._add_whole(node, identity)
        elif is_last and node.dtype == TEXT:
            self._steps[identity] = _column(node)
        elif isinstance(node, Fused) or is_last:
            self._add_kernel(node, identity, is_last)
        else:
            self._add_input(node)

    def _add_input(self, node: Node) -> None:
        """A column of a batch as whole-column operations take it: an array of NumPy's, or texts."""
        take = _column(node)
        if node.dtype == TEXT:
            self._steps[node.identity] = take
        else:
            self._steps[node.identity] = lambda values: _as_numpy(take(values), node.dtype)

    def _add_whole(self, node: Whole, identity: bytes) -> None:
        for operand in node.operands:
            self._add(operand)

        def step(values: dict[bytes, Any]) -> Any:
            made = node.function(*[_operand(operand, values) for operand in node.operands])
            # Bits of Arrow's are what compiled loops read.
            return made if node.dtype in (TEXT, bool) else _as_numpy(made, node.dtype)

        self._steps[identity] = step

    def _add_kernel(self, node: Node, identity: bytes, is_last: bool) -> None:
        leaves = list({leaf.identity: leaf for leaf in _leaves(node)}.values())
        if not leaves:
            raise UnsupportedError("the result follows from no column")
        for leaf in leaves:
            if isinstance(leaf, Whole):
                self._add(leaf)
        kernel = Kernel(node, leaves, list(map(self._kind, leaves)), is_last=is_last)

        def step(values: dict[bytes, Any]) -> Any:
            made = kernel.function(*[_leaf(leaf, values) for leaf in kernel.leaves])
            if is_last or node.dtype == bool:
                return pa.array(made)
            return made.items(Role.DATA)

        self._steps[identity] = step

    def _kind(self, leaf: Node) -> tuple[str, bool]:
        """The name of the type of a leaf's column, and whether it has nulls."""
        if not isinstance(leaf, Input):
            return str(leaf.dtype), False
        type_, has_nulls = self._columns[leaf.position]
        return _NAMES[type_], has_nulls


_NAMES = {
    pa.bool_(): "bool",
    pa.int8(): "int8",
    pa.int16(): "int16",
    pa.int32(): "int32",
    pa.int64(): "int64",
    pa.float32(): "float32",
    pa.float64(): "float64",
}


def _leaves(node: Node) -> Iterator[Node]:
    """The nodes below a fused one that are columns before its loop runs."""
    if isinstance(node, _SOURCES):
        yield node
    elif isinstance(node, Fused):
        for operand in node.operands:
            yield from _leaves(operand)


def _column(node: Any) -> Step:
    return lambda values: values[b"columns"][node.position]


def _leaf(leaf: Any, values: dict[bytes, Any]) -> Any:
    if isinstance(leaf, Input):
        return values[b"columns"][leaf.position]
    made = values[leaf.identity]
    return made if isinstance(made, pa.Array) else new_array(made)


def _operand(node: Node, values: dict[bytes, Any]) -> Any:
    if isinstance(node, Constant):
        return node.value
    made = values[node.identity]
    return made if node.dtype == TEXT else _as_numpy(made, node.dtype)


def _as_numpy(made: Any, dtype: Any) -> Any:
    """A column as NumPy has it; nulls of Arrow's are NaN."""
    if isinstance(made, pa.Array | pa.ChunkedArray):
        made = made.to_numpy(zero_copy_only=False)
    return made.astype(dtype, copy=False)
