"""`sort_indices`: the positions of an array's values in their order.

Columnar format 1.5: "Fixed-Size Primitive Layout".
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.kernels import sorting
from colkern.layouts import LayoutKind
from colkern.memory import HOST
from colkern.operations.arguments import operation
from colkern.operations.number_words import NumberWords, number_words, word_range
from colkern.operations.operands import validity_of
from colkern.operations.position_checks import require_valid
from colkern.operations.remedies import instead_of_order
from colkern.targets import Items, Target, target_of

Order = Literal["ascending", "descending"]
Placement = Literal["at_end", "at_start"]

_SAMPLE = 1024

_DECODE = {
    LayoutKind.DICTIONARY: "sort what colkern.dictionary_decode(array) gives",
    LayoutKind.RUN_END_ENCODED: "sort what colkern.run_end_decode(array) gives",
}


@operation
def sort_indices(
    array: Array, *, order: Order = "ascending", null_placement: Placement = "at_end"
) -> Array:
    """The positions (uint64) that put `array` in order, for `take`; equal values keep their order.

    NaNs stand between the numbers and the nulls in either order, and both zeros are equal, as
    pyarrow has it. Booleans, numbers, decimals, dates, times, timestamps and durations are sorted;
    the values stay where they are.

    Args:
        array: The values.
        order: "ascending" or "descending".
        null_placement: Whether nulls (and NaNs) come first or last: "at_start" or "at_end".

    Raises:
        ValueError: If `order` or `null_placement` is another word.
        UnsupportedError: If the type has another order than that of numbers, or none.
    """
    if order not in ("ascending", "descending"):
        raise ValueError(f"order: expected 'ascending' or 'descending', got {order!r}")
    if null_placement not in ("at_end", "at_start"):
        raise ValueError(f"null_placement: expected 'at_end' or 'at_start', got {null_placement!r}")
    require_valid(array)
    target = target_of(array.device)
    first = null_placement == "at_start"
    if isinstance(array.type.storage, s.Null):
        positions = target.positions(array.length).view(np.uint64)
    else:
        positions = _sorted(array, order == "descending", first)
    return Array.of_valid(s.uint64(), array.length, (None, target.buffer(positions)), 0)


def _sorted(array: Array, descending: bool, nulls_first: bool) -> Items:
    numbers = number_words(array)
    if numbers is None:
        what = _DECODE.get(array.layout.kind) or instead_of_order(array.type)
        raise UnsupportedError(f"sort_indices: no order of the values of {array.type}; {what}")
    target = target_of(array.device)
    nulls = array.null_count
    if nulls == 0 and array.device == HOST and numbers.width == 1 and not numbers.infinity:
        counted = _counted(target, numbers, descending)
        if counted is not None:
            return counted
    valid = array.length - nulls
    split = split_nulls(array) if nulls else None
    positions = None if split is None else split[:valid]
    for keys in _keys(array, numbers, descending, nulls_first):
        positions = target.sort_positions(keys, positions)
    assert positions is not None
    if split is None:
        return positions
    out = target.output(array.length, np.uint64)
    place = nulls if nulls_first else 0
    out[place : place + valid] = positions
    out[0 if nulls_first else valid :][:nulls] = split[valid:]
    return out


def split_nulls(array: Array) -> Items:
    """The positions of the valid slots, then those of nulls."""
    target = target_of(array.device)
    blocks = -(-array.length // sorting.NULL_BLOCK)
    counts = target.output(blocks, np.int64)
    slots = (*validity_of(array, target), array.length)
    target.map(sorting.count_valid, blocks, *slots, counts, work=sorting.NULL_BLOCK)
    starts = target.frozen(target.scan(counts, np.int64))
    out = target.output(array.length, np.uint64)
    valid = array.length - array.null_count
    target.map(sorting.split_nulls, blocks, *slots, starts, valid, out, work=sorting.NULL_BLOCK)
    return out


def _counted(target: Target, numbers: NumberWords, descending: bool) -> Items | None:
    """The positions in the order of integers, if these are few; else None."""
    from colkern.cpu.radix import FEW_BITS, counted_positions

    every_bit = (1 << numbers.bits) - 1
    low, high = 0, every_bit
    if numbers.bits > FEW_BITS:
        # Most often the first ones show that it is in vain to look at all.
        for words in (numbers.words[:_SAMPLE], numbers.words):
            low, values = word_range(words, numbers.minus)
            high = low + max(values - 1, 0)
            if (high - low).bit_length() > FEW_BITS:
                return None
    flip, least = (
        (numbers.minus ^ every_bit, every_bit - high) if descending else (numbers.minus, low)
    )
    bits = (high - low).bit_length()
    positions: Items = counted_positions(target, numbers.words, flip, least, bits)
    return positions


def _keys(array: Array, numbers: NumberWords, descending: bool, nulls_first: bool) -> list[Items]:
    """The keys to sort by, one after the other: the last is the one that counts most."""
    target = target_of(array.device)
    every_bit = (1 << numbers.bits) - 1
    flip = every_bit if descending else 0
    rounds = []
    for part in range(numbers.width):
        keys = target.output(array.length, np.uint64)
        minus = numbers.minus if part == numbers.width - 1 else 0
        if numbers.infinity:
            nan = 0 if nulls_first else every_bit
            floats = (numbers.words, minus, numbers.infinity, nan, flip)
            target.map(sorting.order_floats, array.length, *floats, keys)
        else:
            integers = (numbers.words, numbers.width, part, minus, flip)
            target.map(sorting.order_integers, array.length, *integers, keys)
        rounds.append(target.frozen(keys))
    return rounds
