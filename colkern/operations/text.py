"""UTF-8 validation of string arrays, for all bytes at once if possible.

First, all bytes of an array are checked as one text, which is many times faster than value by value. If
it is UTF-8, only the boundaries remain to be checked: no value may begin within a character. Otherwise
each value is checked, since bytes under a null may be anything.

Columnar format 1.5: `Utf8`, `LargeUtf8`, `Utf8View`.
"""

from __future__ import annotations

import numpy as np

from colkern.arrays import Array
from colkern.errors import InvalidArrowError
from colkern.kernels import text
from colkern.layouts import VIEW_INLINE_BYTES, Role
from colkern.memory import HOST
from colkern.operations.operands import buffer_addresses, buffer_sizes, offset_ends, validity_of
from colkern.operations.position_checks import are_plain
from colkern.targets import NOWHERE, Items, Later, Target, target_of

_BYTE = 1 / 32
"""The work for one byte."""

_WASTE = 4
"""Data buffers are read as a whole up to this many bytes for each byte that views show."""


_AHEAD = 256
"""Data buffers are read before it is known what views show, up to this many bytes for each view."""


def first_invalid_utf8(array: Array) -> int | None:
    """The first valid slot of a string array that is not UTF-8, or None; runs on the bytes' device.

    Args:
        array: A utf8, large_utf8 or utf8_view array whose positions, and bytes of views, have been
            checked.
    """
    if array.length == 0:
        return None
    find = _first_invalid_view if array.layout.variadic else _first_invalid_slot
    slot = find(array, target_of(array.device))
    return None if slot == NOWHERE else slot


def ask_encoding(array: Array) -> None:
    """Start to check the bytes of a string array on a device, along with an earlier check."""
    if array.device == HOST or not array.length:
        return
    buffers = array.data_buffers if array.layout.variadic else [array.buffer(Role.BYTES)]
    if array.layout.variadic and sum(buffer_sizes(array)) > _AHEAD * array.length:
        return
    target = target_of(array.device)
    array._encoding = [_encoding(b.array, target) for b in buffers if b is not None]


def _asked_encodings(array: Array) -> list[Later] | None:
    """The checks that `ask_encoding` has started, one for each buffer; None if there are none."""
    asked = getattr(array, "_encoding", None)
    if asked is not None:
        # Another thread may validate the same array.
        array._encoding = None
    return asked


def require_utf8(array: Array, place: str = "") -> None:
    """Check that every valid slot of a string array is UTF-8; `array` as for `first_invalid_utf8`.

    Raises:
        InvalidArrowError: If one is not.
    """
    if getattr(array, "_is_utf8", False):
        return
    slot = first_invalid_utf8(array)
    array._is_utf8 = slot is None
    if slot is not None:
        why = describe_invalid_utf8(array, slot)
        raise InvalidArrowError(f"slot {slot}: not UTF-8: {why}", place=place)


def describe_invalid_utf8(array: Array, slot: int) -> str:
    """A description of the bytes of a slot that are not UTF-8."""
    target = target_of(array.device)
    value = _value(array, slot, target)
    place = target.reduce(text.first_misplaced_byte, len(value) + 3, value)
    if place >= len(value):
        return f"the last of its {len(value)} bytes is within a character"
    return f"byte {target.item(value, place):#04x} at {place}"


def _first_invalid_slot(array: Array, target: Target) -> int:
    offsets = array.items(Role.OFFSETS)
    buffer = array.buffer(Role.BYTES)
    ((first, last),) = offset_ends(array)
    if buffer is None or first == last:
        return NOWHERE
    asked = _asked_encodings(array)
    if asked is None or last - first != buffer.size:
        asked = [_encoding(buffer.array[first:last], target)]
    encoding = asked[0]()
    if encoding == text.ASCII:
        return NOWHERE
    if encoding == text.UTF8:
        kernel = text.first_begin_within_a_character
        begins = (offsets, buffer.array, last)
        if target.reduce(kernel, array.length, *begins) == NOWHERE:
            return NOWHERE
    kernel = text.first_slot_not_utf8
    validity = validity_of(array, target)
    return target.reduce(kernel, array.length, offsets, buffer.address, *validity)


def _first_invalid_view(array: Array, target: Target) -> int:
    words = array.items(Role.VIEWS).view(np.int32)
    validity = validity_of(array, target)
    sizes = buffer_sizes(array)
    known = [text.NEITHER] * len(sizes)
    asked = _asked_encodings(array)
    if asked is None:
        shown = target.reduce(text.count_bytes_in_buffers, array.length, words, *validity)
        if sum(sizes) <= _WASTE * shown:
            asked = [_encoding(b.array, target) for b in array.data_buffers if b is not None]
    if asked is not None:
        encodings = iter(asked)
        known = [text.NEITHER if b is None else next(encodings)() for b in array.data_buffers]
        if are_plain(array) and text.NEITHER not in known and text.UTF8 not in known:
            return NOWHERE
    tables = (
        target.table(buffer_addresses(array), np.uint64),
        target.table(sizes, np.int64),
        target.table(known, np.uint8),
    )
    base = target.address(words)
    kernel = text.first_view_not_utf8
    return target.reduce(kernel, array.length, words, base, *validity, *tables)


def _encoding(data: Items, target: Target) -> Later:
    """The encoding of all of `data` (uint8[]): `ASCII`, `UTF8` or `NEITHER`."""
    return target.later(text.encoding_of, max(len(data) - 3, 0), data, work=_BYTE)


def _value(array: Array, slot: int, target: Target) -> Items:
    """The bytes of a slot (uint8[]), on their device."""
    if not array.layout.variadic:
        offsets, buffer = array.items(Role.OFFSETS), array.buffer(Role.BYTES)
        assert buffer is not None
        first, last = target.item(offsets, slot), target.item(offsets, slot + 1)
        return buffer.view(np.dtype(np.uint8), last - first, first)
    words = array.items(Role.VIEWS).view(np.int32)[4 * slot : 4 * slot + 4]
    length, _, number, offset = (target.item(words, k) for k in range(4))
    if length <= VIEW_INLINE_BYTES:
        return words.view(np.uint8)[4 : 4 + length]
    buffer = array.data_buffers[number]
    assert buffer is not None
    return buffer.view(np.dtype(np.uint8), length, offset)
