"""Functions of pandas columns, compiled for each shape of batches, or left to pandas with a warning."""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import TypeAlias

import pyarrow as pa
from pyspark.sql.types import BooleanType, DataType, DoubleType, FloatType, IntegralType, StringType

from colkern.errors import UnsupportedError
from colkern.spark.acceleration import graph as g
from colkern.spark.acceleration import verification
from colkern.spark.acceleration.forms import ValuesDecideError
from colkern.spark.acceleration.original import Original
from colkern.spark.acceleration.program import Program
from colkern.spark.acceleration.tracing import traced
from colkern.spark.functions import compiling

Shape: TypeAlias = tuple[tuple[pa.DataType, bool], ...]


class Compiled:
    """The function of one process: compiled as far as it can be, and verified."""

    def __init__(self, name: str, original: Original, returns: DataType) -> None:
        self._name = name
        self._original = original
        self._returns = returns
        self._arrow_type = original.arrow_type
        self._programs: dict[Shape, verification.Function | None] = {}
        self._timed: set[Shape] = set()
        self._has_warned = False
        self._is_given_up = False

    def __call__(self, columns: Sequence[pa.Array]) -> pa.Array:
        """The results for a batch."""
        results = self.attempt(columns)
        return self._original(columns) if results is None else results

    def of_batches(self, batches: Iterator[Sequence[pa.Array]]) -> Iterator[pa.Array]:
        """Yields the results for each batch; from the first batch that is not compiled on, the original
        computes them."""
        for columns in batches:
            results = self.attempt(columns)
            if results is None:
                yield from self._original.of_batches(itertools.chain([columns], batches))
                return
            yield results

    def attempt(self, columns: Sequence[pa.Array]) -> pa.Array | None:
        """Returns the results of compiled code for a batch; None if the original must compute them."""
        if not len(columns[0]):
            return pa.nulls(0, self._arrow_type)
        if self._is_given_up:
            return None
        shape = tuple([(column.type, column.null_count > 0) for column in columns])
        if shape not in self._programs:
            self._programs[shape] = self._verified(shape, columns)
        program = self._programs[shape]
        if program and shape not in self._timed and len(columns[0]) >= verification.TIMED_ROWS:
            self._timed.add(shape)
            if not verification.is_faster(program, self._original, columns):
                self._programs[shape] = program = None
        try:
            return program and program(columns)
        except ValuesDecideError as error:
            self._warn(f"in some batches a column has the dtype {error}")
            return None
        except Exception as error:  # noqa: BLE001 If the data is wrong, the original raises too.
            self._give_up(f"its compiled form raised {type(error).__name__}: {error}")
            return None

    def _verified(self, shape: Shape, columns: Sequence[pa.Array]) -> verification.Function | None:
        """Returns the function for batches of a shape; None if compiled code gives other results than the
        original."""
        try:
            with compiling.one_process_compiles():
                rare = verification.extremes(columns)
                witnesses = self._original.pandas(witnesses_of(columns))
                body, over_batches = self._original.function, self._original.over_batches
                node = result_of(traced(body, witnesses, over_batches=over_batches), self._returns)
                if node.calls_python:
                    verification.require_steady(self._original, [column.type for column in columns])
                program = Program(node, shape, self._original)
        except Exception as error:  # noqa: BLE001 The original does what is not compiled.
            kinds = [f"{type_} with nulls" if nulls else str(type_) for type_, nulls in shape]
            self._warn(f"{error}, for columns of {', '.join(kinds)}")
            return None
        rows, compiled = verification.sample(columns), functools.partial(self._results, program)
        try:
            reason = verification.difference(rows, compiled(rows), self._original(rows))
            if reason is None:
                reason = verification.difference_at_extremes(rare, compiled, self._original)
        except Exception as error:  # noqa: BLE001 The user's function may raise anything.
            reason = f"{type(error).__name__}: {error}"
        if reason is not None:
            self._give_up(f"its results were not verified: {reason}")
            return None
        return compiled

    def _results(self, program: Program, columns: Sequence[pa.Array]) -> pa.Array:
        results = program(columns)
        if results.type == self._arrow_type:
            return results
        return results.cast(self._arrow_type, safe=self._original.settings.safely)

    def _give_up(self, reason: str) -> None:
        self._is_given_up = True
        self._warn(reason)

    def _warn(self, reason: str) -> None:
        if not self._has_warned:
            self._has_warned = True
            warn(self._name, reason)


def warn(name: str, reason: str) -> None:
    """Warn that a function runs in pandas as before, and say why."""
    message = f"{name} is not accelerated, and runs in pandas as before: {reason}"
    warnings.warn(message, RuntimeWarning, stacklevel=2)


def result_of(node: g.Node, returns: DataType) -> g.Node:
    """Returns the node of the results; Spark converts results that are neither numbers nor text. Raises
    UnsupportedError if their type is known, and is not the declared one."""
    if node.dtype == g.OTHER:
        return node
    if not isinstance(returns, _PLAIN):
        name = f"a result of {returns.simpleString()}"
        return g.Whole(g.OTHER, name, lambda results: results, (node,), (), ("pandas",))
    kinds = {g.TEXT: StringType, "bool": BooleanType}
    declared = type(returns) if isinstance(returns, StringType | BooleanType) else None
    if kinds.get(str(node.dtype)) is not declared:
        raise UnsupportedError(
            f"it returns {node.dtype}, where {returns.simpleString()} is declared"
        )
    return node


_PLAIN = (IntegralType, FloatType, DoubleType, StringType, BooleanType)


EXAMPLES: dict[str, pa.Array] = {
    "double": pa.array([1.5, 2.0]),
    "letter": pa.array(["a", "b"]),
    "bigint": pa.array([1, 2]),
    "boolean": pa.array([True, False]),
    "timestamp": pa.array([1_706_659_200_000_000, 1_706_745_600_000_001]).cast(
        pa.timestamp("us", "UTC")
    ),
    "date": pa.array([19_753, 19_754], pa.int32()).view(pa.date32()),
    "text of a day": pa.array(["2024-01-31", "2024-02-01"]),
    # The second text has several parts, whatever the separator.
    "string": pa.array(["2024-01-31", "a-b_c,d;e:f/g.h|i@j=k&l#m n"]),
    "decimal": pa.array([Decimal("1.50"), Decimal("2.00")]),
    "array": pa.array([[1.0, 2.0], [3.0]]),
}
"""Two values of each kind of column, for traces before there are columns."""


def witnesses_of(columns: Sequence[pa.Array]) -> list[pa.Array]:
    """Returns some rows of a batch: for each column one with a value, and one with a null if it has any."""
    chosen = set(range(0, len(columns[0]), len(columns[0]) // 8 + 1))
    for column in columns:
        for is_null in {False, column.null_count > 0}:
            chosen.add(max(column.is_null().index(is_null).as_py(), 0))
    rows = pa.array(sorted(chosen))
    return [column.take(rows) for column in columns]
