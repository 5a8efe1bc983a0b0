"""Run-end encoded arrays: the run that holds a position, decoding, and encoding equal neighbours as a run.

Columnar format 1.5: "Run-End Encoded Layout".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import bit_words, bitmap_of
from colkern.dispatch import Dispatch, by_layout
from colkern.errors import UnsupportedError
from colkern.kernels import changes, runs, selection
from colkern.layouts import Extent, LayoutKind, Role, layout
from colkern.memory import EMPTY, Buffer
from colkern.operations.arguments import Kind, operation
from colkern.operations.operands import (
    WORDS,
    buffer_addresses,
    integers,
    kept_type,
    unsigned,
    validity_of,
)
from colkern.operations.position_checks import require_valid
from colkern.operations.run_search import own_runs, require_run_ends, run_bounds, runs_at
from colkern.operations.selection import own_words, take_picked
from colkern.operations.selection.runs import can_repeat_bytes, repeat_bytes
from colkern.targets import NOWHERE, Items, Target, on_its_device, target_of


@operation
def find_runs(array: Array, positions: Array) -> Array:
    """The run (int64) that holds each logical position.

    A few positions are searched for one by one; many are looked up in an index that is built for them.

    Args:
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
    return integers(target, runs_at(array, items))


@operation(kind=Kind.ELEMENT_WISE)
def run_end_decode(array: Array) -> Array:
    """The values of a run-end encoded array, one for each slot; copied.

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
    numbers = target_of(array.device).positions(values.length).view(np.uint64)
    return take_picked(values, _decode_words(array, numbers))


def run_end_encoded(length: int, ends: Array, values: Array, offset: int = 0) -> Array:
    """A run-end encoded array of `length` slots, starting at slot `offset`."""
    assert isinstance(ends.type, s.Int)
    type_ = kept_type(s.run_end_encoded, ends.type, values.type)
    return Array.of_valid(type_, length, (), 0, (ends, values), offset=offset)


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


_INT32 = s.int32()


@operation(kind=Kind.ELEMENT_WISE)
def run_end_encode(array: Array, *, run_end_type: s.DataType = _INT32) -> Array:
    """The array, run-end encoded with as few runs as possible. The value of each run is copied.

    Nulls are equal to each other. Floating-point numbers are equal if their bits are: a NaN to
    itself, 0.0 not to -0.0. A dictionary's indices are compared, not its values.

    Args:
        array: An array of any type but lists, unions and run-end encoded ones; also structs without any
            of these.
        run_end_type: int16, int32 or int64.

    Raises:
        TypeError: If `run_end_type` is another type.
        LimitExceededError: If the array is too long for the run ends.
        UnsupportedError: If the array is of a type that cannot be compared here.
    """
    if (
        not isinstance(run_end_type, s.Int)
        or not run_end_type.signed
        or run_end_type.bit_width == 8
    ):
        raise TypeError(f"run_end_type: expected int16, int32 or int64, got {run_end_type}")
    require_valid(array)
    kind = layout(run_end_type).buffers[1].dtype
    require_run_ends(array.length, kind)
    target = target_of(array.device)
    bounds = run_bounds(target, _changes(array), array.length, kind)
    values = take_picked(array, unsigned(bounds[:-1]))
    run_ends = Array.of_valid(run_end_type, values.length, (None, target.buffer(bounds[1:])), 0)
    return run_end_encoded(array.length, run_ends, values)


def _changes(array: Array) -> Items:
    """The slots that differ from the one before, as bits in words; the first slot counts as differing."""
    mark = _MARK.get(array.layout.kind)
    if mark is None:
        raise UnsupportedError(
            f"array: {array.type} cannot be run-end encoded; encode its children, "
            f"where these are no lists and no unions"
        )
    target = target_of(array.device)
    out = target.output(array.length + 63 >> 6, WORDS[8])
    mark(array, target, out)
    if not array._null_count or array.layout.kind is LayoutKind.NULL or not array.null_count:
        return out
    merged = target.output(len(out), np.uint64)
    validity = validity_of(array, target)
    kernel = changes.merge_validity_changes
    target.map(kernel, len(out), *validity, array.length, out, merged)
    return merged


_MARK: Dispatch[LayoutKind, Callable[[Array, Target, Items], None]] = by_layout(
    "run_end_encode",
    LayoutKind.LIST,
    LayoutKind.LIST_VIEW,
    LayoutKind.FIXED_SIZE_LIST,
    LayoutKind.SPARSE_UNION,
    LayoutKind.DENSE_UNION,
    LayoutKind.RUN_END_ENCODED,
)
"""Writes the bits of changes, as words."""


@_MARK.of(LayoutKind.NULL)
def _mark_null(array: Array, target: Target, out: Items) -> None:
    out[:] = 0
    out[:1] = 1


@_MARK.of(LayoutKind.FIXED_SIZE, LayoutKind.DICTIONARY)
def _mark_fixed(array: Array, target: Target, out: Items) -> None:
    if array.layout.buffers[1].extent is Extent.BITS:
        data = array.buffer(Role.DATA)
        bits = target.no_bits if data is None else data.array
        target.map(changes.mark_bit_changes, len(out), bits, array.offset, array.length, out)
        return
    words, width = own_words(array, Role.DATA)
    target.map(changes.mark_changes, len(out), words, width, array.length, out)


@_MARK.of(LayoutKind.BINARY)
def _mark_binary(array: Array, target: Target, out: Items) -> None:
    items = array.items(Role.OFFSETS)
    data = array.buffer(Role.BYTES)
    bytes_ = target.no_bits if data is None else data.array
    target.map(changes.mark_binary_changes, len(out), items, bytes_, array.length, out)


@_MARK.of(LayoutKind.BINARY_VIEW)
def _mark_views(array: Array, target: Target, out: Items) -> None:
    views = array.items(Role.VIEWS).view(np.uint8)
    addresses = target.table(buffer_addresses(array), np.uint64)
    validity = validity_of(array, target)
    kernel = changes.mark_view_changes
    target.map(kernel, len(out), views, addresses, *validity, array.length, out)


@_MARK.of(LayoutKind.STRUCT)
@on_its_device
def _mark_struct(array: Array, target: Target, out: Items) -> None:
    _mark_null(array, target, out)
    for child in array.children:
        out |= _changes(child.slice(array.offset, array.length))
