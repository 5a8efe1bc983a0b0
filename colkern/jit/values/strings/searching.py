"""Comparing and finding bytes: C's functions on the bytes of views."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, register_jitable

from colkern.jit.values.strings.views import POINTER, part


def _c_function(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, arguments), name)


@intrinsic
def compare_bytes(typingctx, a, b, count):
    """C's memcmp: the sign says how `count` bytes at `a` stand to those at `b`."""

    def codegen(context, builder, signature, args):
        pointer = context.get_value_type(POINTER)
        size = context.get_value_type(types.intp)
        memcmp = _c_function(builder, "memcmp", ir.IntType(32), [pointer, pointer, size])
        return builder.call(memcmp, args)

    return types.int32(POINTER, POINTER, types.intp), codegen


@intrinsic
def find_byte(typingctx, data, byte, count):
    """Where C's memchr finds `byte` in `count` bytes; -1 if it does not."""

    def codegen(context, builder, signature, args):
        pointer = context.get_value_type(POINTER)
        size = context.get_value_type(types.intp)
        memchr = _c_function(builder, "memchr", pointer, [pointer, ir.IntType(32), size])
        return _distance(builder, size, args[0], builder.call(memchr, args))

    return types.intp(POINTER, types.int32, types.intp), codegen


@intrinsic
def find_bytes(typingctx, data, count, sub, sub_count):
    """Where C's memmem finds `sub` in `count` bytes; -1 if it does not."""

    def codegen(context, builder, signature, args):
        pointer = context.get_value_type(POINTER)
        size = context.get_value_type(types.intp)
        memmem = _c_function(builder, "memmem", pointer, [pointer, size, pointer, size])
        return _distance(builder, size, args[0], builder.call(memmem, args))

    return types.intp(POINTER, types.intp, POINTER, types.intp), codegen


def _distance(builder: Any, size: Any, start: Any, found: Any) -> Any:
    position = builder.sub(builder.ptrtoint(found, size), builder.ptrtoint(start, size))
    return builder.select(cgutils.is_null(builder, found), ir.Constant(size, -1), position)


@register_jitable
def equal(a, b):
    """Whether two views have the same bytes."""
    return a._length == b._length and compare_bytes(a._data, b._data, a._length) == 0


@register_jitable
def order(a, b):
    """Negative, zero or positive, as `a` stands before, with or after `b`."""
    sign = np.int64(compare_bytes(a._data, b._data, min(a._length, b._length)))
    return sign if sign != 0 else a._length - b._length


@register_jitable
def starts_with(view, sub):
    """Whether a view starts with the bytes of another."""
    return sub._length <= view._length and compare_bytes(view._data, sub._data, sub._length) == 0


@register_jitable
def ends_with(view, sub):
    """Whether a view ends with the bytes of another."""
    tail = view._length - sub._length
    return tail >= 0 and equal(part(view, tail, sub._length), sub)


# memmem prepares a table first, which long byte strings alone repay.
_LONG = 256


@register_jitable
def find(view, sub):
    """Where `sub` first is in a view; -1 if it is not."""
    # C's functions find nothing at the address 0, where views without bytes may stand.
    if sub._length == 0:
        return 0
    if sub._length == 1:
        return find_byte(view._data, np.int32(sub._data[0]), view._length)
    if view._length >= _LONG:
        return find_bytes(view._data, view._length, sub._data, sub._length)
    first = sub._data[0]
    for start in range(view._length - sub._length + 1):
        if view._data[start] == first and equal(part(view, start, sub._length), sub):
            return start
    return -1


@register_jitable
def rfind(view, sub):
    """Where `sub` last is in a view; -1 if it is not."""
    for start in range(view._length - sub._length, -1, -1):
        if compare_bytes(part(view, start, sub._length)._data, sub._data, sub._length) == 0:
            return start
    return -1


@register_jitable
def count_of(view, sub):
    """How often `sub` is in a view, without overlaps."""
    if sub._length == 0:
        return view._length + 1
    total = 0
    if sub._length == 1:
        byte = sub._data[0]
        for i in range(view._length):
            total += view._data[i] == byte
        return total
    found = find(view, sub)
    while found >= 0:
        total += 1
        found += sub._length
        view = part(view, found, view._length - found)
        found = find(view, sub)
    return total
