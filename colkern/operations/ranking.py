"""`rank`, `select_k`, `top_k`, and `range_partition_indices`, which sorts rows into ranges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.kernels import sorting
from colkern.operations.arguments import operation
from colkern.operations.devices import one_device
from colkern.operations.position_checks import require_valid
from colkern.operations.selection.concatenation import concat
from colkern.operations.sorting import (
    Order,
    Placement,
    SortKeys,
    dense_ranks,
    sort_columns,
    sort_indices,
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
    words = sort_words(target, columns, null_placement == "at_start")
    positions, ranks = dense_ranks(target, words)
    places = _placed(target, positions, ranks, _PLACES[tiebreaker])
    return Array(s.uint64(), data.length, [None, target.buffer(places)], null_count=0)


_PLACES: dict[str, Callable[[Any, Any], Any]] = {
    "first": lambda ordered, places: places + 1,
    "min": lambda ordered, places: np.searchsorted(ordered, ordered, side="left") + 1,
    "max": lambda ordered, places: np.searchsorted(ordered, ordered, side="right"),
    "dense": lambda ordered, places: ordered + 1,
}
"""Tiebreaker → the ranks, from dense ranks in sorted order and the numbers from 0 on."""


@on_its_device
def _placed(
    target: Target, positions: Items, ranks: Items, place: Callable[[Items, Items], Items]
) -> Items:
    out = target.output(len(positions), np.uint64)
    out[positions] = place(ranks[positions], target.positions(len(positions))).astype(np.uint64)
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
    positions = sort_indices(data, sort_keys, order=order)
    return positions.slice(0, min(k, positions.length))


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
