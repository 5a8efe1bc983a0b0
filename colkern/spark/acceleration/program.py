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
from colkern.spark.acceleration.forms import Column, column_of
from colkern.spark.acceleration.generation import compiled_loop
from colkern.spark.acceleration.nodes import OTHER, TEXT, Constant, Form, Fused, Input, Node, Whole
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
        self,
        result: Node,
        columns: Sequence[tuple[pa.DataType, bool]],
        original: Original,
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
        is_other = self._result.dtype == OTHER
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

    def _add(self, node: Node, *, is_last: bool = False) -> None:
        """Add the steps for a node's column; `is_last` if it is the column of the results."""
        identity = b"result" if is_last else node.identity
        if identity in self._steps or isinstance(node, Constant):
            return
        if isinstance(node, Whole):
            self._add_whole(node, identity)
        elif isinstance(node, Fused) or (is_last and isinstance(node.dtype, np.dtype)):
            self._add_kernel(node, identity, is_last)
        elif isinstance(node, Input):
            self._steps[identity] = partial(self._input, node)

    def _input(self, node: Input, _: Values, columns: Sequence[pa.Array]) -> Column:
        return Column(
            columns[node.position],
            node.dtype,
            lambda column: self._original.pandas([column])[0],
        )

    def _add_whole(self, node: Whole, identity: bytes) -> None:
        for operand in node.operands:
            self._add(operand)
        reads: Sequence[Form] = node.reads or ["own"] * len(node.operands)

        def step(values: Values, _: Sequence[pa.Array]) -> Column:
            operands = [
                operand.value
                if isinstance(operand, Constant)
                else values[operand.identity].form(form)
                for operand, form in zip(node.operands, reads, strict=True)
            ]
            return column_of(node.function(*operands), node.dtype)

        self._steps[identity] = step

    def _add_kernel(self, node: Node, identity: bytes, is_last: bool) -> None:
        leaves = list({leaf.identity: leaf for leaf in _leaves(node)}.values())
        if not leaves:
            raise UnsupportedError("the result does not depend on a column")
        for leaf in leaves:
            if isinstance(leaf, Whole):
                self._add(leaf)
        loop = compiled_loop(node, leaves, list(map(self._kind, leaves)), is_last=is_last)

        def step(values: Values, columns: Sequence[pa.Array]) -> Column:
            return Column(loop(*[_leaf(leaf, values, columns) for leaf in leaves]), node.dtype)

        self._steps[identity] = step

    def _kind(self, leaf: Node) -> tuple[str, bool]:
        """Returns the name of the type of a leaf's column, and whether it has nulls."""
        if not isinstance(leaf, Input):
            return str(leaf.dtype), False
        type_, has_nulls = self._columns[leaf.position]
        return np.dtype(type_.to_pandas_dtype()).name, has_nulls


def _leaves(node: Node) -> Iterator[Node]:
    """Yields the nodes below a fused one whose columns exist before its loop runs."""
    if isinstance(node, Input | Whole):
        yield node
    elif isinstance(node, Fused):
        for operand in node.operands:
            yield from _leaves(operand)


def _leaf(leaf: Node, values: Values, columns: Sequence[pa.Array]) -> pa.Array | Array:
    if isinstance(leaf, Input):
        return columns[leaf.position]
    column = values[leaf.identity]
    # Loops read the bits of Arrow's booleans.
    return column.arrow if leaf.dtype in (TEXT, OTHER, bool) else new_array(column.numpy)
