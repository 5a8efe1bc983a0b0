"""Byte strings of variable and of fixed size."""

from __future__ import annotations

import numba
import numpy as np
from numba import types
from numba.extending import overload, register_jitable

from colkern import schema as s
from colkern.cpu.primitives import copy_bytes
from colkern.jit.building.builder_type import APPENDS
from colkern.jit.building.nodes import NodeKind
from colkern.jit.building.numbers import as_it_is
from colkern.jit.building.room import new_bytes, new_slot
from colkern.jit.building.state import bytes_address, put_item, row_of, set_length, set_used
from colkern.jit.values.strings import (
    ByteStringType,
    address_of,
    as_view,
    cuts_a_character,
    require_utf8,
    utf8_length,
    write_utf8,
)


@APPENDS.of(NodeKind.BINARY)
def _bytes_append(out, value):
    """`append` of bytes of any length; None if the builder does not take such a value."""
    if isinstance(value, types.UnicodeType):
        return _append_string(out)
    view_of = _view_of(value)
    if view_of is None:
        return None
    check = _check_of_text(out, value)

    def append(out, value):
        view = view_of(value)
        check(view)
        row = row_of(out)
        slot = new_slot(row)
        used = new_bytes(row, len(view))
        _copy(row, used, view)
        used += len(view)
        put_item(out, slot + 1, used)
        set_used(row, used)
        set_length(row, slot + 1)

    return append


def _view_of(value):
    """The function from a value to a byte string; None if the value holds no bytes."""
    if isinstance(value, types.StringLiteral | types.Bytes):
        return as_view
    return as_it_is if isinstance(value, ByteStringType) else None


def _append_string(out):
    def append(out, value):
        size = utf8_length(value)
        row = row_of(out)
        slot = new_slot(row)
        used = new_bytes(row, size)
        _encode(row, used, value)
        used += size
        put_item(out, slot + 1, used)
        set_used(row, used)
        set_length(row, slot + 1)

    return append


def _check_of_text(out, value):
    """A function that raises for bytes that the type does not take."""
    is_text = isinstance(out.data_type.storage, s.Utf8 | s.LargeUtf8)
    if not is_text or isinstance(value, types.StringLiteral):
        return _take_all
    # A view of text too: it may be a slice that starts or ends within a character.
    return _require_text


@register_jitable
def _take_all(view):
    pass


@register_jitable
def _require_text(view):
    if cuts_a_character(view):
        raise ValueError(
            "bytes that start or end within a UTF-8 character are not UTF-8; "
            "slice between characters, or build binary"
        )
    require_utf8(view)


def _copy(row, used, view):
    """The bytes of a view after the `used` ones that there are."""
    raise NotImplementedError


@overload(_copy)
def _ol_copy(row, used, view):
    if row.mode == "measure":
        return lambda row, used, view: None

    def copy(row, used, view):
        target = numba.carray(bytes_address(row), (used + len(view),), np.uint8)
        copy_bytes(target, np.uint64(used), address_of(view), np.uint64(len(view)))

    return copy


def _encode(row, used, value):
    """The UTF-8 of a Python string after the `used` bytes that there are."""
    raise NotImplementedError


@overload(_encode)
def _ol_encode(row, used, value):
    if row.mode == "measure":
        return lambda row, used, value: None

    def encode(row, used, value):
        target = numba.carray(bytes_address(row), (used + 4 * len(value),), np.uint8)
        write_utf8(value, target, np.uint64(used))

    return encode


@APPENDS.of(NodeKind.FIXED_SIZE_BINARY)
def _fixed_size_append(out, value):
    """`append` of as many bytes as the type says; None if the builder does not take such a value."""
    width = out.node.per_slot
    message = f"bytes of another length than {out.data_type} has"
    view_of = _view_of(value)
    if view_of is None:
        return None

    def append(out, value):
        view = view_of(value)
        if len(view) != width:
            raise ValueError(message)
        row = row_of(out)
        slot = new_slot(row)
        for k in range(width):
            put_item(out, slot * width + k, np.uint8(view[k]))
        set_length(row, slot + 1)

    return append
