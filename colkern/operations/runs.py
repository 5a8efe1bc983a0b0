"""Run-end encoded arrays: which run holds a position, and the values without the encoding.

Columnar format 1.5: "Run-End Encoded Layout".
"""

from __future__ import annotations

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import bit_words, bitmap_of
from colkern.errors import LimitExceededError
from colkern.kernels import runs, selection
from colkern.layouts import Extent, LayoutKind, Role
from colkern.memory import EMPTY, Buffer
from colkern.operations.arguments import operation
from colkern.operations.operands import validity_of
from colkern.operations.patterns import measure
from colkern.operations.run_encoding import require_room
from colkern.operations.run_search import own_runs, runs_at
from colkern.operations.selection import take_positions
from colkern.operations.validation import require_valid
from colkern.targets import NOWHERE, Items, on_its_device, target_of

_WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


@operation
def find_runs(array: Array, positions: Array) -> Array:
    """The run (int64) that holds each logical position.

    Few positions are searched for one by one, many are looked up in an index made for them.

    Args:
        array: A run-end encoded array.
        positions: int32 or int64, without nulls, on the same device; 0 is the array's first slot.

    Raises:
        TypeError: If either is of another type.
        IndexError: If a position is negative or not less than `len(array)`.
        InvalidArrowError: If the run ends are not valid.
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
    out = runs_at(array, target.frozen(items))
    return Array(s.int64(), positions.length, [None, target.buffer(out)], null_count=0)


@operation
def run_end_decode(array: Array) -> Array:
    """The values of a run-end encoded array, one a slot, copied.

    Raises:
        TypeError: If the array is not run-end encoded.
        InvalidArrowError: If the run ends are not valid.
    """
    require_runs(array)
    values = array.children[1]
    if array.length and _is_plain(values):
        return _decode_plain(array, values)
    if array.length and can_repeat_bytes(values, array.length):
        return _decode_binary(array, values)
    return take_positions(values, _run_of_each_slot(array))


@on_its_device
def run_of_each(array: Array, positions: Items) -> Array:
    """The values at positions (int32/int64[n], read-only, in bounds), with a run of its own for each.

    Raises:
        LimitExceededError: If there are more positions than a run end can say.
    """
    target = target_of(array.device)
    ends, values = array.children
    kind = ends.items(Role.DATA).dtype
    require_room(len(positions), kind)
    numbers = (target.positions(len(positions)) + 1).astype(kind)
    run_ends = Array(ends.type, len(positions), [None, target.buffer(numbers)], null_count=0)
    found = target.frozen(runs_at(array, positions))
    return Array(array.type, len(positions), [], [run_ends, take_positions(values, found)])


def require_runs(array: Array) -> None:
    """Make sure of a valid run-end encoded array; raises `TypeError` or `InvalidArrowError`."""
    if not isinstance(array.type.storage, s.RunEndEncoded):
        raise TypeError(f"array: expected a run-end encoded array, got {array.type}")
    require_valid(array)


def _is_plain(values: Array) -> bool:
    """Whether a value is one machine word, or a bit."""
    if values.layout.kind not in (LayoutKind.FIXED_SIZE, LayoutKind.DICTIONARY):
        return False
    data = values.layout.buffers[1]
    return data.extent is Extent.BITS or data.dtype.itemsize in _WORDS


def _decode_plain(array: Array, values: Array) -> Array:
    target = target_of(array.device)
    ends = array.children[0].items(Role.DATA)
    if values.layout.buffers[1].extent is Extent.BITS:
        data, _ = _decode_bits(array, values.buffer(Role.DATA) or EMPTY, values.offset)
    else:
        items = values.items(Role.DATA)
        words = items.view(_WORDS[items.dtype.itemsize])
        out = target.output(array.length, words.dtype)
        target.map(runs.decode_runs, array.length, ends, words, array.offset, out)
        data = target.buffer(out)
    validity, nulls = _decode_validity(array, values)
    buffers = (validity, data)
    if values.dictionary is None:
        return Array.of_valid(values.type, array.length, buffers, nulls)
    made = Array(values.type, array.length, buffers, dictionary=values.dictionary, null_count=nulls)
    made._checked = True
    return made


def _decode_binary(array: Array, values: Array) -> Array:
    ends, length = array.children[0].items(Role.DATA), array.length
    first, count = own_runs(array)
    bytes_ = repeat_bytes(values, (ends, first, array.offset), count, length)
    validity, nulls = _decode_validity(array, values)
    made = Array(values.type, length, [validity, *bytes_], null_count=nulls)
    made._checked = True
    return made


def can_repeat_bytes(values: Array, length: int) -> bool:
    """Whether `repeat_bytes` is for those values: else a run could have more bytes than 64 bits count."""
    if values.layout.kind is not LayoutKind.BINARY:
        return False
    items, item = values.items(Role.OFFSETS), target_of(values.device).item
    size: int = item(items, values.length) - item(items, 0)
    return size * length < 1 << 62


def repeat_bytes(
    values: Array, slots: tuple[Items, int, int], count: int, length: int
) -> list[Buffer]:
    """Offsets and bytes of binary values, each repeated as often as its run is long.

    Args:
        values: A checked array, of which a value is repeated for each run.
        slots: Where the runs end (none of them before the one before it), the run of the first slot,
            and the position of that slot.
        count: The number of runs from that one on.
        length: The number of slots.

    Raises:
        LimitExceededError: If there are too many bytes for the offsets.
    """
    target = target_of(values.device)
    ends, _, offset = slots
    items = values.items(Role.OFFSETS)
    kind = items.dtype
    starts = measure(target, runs.measure_runs, count, np.int64, *slots, length, items)
    total = target.item(starts, count)
    if total > np.iinfo(kind).max:
        raise LimitExceededError(
            f"{total} bytes do not fit offsets of {kind}; use the large form of the type"
        )
    offsets = target.output(length + 1, kind)
    target.map(runs.repeat_offsets, length, *slots, items, target.frozen(starts), offsets)
    offsets[length:] = total
    data = target.output(total, np.uint8)
    source = values.buffer(Role.BYTES)
    if total and source is not None:
        places = target.frozen(offsets)
        runs_and_bytes = (ends, offset, items, source.address, places)
        target.map(runs.repeat_bytes, length, *runs_and_bytes, data, balance=places)
    return [target.buffer(offsets), target.buffer(data)]


def _decode_validity(array: Array, values: Array) -> tuple[Buffer | None, int]:
    if values.null_count == 0:
        return None, 0
    bitmap = values.buffer(Role.VALIDITY)
    assert bitmap is not None
    made, valid = _decode_bits(array, bitmap, values.offset)
    return made, array.length - valid


def _decode_bits(array: Array, bits: Buffer, offset: int) -> tuple[Buffer, int]:
    """A bit a run, as a bit a slot; and how many of these are set."""
    target = target_of(array.device)
    ends, length = array.children[0].items(Role.DATA), array.length
    words = bit_words(target, length)
    args = (ends, bits.array, offset, array.offset, length, words)
    count = target.reduce(runs.decode_run_bits, len(words), *args) if length else 0
    return bitmap_of(target, words, length), count


def _run_of_each_slot(array: Array) -> Items:
    target = target_of(array.device)
    ends = array.children[0].items(Role.DATA)
    out = target.output(array.length, np.int64)
    target.map(runs.run_of_each, array.length, ends, array.offset, out)
    return target.frozen(out)
