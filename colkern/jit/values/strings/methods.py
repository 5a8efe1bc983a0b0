"""The operations of `ByteString` on views: length, items, searches, and what a strip leaves."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.imputils import RefType, impl_ret_untracked, iternext_impl
from numba.extending import lower_builtin, overload, overload_method, register_jitable
from numba.misc.special import literal_unroll

from colkern.jit.values.bounds import clamp, saturated
from colkern.jit.values.strings.operands import are_operands, hold, is_operand, keep
from colkern.jit.values.strings.searching import (
    count_of,
    ends_with,
    find,
    find_byte,
    rfind,
    starts_with,
)
from colkern.jit.values.strings.views import ByteIteratorType, ByteStringType, part


@overload(len)
def _ol_len(s):
    if isinstance(s, ByteStringType):
        return lambda s: s._length
    return None


@overload(bool)
def _ol_bool(s):
    if isinstance(s, ByteStringType):
        return lambda s: s._length != 0
    return None


@overload(operator.not_)
def _ol_not(s):
    if isinstance(s, ByteStringType):
        return lambda s: s._length == 0
    return None


@overload(operator.getitem)
def _ol_getitem(s, key):
    if not isinstance(s, ByteStringType):
        return None
    if isinstance(key, types.Integer):
        signed = key.signed

        def item(s, key):
            # An unsigned number that is negative as a signed one is too large, not from the end.
            position = np.int64(key)
            if signed and position < 0:
                position += s._length
            if position < 0 or position >= s._length:
                raise IndexError("byte string index out of range")
            return np.int64(s._data[position])

        return item
    if isinstance(key, types.SliceType):
        if key.has_step:
            raise TypingError("byte strings are sliced with a step of 1")

        def cut(s, key):
            start = clamp(key.start, s._length)
            return part(s, start, max(clamp(key.stop, s._length) - start, 0))

        return cut
    return None


@lower_builtin("getiter", ByteStringType)
def _getiter(context, builder, sig, args):
    iterator = context.make_helper(builder, sig.return_type)
    iterator.index = cgutils.alloca_once_value(builder, context.get_constant(types.intp, 0))
    iterator.view = args[0]
    return impl_ret_untracked(context, builder, sig.return_type, iterator._getvalue())


@lower_builtin("iternext", ByteIteratorType)
@iternext_impl(RefType.UNTRACKED)
def _iternext(context, builder, sig, args, result):
    (kind,) = sig.args
    iterator = context.make_helper(builder, kind, value=args[0])
    view = cgutils.create_struct_proxy(kind.source)(context, builder, value=iterator.view)
    index = builder.load(iterator.index)
    valid = builder.icmp_signed("<", index, view.length)
    result.set_valid(valid)
    with builder.if_then(valid):
        byte = builder.load(builder.gep(view.data, [index]))
        result.yield_(builder.zext(byte, context.get_value_type(types.int64)))
        builder.store(builder.add(index, index.type(1), flags=["nsw", "nuw"]), iterator.index)


@overload(operator.contains, prefer_literal=True)
def _ol_contains(s, item):
    if isinstance(s, ByteStringType | types.Bytes) and isinstance(item, types.Integer):

        def contains_byte(s, item):
            if item < 0 or item > 255:
                raise ValueError("byte must be in range(0, 256)")
            _, view = hold(s)
            found = False
            # Without a way out of the loop, a literal's few bytes become a few comparisons.
            for i in range(view._length):
                found |= view._data[i] == item
            return found

        return contains_byte
    if not are_operands(s, item):
        return None

    def contains(s, item):
        owner, view = hold(s)
        sub_owner, sub = hold(item)
        result = find(view, sub) >= 0
        keep(owner)
        keep(sub_owner)
        return result

    return contains


def _define_affix(name: str, decide: Any) -> None:
    @overload_method(ByteStringType, name, prefer_literal=True)
    def _ol_affix(s, sub):
        if isinstance(sub, types.BaseTuple):

            def any_affix(s, sub):
                found = False
                for each in literal_unroll(sub):
                    owner, view = hold(each)
                    found = found or decide(s, view)
                    keep(owner)
                return found

            return any_affix
        if not is_operand(sub):
            return None

        def affix(s, sub):
            owner, view = hold(sub)
            result = decide(s, view)
            keep(owner)
            return result

        return affix


_define_affix("startswith", starts_with)
_define_affix("endswith", ends_with)


def _define_search(name: str, search: Any, adds_start: bool) -> None:
    missing = -1 if adds_start else 0

    @overload_method(ByteStringType, name, prefer_literal=True)
    def _ol_search(s, sub, start=0, end=None):
        if not (is_operand(sub) or isinstance(sub, types.Integer)):
            return None
        open_ended = end is None or isinstance(end, types.NoneType | types.Omitted)

        def search_in(s, sub, start=0, end=None):
            length = s._length
            first = saturated(start)
            if first > length:
                return missing
            first = clamp(first, length)
            last = length if open_ended else clamp(saturated(end), length)
            owner, view = hold(sub)
            found = missing
            if first <= last:
                found = search(part(s, first, last - first), view)
            keep(owner)
            return found + first if adds_start and found >= 0 else found

        return search_in


_define_search("find", find, True)
_define_search("rfind", rfind, True)
_define_search("count", count_of, False)


@register_jitable
def is_space(byte):
    """Whether a byte is white space, as `bytes.isspace` says."""
    return byte == 32 or 9 <= byte <= 13


def _define_strip(name: str, left: bool, right: bool) -> None:
    @overload_method(ByteStringType, name, prefer_literal=True)
    def _ol_strip(s, chars=None):
        if not (chars is None or isinstance(chars, types.NoneType | types.Omitted)):
            if not is_operand(chars):
                return None

            def strip_bytes(s, chars=None):
                owner, view = hold(chars)
                start, stop = 0, s._length
                if left:
                    while start < stop and (
                        find_byte(view._data, np.int32(s._data[start]), view._length) >= 0
                    ):
                        start += 1
                if right:
                    while start < stop and (
                        find_byte(view._data, np.int32(s._data[stop - 1]), view._length) >= 0
                    ):
                        stop -= 1
                keep(owner)
                return part(s, start, stop - start)

            return strip_bytes

        def strip_space(s, chars=None):
            start, stop = 0, s._length
            if left:
                while start < stop and is_space(s._data[start]):
                    start += 1
            if right:
                while start < stop and is_space(s._data[stop - 1]):
                    stop -= 1
            return part(s, start, stop - start)

        return strip_space


_define_strip("strip", True, True)
_define_strip("lstrip", True, False)
_define_strip("rstrip", False, True)


@overload_method(ByteStringType, "isdigit")
def _ol_isdigit(s):
    def isdigit(s):
        other = s._length == 0
        for i in range(s._length):
            byte = s._data[i]
            other |= byte < 48 or byte > 57
        return not other

    return isdigit
