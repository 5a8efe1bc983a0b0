"""Byte strings of variable and of fixed size."""

from __future__ import annotations

import numba
import numpy as np
from numba import types
from numba.extending import register_jitable

from colkern import schema as s
from colkern.cpu.primitives import copy_bytes
from colkern.jit.building.builder_type import APPENDS
from colkern.jit.building.nodes import NodeKind
from colkern.jit.building.state import (
    bytes_address,
    end_at,
    items_address,
    new_bytes,
    new_slot,
    row_of,
    set_length,
)
from colkern.jit.elements.conversions import utf8_length, write_utf8
from colkern.jit.elements.memory import keep, raw
from colkern.jit.elements.types import SequenceType, TextType


@APPENDS.of(NodeKind.BINARY)
def _bytes_append(out, value):
    """`append` of bytes of any length; None if the builder does not take such a value."""
    if isinstance(value, types.UnicodeType):
        return _append_string(out)
    if not _is_taken(out, value):
        return None

    def append(out, value):
        row = row_of(out)
        slot = new_slot(row)
        plain = raw(value)
        size = plain.size
        used = new_bytes(row, size)
        put_bytes(row, used, plain)
        keep(value)
        end_at(out, slot, used + size)

    return append


@register_jitable
def put_bytes(row, place, plain):
    """Copy bytes to those of a row from `place` on."""
    _copy(bytes_address(row), place, plain)


@register_jitable
def put_sized(out, place, plain):
    """Copy bytes to the items of a builder from `place` on."""
    _copy(items_address(out), place, plain)


@register_jitable
def _copy(start, place, plain):
    target = numba.carray(start, (place + plain.size,), np.uint8)
    copy_bytes(target, np.uint64(place), np.uint64(plain.address), np.uint64(plain.size))


def _is_taken(out, value):
    """Whether a builder takes a value unchanged: a builder of text takes no byte strings."""
    if isinstance(out.data_type.storage, s.Utf8 | s.LargeUtf8):
        return isinstance(value, TextType | types.StringLiteral)
    return isinstance(value, SequenceType | types.StringLiteral | types.Bytes)


def _append_string(out):
    def append(out, value):
        size = utf8_length(value)
        row = row_of(out)
        slot = new_slot(row)
        used = new_bytes(row, size)
        target = numba.carray(bytes_address(row), (used + size,), np.uint8)
        write_utf8(value, np.int64(target.ctypes.data) + np.int64(used))
        end_at(out, slot, used + size)

    return append


@APPENDS.of(NodeKind.FIXED_SIZE_BINARY)
def _fixed_size_append(out, value):
    """`append` of exactly the bytes of a slot; None if the builder does not take such a value."""
    width = out.node.per_slot
    message = f"bytes of another length than {out.data_type} has"
    if not isinstance(value, SequenceType | types.StringLiteral | types.Bytes):
        return None

    def append(out, value):
        plain = raw(value)
        if plain.size != width:
            raise ValueError(message)
        row = row_of(out)
        slot = new_slot(row)
        put_sized(out, slot * width, plain)
        set_length(row, slot + 1)
        keep(value)

    return append
