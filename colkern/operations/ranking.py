"""`rank`, `select_k`, `top_k`, and `range_partition_indices`, which sorts rows into ranges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

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
    Order,
    Placement,
    SortKey,
    SortKeys,
    checked_keys,
    dense_ranks,
    few_keys,
    ordered_positions,
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
        ValueError, KeyError, UnsupportedError, LimitExceededError: As `sort_indices`.
    """
    if tiebreaker not in get_args(Tiebreaker):
        raise ValueError(f"tiebreaker: expected one of {get_args(Tiebreaker)}, got {tiebreaker!r}")
    keys = checked_keys(data, sort_keys, order, null_placement)
    target = target_of(one_device([key.values for key in keys]))
    places = _ranks(target, keys, tiebreaker)
    return Array(s.uint64(), data.length, [None, target.buffer(places)], null_count=0)


_OF_EQUALS: dict[str, Callable[[Any], Any]] = {
    "min": lambda ordered: np.searchsorted(ordered, ordered, side="left") + 1,
    "max": lambda ordered: np.searchsorted(ordered, ordered, side="right"),
    "dense": lambda ordered: ordered + 1,
}
"""Tiebreaker that gives equal rows the same rank → the ranks, from dense ranks in sorted order."""


@on_its_device
def _ranks(target: Target, keys: Sequence[SortKey], tiebreaker: Tiebreaker) -> Items:
    """The rank of each row: uint64[n]."""
    if tiebreaker != "first":
        positions, dense = dense_ranks(target, sort_words(target, keys))
        ranks = target.output(len(positions), np.uint64)
        ranks[positions] = _OF_EQUALS[tiebreaker](dense[positions]).astype(np.uint64, copy=False)
        return ranks
    few = few_keys(keys[0].values, keys[0].descending) if len(keys) == 1 else None
    if few is not None:
        from colkern.cpu.radix import counted_positions

        return counted_positions(target, few, sorting.rank_few_keys)
    positions = ordered_positions(target, keys)
    ranks = target.output(len(positions), np.uint64)
    target.map(sorting.rank_positions, len(positions), positions, ranks)
    return ranks


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
        ValueError, KeyError, UnsupportedError, LimitExceededError: As `sort_indices`.
    """
    if k < 0:
        raise ValueError(f"k: must not be negative, got {k}")
    keys = checked_keys(data, sort_keys, order, "at_end")
    target = target_of(one_device([key.values for key in keys]))
    positions = _first_rows(target, keys, k)
    return Array.of_valid(s.uint64(), len(positions), (None, target.buffer(positions)), 0)


@on_its_device
def _first_rows(target: Target, keys: Sequence[SortKey], k: int) -> Items:
    """The positions (uint64) of the first `k` rows in order, or of all if they are fewer."""
    first = keys[0].values
    is_short = 0 < k < first.length // 8 and target.device == HOST
    if not is_short or number_words(first) is None:
        return ordered_positions(target, keys)[:k]
    # A selection by the first key takes a fraction of the time of a sort; CuPy's would be a sort.
    words = sort_words(target, keys[:1])[0]
    least = np.flatnonzero(words <= np.partition(words, k - 1)[k - 1])
    chosen = Array.of_valid(s.int64(), len(least), (None, target.buffer(least)), 0)
    own = [key._replace(values=take(key.values, chosen)) for key in keys]
    return least.view(np.uint64)[ordered_positions(target, own)[:k]]


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
        UnsupportedError, LimitExceededError: As `sort_indices`.
    """
    for each in (array, bounds):
        require_valid(each)
    if bounds.null_count:
        raise ValueError("bounds: must not be null")
    target = target_of(array.device)
    words = sort_words(target, [SortKey(concat([array, bounds]))])
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
