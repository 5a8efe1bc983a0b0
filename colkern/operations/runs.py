"""Run-end encoded arrays: the run that holds a position, and decoding.

Columnar format 1.5: "Run-End Encoded Layout".
"""

from __future__ import annotations

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import bit_words, bitmap_of
from colkern.kernels import runs, selection
from colkern.layouts import Extent, LayoutKind, Role
from colkern.memory import EMPTY, Buffer
from colkern.operations.arguments import Kind, operation
from colkern.operations.operands import WORDS, validity_of
from colkern.operations.position_checks import require_valid
from colkern.operations.run_search import own_runs, runs_at
from colkern.operations.selection import take_picked
from colkern.operations.selection.run_bytes import can_repeat_bytes, repeat_bytes
from colkern.targets import NOWHERE, Items, target_of


@operation
def find_runs(array: Array, positions: Array) -> Array:
    """The run (int64) that holds each logical position.

    A few positions are searched for one by one; many are looked up in an index that is built for them.

    Args:
        array: A run-end encoded array.
        positions: int32 or int64, without nulls, on the same device; 0 is the array's first slot.

    Raises:
        TypeError: If either is of another type.
        IndexError: If a position is negative or not less than `len(array)`.
    """
    require_runs(array)
    if positions.type not in (s.int32(), s.int64()):
        raise TypeError(f"positions: expected int32 or int64, got {positions.type}")
    if positions.null_count:
        raise ValueError("positions: must not be null")
    target = target_of(array.device)
    items = positions.items(Role.DATA)
    check = selection.first_index_out_of_bounds
    validity = validity_of(positions, target)
    slot = target.reduce(check, positions.length, items, *validity, array.length)
    if slot != NOWHERE:
        raise IndexError(f"positions: slot {slot} has {target.item(items, slot)} of {array.length}")
    out = runs_at(array, items)
    return Array(s.int64(), positions.length, [None, target.buffer(out)], null_count=0)


@operation(kind=Kind.ELEMENT_WISE)
def run_end_decode(array: Array) -> Array:
    """The values of a run-end encoded array, one for each slot; copied.

    Raises:
        TypeError: If the array is not run-end encoded.
    """
    require_runs(array)
    values = array.children[1]
    if array.length and _is_plain(values):
        return _decode_plain(array, values)
    if array.length and can_repeat_bytes(values, array.length):
        return _decode_binary(array, values)
    numbers = target_of(array.device).positions(values.length).view(np.uint64)
    return take_picked(values, _decode_words(array, numbers))


def require_runs(array: Array) -> None:
    """Raise `TypeError` or `InvalidArrowError` unless an array is a valid run-end encoded one."""
    if not isinstance(array.type.storage, s.RunEndEncoded):
        raise TypeError(f"array: expected a run-end encoded array, got {array.type}")
    require_valid(array)


def _is_plain(values: Array) -> bool:
    """Whether each value is one machine word, or a bit."""
    if values.layout.kind not in (LayoutKind.FIXED_SIZE, LayoutKind.DICTIONARY):
        return False
    data = values.layout.buffers[1]
    return data.extent is Extent.BITS or data.dtype.itemsize in WORDS


def _decode_plain(array: Array, values: Array) -> Array:
    if values.layout.buffers[1].extent is Extent.BITS:
        data, _ = _decode_bits(array, values.buffer(Role.DATA) or EMPTY, values.offset)
    else:
        items = values.items(Role.DATA)
        words = items.view(WORDS[items.dtype.itemsize])
        data = target_of(array.device).buffer(_decode_words(array, words))
    validity, nulls = _decode_validity(array, values)
    buffers = (validity, data)
    return Array.of_valid(values.type, array.length, buffers, nulls, dictionary=values.dictionary)


def _decode_words(array: Array, words: Items) -> Items:
    """The word of each slot's run."""
    target = target_of(array.device)
    ends = array.children[0].items(Role.DATA)
    out = target.output(array.length, words.dtype)
    target.map(runs.decode_runs, array.length, ends, words, array.offset, out)
    return out


def _decode_binary(array: Array, values: Array) -> Array:
    ends, length = array.children[0].items(Role.DATA), array.length
    first, count = own_runs(array)
    bytes_ = repeat_bytes(values, (ends, first, array.offset), count, length)
    validity, nulls = _decode_validity(array, values)
    return Array.of_valid(values.type, length, [validity, *bytes_], nulls)


def _decode_validity(array: Array, values: Array) -> tuple[Buffer | None, int]:
    if values.null_count == 0:
        return None, 0
    bitmap = values.buffer(Role.VALIDITY)
    assert bitmap is not None
    bitmap_of_slots, valid = _decode_bits(array, bitmap, values.offset)
    return bitmap_of_slots, array.length - valid


def _decode_bits(array: Array, bits: Buffer, offset: int) -> tuple[Buffer, int]:
    """A bit for each slot, from a bit for each run; and the number of bits that are set."""
    target = target_of(array.device)
    ends, length = array.children[0].items(Role.DATA), array.length
    words = bit_words(target, length)
    args = (ends, bits.array, offset, array.offset, length, words)
    count = target.reduce(runs.decode_run_bits, len(words), *args) if length else 0
    return bitmap_of(target, words, length), count
