"""Groups of rows that lie next to each other, out of batches that are cut anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colkern.arrays import Array
from colkern.operations import concat
from colkern.operations.grouping import group_rows

Offsets = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Runs:
    """Some whole groups.

    Args:
        columns: The columns, whose rows are those of the groups, one group after the other.
        offsets: The first row of each group, and the number of rows (int64[groups + 1]).
    """

    columns: Sequence[Array]
    offsets: Offsets

    def first(self, count: int) -> Runs:
        """The first groups, so many at most; not copied."""
        offsets = self.offsets[: count + 1]
        return Runs([column.slice(0, int(offsets[-1])) for column in self.columns], offsets)


def runs_of_groups(batches: Iterable[Sequence[Array]], keys: int) -> Iterator[Runs]:
    """The groups of rows with the same keys, each whole, as soon as the last row of one is known.

    Values are the same as `group_rows` has it. A batch is copied where a group that began in an
    earlier one goes on in it; only one group at most is kept from one batch to the next.

    Args:
        batches: The columns of each batch, of the same types; rows with the same keys follow each other.
        keys: How many of the first columns are keys.
    """
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
    """The rows of groups that are not whole yet, in the pieces in which they came."""

    def __init__(self) -> None:
        self._pieces: list[Sequence[Array]] = []
        self.rows = 0

    def extend(self, columns: Sequence[Array], start: int, stop: int) -> None:
        if start < stop:
            self._pieces.append([column.slice(start, stop - start) for column in columns])
            self.rows += stop - start

    def last(self, keys: int) -> list[Array]:
        """The keys of the last row; of none if there is no row yet."""
        if not self._pieces:
            return []
        return [column.slice(column.length - 1) for column in self._pieces[-1][:keys]]

    def columns(self) -> list[Array]:
        return [concat(pieces) for pieces in zip(*self._pieces, strict=True)]


def _starts(before: Sequence[Array], keys: Sequence[Array]) -> Offsets:
    """The rows that begin a group, after a row with the keys `before`, or after none."""
    if not before:
        numbers = group_rows(keys).numbers
        return np.concatenate(([0], _changes(numbers) + 1))
    following = [concat(pair) for pair in zip(before, keys, strict=True)]
    return _changes(group_rows(following).numbers)


def _changes(numbers: NDArray[np.uint32]) -> Offsets:
    """The places whose number differs from the next one's."""
    return np.flatnonzero(numbers[1:] != numbers[:-1])
