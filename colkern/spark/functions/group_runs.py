"""Groups of adjacent rows in batches, which may be cut within a group, and functions over the groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.builders import array as new_array
from colkern.errors import LimitExceededError
from colkern.interchange import import_batch
from colkern.jit import Generator, Reducer
from colkern.layouts import Role
from colkern.memory import Buffer
from colkern.operations import cast, concat, list_flatten, list_parent_indices
from colkern.operations.grouping import key_groups
from colkern.operations.selection import take_positions
from colkern.spark.functions import compiling
from colkern.spark.functions.compiling import LeftRows
from colkern.spark.functions.declarations import result_type
from colkern.spark.functions.results import conformed_columns
from colkern.spark.functions.tables import columns_of, item_columns
from colkern.spark.worker_errors import told_plainly

if TYPE_CHECKING:
    from colkern.spark.functions.declarations import ColumnFunction

Offsets = NDArray[np.int64]

_MOST_ROWS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Runs:
    """Some whole groups."""

    columns: Sequence[Array]  #: The columns, with the rows of one group after the other.
    offsets: Offsets  #: The first row of each group, and the number of rows (int64[groups + 1]).


def runs_of_groups(batches: Iterable[Sequence[Array]], keys: int) -> Iterator[Runs]:
    """Yields whole groups of rows with the same keys, each as soon as its last row is known."""
    # Keys are the first columns, compared as in `key_groups`; rows with the same keys are adjacent. A batch
    # is copied if it continues a group of an earlier one; at most one group is kept for the next batch.
    begun = _Begun()
    for columns in batches:
        length = columns[0].length
        if length == 0:
            continue
        starts = _starts(begun.last(keys), columns[:keys])
        if len(starts) == 0:
            begun.extend(columns, 0, length)
            continue
        cut = int(starts[-1])
        offsets = starts
        if begun.rows:
            offsets = np.concatenate(([0], starts + begun.rows))
        begun.extend(columns, 0, cut)
        if begun.rows:
            yield Runs(begun.columns(), offsets)
        begun = _Begun()
        begun.extend(columns, cut, length)
    if begun.rows:
        yield Runs(begun.columns(), np.array([0, begun.rows], np.int64))


class _Begun:
    """The rows, in pieces, of a group that is not complete yet."""

    def __init__(self) -> None:
        self._pieces: list[Sequence[Array]] = []
        self.rows = 0

    def extend(self, columns: Sequence[Array], start: int, stop: int) -> None:
        if start < stop:
            self._pieces.append([column.slice(start, stop - start) for column in columns])
            self.rows += stop - start

    def last(self, keys: int) -> list[Array]:
        """Returns the keys of the last row; empty if there is no row yet."""
        if not self._pieces:
            return []
        return [column.slice(column.length - 1) for column in self._pieces[-1][:keys]]

    def columns(self) -> list[Array]:
        return [concat(pieces) for pieces in zip(*self._pieces, strict=True)]


def _starts(before: Sequence[Array], keys: Sequence[Array]) -> Offsets:
    """Returns the rows at which a group begins; `before` has the keys of the row before, if any."""
    if not before:
        numbers = key_groups(keys).numbers
        return np.concatenate(([0], _changes(numbers) + 1))
    following = [concat(pair) for pair in zip(before, keys, strict=True)]
    return _changes(key_groups(following).numbers)


def _changes(numbers: NDArray[np.uint32]) -> Offsets:
    """Returns the positions at which a number differs from the next one."""
    return np.flatnonzero(numbers[1:] != numbers[:-1])


class GroupFunction:
    """Workers call this for a partition of rows that are sorted by the keys."""

    def __init__(self, function: ColumnFunction, keys: s.Schema, values: s.Schema) -> None:
        self._elements = _element_types(function, values)
        lists: list[s.DataType] = list(map(s.list_, self._elements))
        self._types = self._elements if isinstance(function, Reducer) else lists
        returns = result_type(function, self._types)
        function.compile(*self._types)
        item = returns.fields[0].type if isinstance(function, Generator) else returns
        self.function = function
        self._keys = keys
        self._left_rows: LeftRows | None = None
        # A group may have no result; then all columns are null.
        results = item_columns(function.name, item).fields
        nullable = [s.field(field.name, field.type) for field in results]
        self.schema = s.Schema((*keys.fields, *nullable))

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yields the keys and results of the groups, some groups at a time."""
        pieces = (import_batch(batch).columns for batch in batches)
        with told_plainly():
            for number, runs in enumerate(runs_of_groups(pieces, len(self._keys))):
                if number == 0:
                    with compiling.one_process_compiles():
                        self.function.compile(*self._types)
                    self._left_rows = LeftRows(self.function)
                yield self._rows(runs)

    def _rows(self, runs: Runs) -> pa.RecordBatch:
        keys, values = runs.columns[: len(self._keys)], runs.columns[len(self._keys) :]
        rows, results = self._results(values, runs.offsets)
        columns = [take_positions(key, rows) for key in keys] + columns_of(results)
        return conformed_columns(self.function.name, columns, self.schema)

    def _results(self, values: Sequence[Array], offsets: Offsets) -> tuple[Offsets, Array]:
        rows = offsets[:-1]
        try:
            results = self._called(values, offsets)
        except Exception as error:
            error.add_note(f"{self.function.name}: rows are groups here, see map_groups")
            raise
        if isinstance(self.function, Generator):
            return rows[list_parent_indices(results).items(Role.DATA)], list_flatten(results)
        return rows, results

    def _called(self, values: Sequence[Array], offsets: Offsets) -> Array:
        columns = [cast(*pair) for pair in zip(values, self._elements, strict=True)]
        if isinstance(self.function, Reducer):
            numbers = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
            grouped: RecordBatch = self.function(*columns, by=new_array(numbers))
            return grouped.columns[1]
        results: Array = self.function(*[_lists(column, offsets) for column in columns])
        return results


def _element_types(function: ColumnFunction, values: s.Schema) -> list[s.DataType]:
    """Returns the types to which the columns of the parameters are cast without loss."""
    if isinstance(function, Reducer):
        return [field.type for field in values.fields]
    types = []
    for parameter, field in zip(function.signature.parameters, values.fields, strict=True):
        declared = parameter.type
        if isinstance(declared, s.List | s.LargeList) and _fits(field.type, declared.value_type):
            types.append(declared.value_type)
        else:
            types.append(field.type)
    return types


def _fits(type_: s.DataType, declared: s.DataType) -> bool:
    """Whether `declared` holds all numbers of `type_`, or both are timestamps of one unit."""
    match type_, declared:
        case s.Timestamp(unit=unit), s.Timestamp(unit=other):
            return unit == other
        case s.Int(bit_width=bits), s.FloatingPoint(bit_width=room):
            return 2 * bits <= room
        case s.FloatingPoint(bit_width=bits), s.FloatingPoint(bit_width=room):
            return bits <= room
        case s.Int(bit_width=bits, signed=signed), s.Int(bit_width=room, signed=other):
            return signed == other and bits <= room
    return False


def _lists(values: Array, offsets: Offsets) -> Array:
    """Returns the slices of a column as lists; not copied."""
    if offsets[-1] > _MOST_ROWS:
        raise LimitExceededError(f"a group has {offsets[-1]} rows, {_MOST_ROWS} are the most")
    buffer = Buffer.of_items(offsets.astype(np.int32))
    return Array(s.list_(values.type), len(offsets) - 1, [None, buffer], [values], null_count=0)
