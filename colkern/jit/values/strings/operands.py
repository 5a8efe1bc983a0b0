"""What stands beside a byte string in an operation: another one, a literal, `bytes`, Python's text."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic, overload

from colkern.jit.values.strings.utf8 import utf8_length, write_utf8
from colkern.jit.values.strings.views import ByteStringType, as_view, binary_at


def is_operand(value: Any) -> bool:
    """Whether a Numba type is a string of any kind."""
    return isinstance(value, ByteStringType | types.UnicodeType | types.StringLiteral | types.Bytes)


def are_operands(a: Any, b: Any) -> bool:
    """Whether colkern's operators are meant: one side a view, the other a string of any kind."""
    one = isinstance(a, ByteStringType) or isinstance(b, ByteStringType)
    return one and is_operand(a) and is_operand(b)


@intrinsic
def keep(typingctx, value):
    """A use of `value`: it is not freed before."""
    return types.void(value), lambda context, builder, signature, args: context.get_dummy_value()


def hold(value):
    """`(owner, view)` of a byte string, literal, `bytes`, Python string or single byte."""
    raise NotImplementedError


@overload(hold, prefer_literal=True)
def _ol_hold(value):
    if isinstance(value, ByteStringType):
        return lambda value: (0, value)
    if isinstance(value, types.StringLiteral | types.Bytes):
        return lambda value: (0, as_view(value))
    if isinstance(value, types.UnicodeType):

        def hold(value):
            encoded = np.empty(utf8_length(value), np.uint8)
            write_utf8(value, encoded, np.uint64(0))
            return encoded, binary_at(np.uint64(encoded.ctypes.data), encoded.size)

        return hold
    if isinstance(value, types.Integer):

        def hold_byte(value):
            if value < 0 or value > 255:
                raise ValueError("byte must be in range(0, 256)")
            byte = np.full(1, value, np.uint8)
            return byte, binary_at(np.uint64(byte.ctypes.data), 1)

        return hold_byte
    return None
