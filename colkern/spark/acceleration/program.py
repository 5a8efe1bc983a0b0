"""Programs that compute a graph over a batch: compiled loops, and NumPy and Arrow between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from colkern.arrays import Array
from colkern.builders import array as new_array
from colkern.errors import UnsupportedError
from colkern.layouts import Role
from colkern.spark.acceleration.generation import Kernel
from colkern.spark.acceleration.nodes import TEXT, Constant, DType, Fused, Input, Node, Whole
from colkern.spark.acceleration.recorded import AnyArray

Column: TypeAlias = "pa.Array | Array | AnyArray"
Values: TypeAlias = dict[bytes, Any]
"""The columns of a batch, and those computed so far by the identities of their nodes."""

Step: TypeAlias = Callable[[Values], Column]


class Program:
    """The steps that compute the results for batches whose columns have some types, with nulls or without.

    Raises:
        UnsupportedError, CompileError: If a column's type is not supported, or the graph does not compile.
    """

    def __init__(self, result: Node, columns: Sequence[tuple[pa.DataType, bool]]) -> None:
        self._columns = columns
        self._steps: dict[bytes, Step] = {}
        self._result = result
        self._add(result, is_last=True)

    def __call__(self, columns: Sequence[pa.Array]) -> pa.Array:
        """The results: of the dtype that pandas has for them, NaN as null."""
        values: Values = {}
        with np.errstate(all="ignore"):
            for identity, step in self._steps.items():
                values[identity] = step({**values, b"columns": columns})
        results = values[b"result"]
        return results if isinstance(results, pa.Array) else pa.array(results, from_pandas=True)

    def _add(self, node: Node, *, is_last: bool = False) -> None:
        """Add the steps for a node's column; last the one for the results."""
        identity = b"result" if is_last else node.identity
        if identity in self._steps or isinstance(node, Constant):
            return
        if isinstance(node, Whole):
            self._add_whole(node, identity)
        elif isinstance(node, Fused) or (is_last and node.dtype != TEXT):
            self._add_kernel(node, identity, is_last)
        elif isinstance(node, Input):
            self._steps[identity] = partial(_input, node)

    def _add_whole(self, node: Whole, identity: bytes) -> None:
        for operand in node.operands:
            self._add(operand)

        def step(values: Values) -> Column:
            column = node.function(*[_operand(operand, values) for operand in node.operands])
            # Compiled loops read Arrow's bits.
            return column if node.dtype in (TEXT, bool) else _as_numpy(column, node.dtype)

        self._steps[identity] = step

    def _add_kernel(self, node: Node, identity: bytes, is_last: bool) -> None:
        leaves = list({leaf.identity: leaf for leaf in _leaves(node)}.values())
        if not leaves:
            raise UnsupportedError("the result follows from no column")
        for leaf in leaves:
            if isinstance(leaf, Whole):
                self._add(leaf)
        kernel = Kernel(node, leaves, list(map(self._kind, leaves)), is_last=is_last)

        def step(values: Values) -> Column:
            column = kernel.function(*[_leaf(leaf, values) for leaf in kernel.leaves])
            if is_last or node.dtype == bool:
                return pa.array(column)
            return column.items(Role.DATA)

        self._steps[identity] = step

    def _kind(self, leaf: Node) -> tuple[str, bool]:
        """The name of the type of a leaf's column, and whether it has nulls."""
        if not isinstance(leaf, Input):
            return str(leaf.dtype), False
        type_, has_nulls = self._columns[leaf.position]
        return np.dtype(type_.to_pandas_dtype()).name, has_nulls


def _leaves(node: Node) -> Iterator[Node]:
    """The nodes below a fused one that are columns before its loop runs."""
    if isinstance(node, Input | Whole):
        yield node
    elif isinstance(node, Fused):
        for operand in node.operands:
            yield from _leaves(operand)


def _input(node: Input, values: Values) -> Column:
    """A column of a batch for whole-column operations: an array of NumPy's, or texts."""
    column = values[b"columns"][node.position]
    return column if node.dtype == TEXT else _as_numpy(column, node.dtype)


def _leaf(leaf: Node, values: Values) -> pa.Array | Array:
    if isinstance(leaf, Input):
        return values[b"columns"][leaf.position]
    column = values[leaf.identity]
    return column if isinstance(column, pa.Array) else new_array(column)


def _operand(node: Node, values: Values) -> object:
    if isinstance(node, Constant):
        return node.value
    column = values[node.identity]
    return column if node.dtype == TEXT else _as_numpy(column, node.dtype)


def _as_numpy(column: pa.Array | AnyArray, dtype: DType) -> AnyArray:
    """A column as an array of NumPy's, in which nulls are NaN."""
    if isinstance(column, pa.Array | pa.ChunkedArray):
        column = column.to_numpy(zero_copy_only=False)
    return column.astype(dtype, copy=False)
