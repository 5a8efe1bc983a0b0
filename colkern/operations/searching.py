"""`index` and `search_sorted`: where values are in a column, or belong in a sorted one."""

from __future__ import annotations

from typing import Literal

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.integers import slice_bounds
from colkern.operations.arguments import operation
from colkern.operations.compaction import Kept
from colkern.operations.comparison import equal
from colkern.operations.devices import one_device
from colkern.operations.encodings import decoded
from colkern.operations.null_filling import fill_null
from colkern.operations.position_checks import require_valid
from colkern.operations.selection.concatenation import concat
from colkern.operations.sorting import SortKey, dense_ranks, sort_words
from colkern.operations.validity import with_nulls_of
from colkern.targets import Items, Target, on_its_device, target_of


@operation
def index(array: Array, value: object, start: int = 0, end: int | None = None) -> int:
    """The position of the first slot that equals a value; -1 if none does.

    Args:
        array: Values that `equal` takes.
        value: A Python value. A null, like a NaN, equals nothing.
        start: The slot at which the search begins.
        end: The slot before which it ends; None for the length.

    Raises:
        IndexError: If `start` or `end` is out of range.
        TypeError, UnsupportedError: As `equal`.
    """
    require_valid(array)
    begin, count = slice_bounds(start, None if end is None else end - start, array.length, "values")
    if value is None or not count:
        return -1
    flags = decoded(fill_null(equal(array.slice(begin, count), value), False))
    bits = flags.buffers[1]
    assert bits is not None
    target = target_of(flags.device)
    kept = Kept.of(target, bits.array, flags.offset, count)
    return begin + target.item(kept.positions(), 0) if kept.count else -1


@operation
def search_sorted(array: Array, needles: Array, side: Literal["left", "right"] = "left") -> Array:
    """Where values belong in a sorted array: uint64; null for a null.

    Args:
        array: Values in ascending order, as `sort_indices` has it; nulls at one of its ends.
        needles: Values of the same type, on the same device.
        side: Whether equal values come behind ("left") or before ("right") the place.

    Raises:
        TypeError: If the types differ.
        ValueError: If the array is not in order, has nulls between values, or `side` is another word.
        UnsupportedError, LimitExceededError: As `sort_indices`.
    """
    if side not in ("left", "right"):
        raise ValueError(f"side: expected 'left' or 'right', got {side!r}")
    require_valid(array)
    require_valid(needles)
    one_device((array, needles), "array", "needles")
    array, needles = decoded(array), decoded(needles)
    nulls = array.null_count
    begin = nulls if nulls < array.length and array.slice(0, 1).null_count else 0
    values = array.slice(begin, array.length - nulls)
    if values.null_count:
        raise ValueError("array: expected nulls at one end only")
    target = target_of(needles.device)
    ranks = dense_ranks(target, sort_words(target, [SortKey(concat([needles, values]))]))[1]
    places = target.buffer(_places(target, ranks, needles.length, begin, side))
    return with_nulls_of(needles, s.uint64(), (places,))


@on_its_device
def _places(
    target: Target, ranks: Items, count: int, begin: int, side: Literal["left", "right"]
) -> Items:
    """The places of `count` values among those behind them, all given by their ranks."""
    values = ranks[count:]
    if len(values) > 1 and bool((values[1:] < values[:-1]).any()):
        raise ValueError("array: expected ascending order")
    return np.searchsorted(values, ranks[:count], side=side).astype(np.uint64) + np.uint64(begin)
