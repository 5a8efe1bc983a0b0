"""`rank`, `select_k`, `top_k`, and `range_partition_indices`, which sorts rows into ranges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.kernels import sorting
from colkern.memory import HOST
from colkern.operations.arguments import operation
from colkern.operations.devices import one_device
from colkern.operations.number_words import number_words
from colkern.operations.position_checks import require_valid
from colkern.operations.selection.concatenation import concat
from colkern.operations.selection.taking import take
from colkern.operations.sorting import (
    Direction,
    Order,
    Placement,
    SortKeys,
    dense_ranks,
    ordered_positions,
    sort_columns,
    sort_words,
)
from colkern.targets import Items, Target, on_its_device, target_of

Tiebreaker = Literal["first", "min", "max", "dense"]


@operation
def rank(
    data: Array | RecordBatch,
    sort_keys: SortKeys | str | None = None,
    *,
    order: Order = "ascending",
    null_placement: Placement = "at_end",
    tiebreaker: Tiebreaker = "first",
) -> Array:
    """The rank (uint64, from 1) of each value in the order of `sort_indices`.

    Args:
        data, sort_keys, order, null_placement: As for `sort_indices`.
        tiebreaker: The ranks of equal values: "first" gives each its own, in their order; "min" or
            "max" gives all the least or the greatest of these; "dense" counts equal values once.

    Raises:
        ValueError: If there is no such tiebreaker.
        ValueError, KeyError, UnsupportedError, LimitExceededError, InvalidArrowError: As `sort_indices`.
    """
    if tiebreaker not in _PLACES:
        raise ValueError(f"tiebreaker: expected one of {tuple(_PLACES)}, got {tiebreaker!r}")
    columns = sort_columns(data, sort_keys, order, null_placement)
    target = target_of(one_device([column for column, _ in columns]))
    nulls_first = null_placement == "at_start"
    if tiebreaker == "first":
        positions = ordered_positions(target, columns, nulls_first)
        places = _placed(target, positions)
    else:
        positions, ranks = dense_ranks(target, sort_words(target, columns, nulls_first))
        places = _placed(target, positions, ranks, _PLACES[tiebreaker])
    return Array(s.uint64(), data.length, [None, target.buffer(places)], null_count=0)


_PLACES: dict[str, Callable[[Any], Any]] = {
    "first": lambda ordered: ordered,
    "min": lambda ordered: np.searchsorted(ordered, ordered, side="left") + 1,
    "max": lambda ordered: np.searchsorted(ordered, ordered, side="right"),
    "dense": lambda ordered: ordered + 1,
}
"""Tiebreaker → the ranks, from dense ranks in sorted order."""


@on_its_device
def _placed(
    target: Target,
    positions: Items,
    ranks: Items | None = None,
    place: Callable[[Any], Any] = _PLACES["first"],
) -> Items:
    """The rank of each row, from positions in order, and dense ranks if equal rows have the same."""
    out = target.output(len(positions), np.uint64)
    numbers = target.positions(len(positions)) + 1 if ranks is None else place(ranks[positions])
    out[positions] = numbers.astype(np.uint64, copy=False)
    return out


@operation
def select_k(
    data: Array | RecordBatch,
    k: int,
    sort_keys: SortKeys | str | None = None,
    *,
    order: Order = "ascending",
) -> Array:
    """The positions (uint64) of the first `k` values or rows in order, nulls last.

    Raises:
        ValueError: If `k` is negative.
        ValueError, KeyError, UnsupportedError, LimitExceededError, InvalidArrowError: As `sort_indices`.
    """
    if k < 0:
        raise ValueError(f"k: must not be negative, got {k}")
    columns = sort_columns(data, sort_keys, order, "at_end")
    target = target_of(one_device([column for column, _ in columns]))
    positions = _first_rows(target, columns, k)
    return Array.of_valid(s.uint64(), len(positions), (None, target.buffer(positions)), 0)


@on_its_device
def _first_rows(target: Target, columns: Sequence[tuple[Array, Direction]], k: int) -> Items:
    """The positions (uint64) of the first `k` rows in order, or of all if they are fewer."""
    first = columns[0][0]
    is_short = 0 < k < first.length // 8 and target.device == HOST
    if not is_short or number_words(first) is None:
        return ordered_positions(target, columns, False)[:k]
    # A selection by the first key takes a fraction of the time of a sort; CuPy's would be a sort.
    words = sort_words(target, columns[:1], False)[0]
    least = np.flatnonzero(words <= np.partition(words, k - 1)[k - 1])
    chosen = Array.of_valid(s.int64(), len(least), (None, target.buffer(least)), 0)
    own = [(take(column, chosen), direction) for column, direction in columns]
    return least.view(np.uint64)[ordered_positions(target, own, False)[:k]]


@operation
def top_k(data: Array | RecordBatch, k: int, sort_keys: SortKeys | str | None = None) -> Array:
    """The positions (uint64) of the `k` greatest values or rows, the greatest first; as `select_k`."""
    return select_k(data, k, sort_keys, order="descending")


@operation
def range_partition_indices(array: Array, bounds: Array) -> tuple[Array, Array]:
    """The positions (uint64) of values sorted by range, and the start of each range there (int64).

    Range `p` has the values from `bounds[p - 1]` to below `bounds[p]`, in their order: the positions
    `positions[offsets[p] : offsets[p + 1]]`. There is one range more than bounds; the last range also
    has NaN and nulls.

    Args:
        array: Values that have an order, as for `sort_indices`.
        bounds: Values of the same type, in ascending order, without nulls.

    Raises:
        TypeError: If the types differ.
        ValueError: If `bounds` are not in order, or null.
        UnsupportedError, LimitExceededError, InvalidArrowError: As `sort_indices`.
    """
    for each in (array, bounds):
        require_valid(each)
    if bounds.null_count:
        raise ValueError("bounds: must not be null")
    target = target_of(array.device)
    words = sort_words(target, [(concat([array, bounds]), False)], False)
    ranks = dense_ranks(target, words)[1]
    numbers = _ranges(target, ranks, array.length)
    positions = target.sort_positions(numbers)
    partitions = bounds.length + 1
    starts = target.output(partitions + 1, np.int64)
    target.map(sorting.group_starts, partitions + 1, numbers, positions, starts)
    return (
        Array(s.uint64(), array.length, [None, target.buffer(positions)], null_count=0),
        Array(s.int64(), partitions + 1, [None, target.buffer(starts)], null_count=0),
    )


@on_its_device
def _ranges(target: Target, ranks: Items, count: int) -> Items:
    """The number of bounds that are not greater than each of `count` values, all given by their ranks."""
    bounds = ranks[count:]
    if len(bounds) > 1 and bool((bounds[1:] < bounds[:-1]).any()):
        raise ValueError("bounds: expected ascending order")
    return np.searchsorted(bounds, ranks[:count], side="right").astype(np.uint64)
