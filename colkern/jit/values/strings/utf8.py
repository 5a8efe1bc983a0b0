"""Python's strings in compiled code: out of and into UTF-8."""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import lower_cast, overload, overload_method, register_jitable

from colkern.jit.values.strings.views import ByteStringType


@register_jitable
def _is_ascii(view):
    seen = np.uint8(0)
    for i in range(view._length):
        seen |= view._data[i]
    return seen < 128


@register_jitable
def _lead(byte):
    """`(bytes that the character has, bits of it in its first byte)`; 0 bytes for no first byte."""
    if byte < 0x80:
        return 1, byte
    if 0xC2 <= byte < 0xE0:
        return 2, byte & 0x1F
    if 0xE0 <= byte < 0xF0:
        return 3, byte & 0x0F
    if 0xF0 <= byte < 0xF5:
        return 4, byte & 0x07
    return 0, 0


@register_jitable
def _next_character(view, start):
    """`(code point, bytes)` of the character at `start`; ValueError where there is none."""
    count, point = _lead(np.int64(view._data[start]))
    if count == 0 or start + count > view._length:
        raise ValueError("the byte string is not UTF-8")
    for i in range(start + 1, start + count):
        byte = np.int64(view._data[i])
        if byte & 0xC0 != 0x80:
            raise ValueError("the byte string is not UTF-8")
        point = point << 6 | byte & 0x3F
    shortest = 0x10000 if count == 4 else 0x800 if count == 3 else 0
    if point < shortest or point > 0x10FFFF or 0xD800 <= point < 0xE000:
        raise ValueError("the byte string is not UTF-8")
    return point, count


# Numba's own functions for its text. Their module takes longer to import than code from the cache
# takes to load, so it is imported when they are compiled in.


def _empty_string(kind, length, is_ascii):
    raise NotImplementedError


@overload(_empty_string)
def _ol_empty_string(kind, length, is_ascii):
    from numba.cpython import unicode

    numbas = unicode._empty_string
    return lambda kind, length, is_ascii: numbas(kind, length, is_ascii)


def _get_code_point(value, i):
    raise NotImplementedError


@overload(_get_code_point)
def _ol_get_code_point(value, i):
    from numba.cpython import unicode

    numbas = unicode._get_code_point
    return lambda value, i: numbas(value, i)


def _set_code_point(value, i, point):
    raise NotImplementedError


@overload(_set_code_point)
def _ol_set_code_point(value, i, point):
    from numba.cpython import unicode

    numbas = unicode._set_code_point
    return lambda value, i, point: numbas(value, i, point)


@register_jitable
def require_utf8(view):
    """ValueError for bytes that are no UTF-8."""
    if _is_ascii(view):
        return
    start = 0
    while start < view._length:
        _, count = _next_character(view, start)
        start += count


@register_jitable
def decode(view):
    """The view's text as a Python string."""
    length = view._length
    if _is_ascii(view):
        plain = _empty_string(1, length, 1)
        for i in range(length):
            _set_code_point(plain, i, np.uint32(view._data[i]))
        return plain
    characters = 0
    largest = 0
    start = 0
    while start < length:
        point, count = _next_character(view, start)
        largest = max(largest, point)
        characters += 1
        start += count
    kind = 1 if largest < 0x100 else 2 if largest < 0x10000 else 4
    decoded = _empty_string(kind, characters, 0)
    start = 0
    for i in range(characters):
        point, count = _next_character(view, start)
        _set_code_point(decoded, i, np.uint32(point))
        start += count
    return decoded


@overload_method(ByteStringType, "__str__")
def _ol_str(s):
    return lambda s: decode(s)


@register_jitable
def _encoded_bytes(point):
    return 1 + (point >= 0x80) + (point >= 0x800) + (point >= 0x10000)


@register_jitable
def utf8_length(value):
    """How many bytes a Python string has as UTF-8; ValueError for half a surrogate pair."""
    total = 0
    for i in range(len(value)):
        point = np.int64(_get_code_point(value, i))
        if 0xD800 <= point < 0xE000:
            raise ValueError("surrogates have no UTF-8")
        total += _encoded_bytes(point)
    return total


@register_jitable
def write_utf8(value, out, start):
    """Write the UTF-8 of a Python string to `out` (uint8[]) from `start` (uint64) on."""
    position = start
    for i in range(len(value)):
        point = np.int64(_get_code_point(value, i))
        count = _encoded_bytes(point)
        if count == 1:
            out[position] = np.uint8(point)
        else:
            # Six bits a byte from the last one on; what is left goes into the first, marked.
            for k in range(count - 1, 0, -1):
                out[position + np.uint64(k)] = np.uint8(0x80 | point & 0x3F)
                point >>= 6
            out[position] = np.uint8((0xF00 >> count) & 0xFF | point)
        position += np.uint64(count)


@register_jitable
def cuts_a_character(view):
    """Whether a slice of valid UTF-8 starts or ends within a character."""
    length = view._length
    if length == 0:
        return False
    if view._data[0] & 0xC0 == 0x80:
        return True
    if view._data[length - 1] < 0x80:
        return False
    last = length - 1
    while last > 0 and length - last < 4 and view._data[last] & 0xC0 == 0x80:
        last -= 1
    count, _ = _lead(np.int64(view._data[last]))
    return count != length - last


@lower_cast(ByteStringType, types.UnicodeType)
def _cast_to_unicode(context, builder, fromty, toty, value):
    return context.compile_internal(builder, decode, toty(fromty), (value,))
