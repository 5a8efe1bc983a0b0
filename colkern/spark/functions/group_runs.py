"""Groups of adjacent rows, in batches that may be cut within a group, and functions over them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import Array
from colkern.interchange import import_batch
from colkern.operations import concat
from colkern.operations.grouping import group_rows
from colkern.operations.selection import take_positions
from colkern.spark.functions import compiling
from colkern.spark.functions.left_rows import LeftRows
from colkern.spark.functions.results import conformed_columns
from colkern.spark.functions.tables import columns_of, item_columns
from colkern.spark.worker_errors import told_plainly

if TYPE_CHECKING:
    from colkern.spark.functions.declarations import ColumnFunction

Offsets = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Runs:
    """Some whole groups."""

    columns: Sequence[Array]  #: The columns, with the rows of one group after the other.
    offsets: Offsets  #: The first row of each group, and the number of rows (int64[groups + 1]).

    def first(self, count: int) -> Runs:
        """The first `count` groups, or fewer if there are not so many; not copied."""
        offsets = self.offsets[: count + 1]
        return Runs([column.slice(0, int(offsets[-1])) for column in self.columns], offsets)


def runs_of_groups(batches: Iterable[Sequence[Array]], keys: int) -> Iterator[Runs]:
    """The groups of rows with the same keys, each whole, as soon as its last row is known."""
    # Keys are the first columns, compared as in `group_rows`; rows with the same keys are adjacent. A batch
    # is copied if a group of an earlier one goes on in it; at most one group is kept for the next batch.
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
    """The rows of a group that is not whole yet, in pieces."""

    def __init__(self) -> None:
        self._pieces: list[Sequence[Array]] = []
        self.rows = 0

    def extend(self, columns: Sequence[Array], start: int, stop: int) -> None:
        if start < stop:
            self._pieces.append([column.slice(start, stop - start) for column in columns])
            self.rows += stop - start

    def last(self, keys: int) -> list[Array]:
        """The keys of the last row; empty if there is no row yet."""
        if not self._pieces:
            return []
        return [column.slice(column.length - 1) for column in self._pieces[-1][:keys]]

    def columns(self) -> list[Array]:
        return [concat(pieces) for pieces in zip(*self._pieces, strict=True)]


def _starts(before: Sequence[Array], keys: Sequence[Array]) -> Offsets:
    """The rows at which a group begins, after a row with the keys `before`, or after none."""
    if not before:
        numbers = group_rows(keys).numbers
        return np.concatenate(([0], _changes(numbers) + 1))
    following = [concat(pair) for pair in zip(before, keys, strict=True)]
    return _changes(group_rows(following).numbers)


def _changes(numbers: NDArray[np.uint32]) -> Offsets:
    """The positions at which a number differs from the next one."""
    return np.flatnonzero(numbers[1:] != numbers[:-1])


class RunsFunction(ABC):
    """A function over groups, called by workers for a partition sorted by its first columns."""

    def __init__(self, function: ColumnFunction, keys: s.Schema, item: s.DataType) -> None:
        self.function = function
        self._keys = keys
        self._left_rows: LeftRows | None = None
        # A group may have no result, which is null in all columns.
        results = item_columns(function.name, item).fields
        nullable = [s.field(field.name, field.type) for field in results]
        self.schema = s.Schema((*keys.fields, *nullable))

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The keys and results of the groups, some groups at a time."""
        pieces = (import_batch(batch).columns for batch in batches)
        with told_plainly():
            for number, runs in enumerate(runs_of_groups(pieces, len(self._keys))):
                if number == 0:
                    with compiling.one_process_compiles():
                        self._rows(runs.first(compiling.FEW))
                    self._left_rows = LeftRows(self.function)
                yield self._rows(runs)

    def _rows(self, runs: Runs) -> pa.RecordBatch:
        keys, values = runs.columns[: len(self._keys)], runs.columns[len(self._keys) :]
        rows, results = self._results(values, runs.offsets)
        columns = [take_positions(key, rows) for key in keys] + columns_of(results)
        return conformed_columns(self.function.name, columns, self.schema)

    @abstractmethod
    def _results(self, values: Sequence[Array], offsets: Offsets) -> tuple[Offsets, Array]:
        """For each result a row of its group, and the results."""
