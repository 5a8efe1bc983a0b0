"""Casts between the ways to store byte strings and text."""

from __future__ import annotations

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.dispatch import TEXT
from colkern.kernels import casts
from colkern.kernels import offsets as offset_kernels
from colkern.layouts import Role, layout
from colkern.memory import EMPTY, Buffer
from colkern.operations.casting.dispatch import Safety, converts, no_value, retyped
from colkern.operations.convert import offsets_to_views, views_to_offsets
from colkern.operations.operands import offset_ends, validity_of
from colkern.operations.patterns import require_room
from colkern.operations.text import describe_invalid_utf8, first_invalid_utf8
from colkern.operations.validity import with_nulls_of
from colkern.targets import NOWHERE, target_of

_OFFSETS = (s.Utf8, s.LargeUtf8, s.Binary, s.LargeBinary)
_VIEWS = (s.Utf8View, s.BinaryView)
_LARGE = (s.LargeBinary, s.LargeUtf8)

_AS_TEXT = {layout(type_).buffers: type_ for type_ in (s.utf8(), s.large_utf8(), s.utf8_view())}
"""The type of text with the same buffers as a type of bytes."""


@converts(_OFFSETS, _OFFSETS)
def offsets_to_offsets(array: Array, type: s.DataType, safe: Safety) -> Array:
    """Byte strings and text, with offsets of another width; the bytes are shared, not copied."""
    _require_text(array, type, safe)
    if array.layout.buffers == layout(type).buffers:
        return retyped(array, type)
    first, last, moved = moved_offsets(array, type)
    data = array.buffers[2] or EMPTY
    return with_nulls_of(array, type, [moved, _part(array, data, first, last)])


@converts(_OFFSETS, _VIEWS)
def offsets_to_view(array: Array, type: s.DataType, safe: Safety) -> Array:
    """Byte strings and text as views of the same bytes."""
    _require_text(array, type, safe)
    return retyped(offsets_to_views(array), type)


@converts(_VIEWS, _OFFSETS)
def view_to_offsets(array: Array, type: s.DataType, safe: Safety) -> Array:
    """Views as byte strings or text with offsets; the bytes are copied."""
    _require_text(array, type, safe)
    return retyped(views_to_offsets(array, large=isinstance(type, _LARGE)), type)


@converts(_VIEWS, _VIEWS)
def view_to_view(array: Array, type: s.DataType, safe: Safety) -> Array:
    """Views of bytes as views of text, and back; nothing is copied."""
    _require_text(array, type, safe)
    return retyped(array, type)


@converts([s.FixedSizeBinary], _OFFSETS)
def fixed_to_offsets(array: Array, type: s.DataType, safe: Safety) -> Array:
    """Byte strings of one length as byte strings with offsets; the bytes are shared, not copied."""
    source = array.type
    assert isinstance(source, s.FixedSizeBinary)
    dtype = layout(type).spec(Role.OFFSETS).dtype
    width = source.byte_width
    require_room(array.length * width, dtype)
    target = target_of(array.device)
    out = target.output(array.length + 1, dtype)
    target.map(offset_kernels.even_offsets, array.length + 1, 0, width, out)
    begin = array.offset * width
    data = _part(array, array.buffer(Role.DATA) or EMPTY, begin, begin + array.length * width)
    # The binary type with the same layout.
    bytes_type = s.large_binary() if isinstance(type, _LARGE) else s.binary()
    result = with_nulls_of(array, bytes_type, [target.buffer(out), data])
    return offsets_to_offsets(result, type, safe)


@converts([s.FixedSizeBinary], _VIEWS)
def fixed_to_view(array: Array, type: s.DataType, safe: Safety) -> Array:
    """Byte strings of one length as views of the same bytes."""
    return offsets_to_view(fixed_to_offsets(array, s.large_binary(), safe), type, safe)


@converts(_OFFSETS, [s.FixedSizeBinary])
def offsets_to_fixed(array: Array, type: s.DataType, safe: Safety) -> Array:
    """Byte strings as fixed-size ones; copied, since a null needs as much room as a value there.

    Raises:
        ValueError: If a byte string has another length than the type.
    """
    assert isinstance(type, s.FixedSizeBinary)
    width = type.byte_width
    target = target_of(array.device)
    offsets = array.items(Role.OFFSETS)
    validity = validity_of(array, target)
    slot = target.reduce(casts.first_other_length, array.length, offsets, *validity, width)
    if slot != NOWHERE:
        length = target.item(offsets, slot + 1) - target.item(offsets, slot)
        raise ValueError(f"slot {slot}: {length} bytes, where each value of {type} has {width}")
    out = target.output(array.length * width, np.uint8)
    source = array.buffer(Role.BYTES)
    base = source.address if source is not None and source.size else 0
    if width:
        target.map(casts.place_evenly, array.length, offsets, base, *validity, width, out)
    return with_nulls_of(array, type, [target.buffer(out)])


@converts(_VIEWS, [s.FixedSizeBinary])
def view_to_fixed(array: Array, type: s.DataType, safe: Safety) -> Array:
    """Views of byte strings that all have the type's length; copied."""
    return offsets_to_fixed(views_to_offsets(array, large=True), type, safe)


def moved_offsets(array: Array, type: s.DataType) -> tuple[int, int, Buffer]:
    """Offsets from 0 on, as wide as those of the type, and the range of bytes that they had before.

    Raises:
        LimitExceededError: If the offsets do not fit the type.
    """
    target = target_of(array.device)
    offsets = array.items(Role.OFFSETS)
    dtype = layout(type).buffers[1].dtype
    ((first, last),) = offset_ends(array)
    require_room(last - first, dtype)
    out = target.output(array.length + 1, dtype)
    target.map(offset_kernels.rebase_offsets, array.length + 1, offsets, first, out)
    return first, last, target.buffer(out)


def _part(array: Array, data: Buffer, first: int, last: int) -> Buffer:
    """The bytes from `first` to `last`, on the array's device."""
    if data.device == array.device:
        return data if last - first == data.size else data[first:last]
    target = target_of(array.device)
    return target.buffer(target.allocate(0, np.uint8))


def _require_text(array: Array, type: s.DataType, safe: Safety) -> None:
    """Raise `ValueError`, if `safe`, for bytes that become text and are not UTF-8."""
    if not safe or not isinstance(type, TEXT) or isinstance(array.type, TEXT):
        return
    text = retyped(array, _AS_TEXT[array.layout.buffers])
    slot = first_invalid_utf8(text)
    if slot is not None:
        why = f"not UTF-8: {describe_invalid_utf8(text, slot)}"
        raise no_value(array, type, slot, "the value", why)
