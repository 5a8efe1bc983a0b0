"""Byte strings inside jitted code: an address and a length, with the operations of `ByteString`.

A view owns nothing and is not counted: the column that it points into outlives the call, and a
literal's bytes stand in the compiled code. CPU target only.

`text` is the type of views of UTF-8 columns, `binary` that of the others; they differ in what a
function that returns one of them gives: a utf8 or a binary column.
"""

# Numba's decorators and the bodies that it compiles are untyped.
# mypy: disallow-untyped-decorators=False, disallow-untyped-defs=False
# mypy: disallow-untyped-calls=False, disallow-incomplete-defs=False, check-untyped-defs=False

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.imputils import RefType, impl_ret_untracked, iternext_impl
from numba.core.typeconv import Conversion
from numba.extending import (
    NativeValue,
    box,
    intrinsic,
    lower_builtin,
    lower_cast,
    make_attribute_wrapper,
    models,
    overload,
    overload_method,
    register_jitable,
    register_model,
    typeof_impl,
    unbox,
)
from numba.misc.special import literal_unroll

from colkern.jit.values.bytestring import ByteString
from colkern.jit.values.optionals import unwrapped

_POINTER = types.CPointer(types.uint8)


class ByteStringType(types.IterableType):  # type: ignore[misc]
    """The Numba type of a view of bytes."""

    # Unification starts with the narrowest type. With a view first, literals become views; the
    # other way around all would become Python strings, which are allocated.
    bitwidth = -1

    def __init__(self, kind: str) -> None:
        self.kind = kind
        super().__init__(name=f"ByteString({kind})")

    @property
    def iterator_type(self) -> types.IteratorType:
        """What `iter(s)` gives."""
        return ByteIteratorType(self)

    def unify(self, typingctx: Any, other: Any) -> Any:
        """The type for a variable that may be a view or an `other`."""
        if isinstance(other, ByteStringType | types.Bytes):
            return binary
        if isinstance(other, types.StringLiteral):
            return self
        if isinstance(other, types.UnicodeType):
            return other
        return None

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        """Text becomes text or binary as it is, `bytes` binary."""
        if isinstance(other, types.StringLiteral) or other == text:
            return Conversion.safe
        if self.kind == "binary" and isinstance(other, types.Bytes | ByteStringType):
            return Conversion.safe
        return None

    def can_convert_to(self, typingctx: Any, other: Any) -> Any:
        """A view becomes a Python string by decoding."""
        return Conversion.unsafe if isinstance(other, types.UnicodeType) else None


class ByteIteratorType(types.SimpleIteratorType):  # type: ignore[misc]
    """The Numba type of `iter(s)`."""

    def __init__(self, source: ByteStringType) -> None:
        self.source = source
        super().__init__(f"iter({source.name})", types.int64)


text = ByteStringType("utf8")
binary = ByteStringType("binary")

_OPTIONALS = (types.Optional(text), types.Optional(binary))
"""There is one object of each in a process."""

for _optional in _OPTIONALS:
    # Numba takes a comparison of a string with any type of its own, optional views included, to be False.
    _optional._is_internal = False


@register_model(ByteStringType)
class _ByteStringModel(models.StructModel):  # type: ignore[misc]
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, [("data", _POINTER), ("length", types.intp)])


@register_model(ByteIteratorType)
class _ByteIteratorModel(models.StructModel):  # type: ignore[misc]
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        members = [("index", types.EphemeralPointer(types.intp)), ("view", fe_type.source)]
        super().__init__(dmm, fe_type, members)


make_attribute_wrapper(ByteStringType, "data", "_data")
make_attribute_wrapper(ByteStringType, "length", "_length")


# Views: made from addresses, literals and Python's own strings


def _view(context: Any, builder: Any, kind: Any, data: Any, length: Any) -> Any:
    made = cgutils.create_struct_proxy(kind)(context, builder)
    made.data = data
    made.length = length
    return made._getvalue()


def _literal_view(context: Any, builder: Any, kind: Any, value: bytes) -> Any:
    data = context.insert_const_bytes(builder.module, value)
    return _view(context, builder, kind, data, context.get_constant(types.intp, len(value)))


def _at(kind: ByteStringType) -> Any:
    @intrinsic
    def view_at(typingctx, address, length):
        def codegen(context, builder, signature, args):
            data = builder.inttoptr(args[0], context.get_value_type(_POINTER))
            return _view(context, builder, kind, data, args[1])

        return kind(types.uint64, types.intp), codegen

    return view_at


text_at = _at(text)
binary_at = _at(binary)


@intrinsic
def address_of(typingctx, view):
    """The address of the first byte, as a uint64."""

    def codegen(context, builder, signature, args):
        made = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=args[0])
        return builder.ptrtoint(made.data, context.get_value_type(types.uint64))

    return types.uint64(view), codegen


@intrinsic
def _part(typingctx, view, start, length):
    def codegen(context, builder, signature, args):
        made = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=args[0])
        data = builder.gep(made.data, [args[1]])
        return _view(context, builder, signature.return_type, data, args[2])

    return view(view, types.intp, types.intp), codegen


@typeof_impl.register(ByteString)
def _typeof(value, context):
    return text


@unbox(ByteStringType)
def _unbox(typ, obj, c):
    # The caller's reference keeps the bytes alive during the call.
    data = cgutils.alloca_once(c.builder, c.pyapi.cstring)
    size = cgutils.alloca_once(c.builder, c.pyapi.py_ssize_t)
    ok = c.pyapi.bytes_as_string_and_size(obj, data, size)
    view = _view(c.context, c.builder, typ, c.builder.load(data), c.builder.load(size))
    return NativeValue(view, is_error=c.builder.not_(ok))


@box(ByteStringType)
def _box(typ, value, c):
    made = cgutils.create_struct_proxy(typ)(c.context, c.builder, value=value)
    plain = c.pyapi.bytes_from_string_and_size(made.data, made.length)
    cls = c.pyapi.unserialize(c.pyapi.serialize_object(ByteString))
    boxed = c.pyapi.call_function_objargs(cls, (plain,))
    c.pyapi.decref(cls)
    c.pyapi.decref(plain)
    return boxed


@lower_cast(types.StringLiteral, ByteStringType)
def _cast_literal(context, builder, fromty, toty, value):
    return _literal_view(context, builder, toty, fromty.literal_value.encode())


@lower_cast(types.Bytes, ByteStringType)
def _cast_bytes(context, builder, fromty, toty, value):
    made = context.make_helper(builder, fromty, value=value)
    with builder.if_then(cgutils.is_not_null(builder, made.meminfo), likely=False):
        # A view would outlive them.
        context.call_conv.return_user_exc(
            builder,
            ValueError,
            ("bytes that the function builds cannot stand where it has a byte string too",),
        )
    return _view(context, builder, toty, made.data, made.nitems)


@lower_cast(ByteStringType, ByteStringType)
def _cast_kind(context, builder, fromty, toty, value):
    return value


@lower_cast(ByteStringType, types.UnicodeType)
def _cast_to_unicode(context, builder, fromty, toty, value):
    return context.compile_internal(builder, _decode, toty(fromty), (value,))


@intrinsic(prefer_literal=True)
def as_view(typingctx, value):
    """A literal, or a `bytes` that the caller keeps alive, as a view."""
    if isinstance(value, types.StringLiteral):

        def codegen(context, builder, signature, args):
            return context.cast(builder, args[0], signature.args[0], signature.return_type)

    elif isinstance(value, types.Bytes):

        def codegen(context, builder, signature, args):
            made = context.make_helper(builder, signature.args[0], value=args[0])
            return _view(context, builder, signature.return_type, made.data, made.nitems)

    else:
        return None
    return binary(value), codegen


@intrinsic
def _keep(typingctx, value):
    """A use of `value`: it is not freed before."""
    return types.void(value), lambda context, builder, signature, args: context.get_dummy_value()


def _hold(value):
    """`(owner, view)` of a byte string, literal, `bytes`, Python string or single byte."""
    raise NotImplementedError


@overload(_hold, prefer_literal=True)
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


# Bytes: C's functions on them


def _c_function(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, arguments), name)


@intrinsic
def _compare(typingctx, a, b, count):
    """C's memcmp: the sign says how `count` bytes at `a` stand to those at `b`."""

    def codegen(context, builder, signature, args):
        pointer = context.get_value_type(_POINTER)
        size = context.get_value_type(types.intp)
        memcmp = _c_function(builder, "memcmp", ir.IntType(32), [pointer, pointer, size])
        return builder.call(memcmp, args)

    return types.int32(_POINTER, _POINTER, types.intp), codegen


@intrinsic
def _find_byte(typingctx, data, byte, count):
    """Where C's memchr finds `byte` in `count` bytes; -1 if it does not."""

    def codegen(context, builder, signature, args):
        pointer = context.get_value_type(_POINTER)
        size = context.get_value_type(types.intp)
        memchr = _c_function(builder, "memchr", pointer, [pointer, ir.IntType(32), size])
        return _distance(builder, size, args[0], builder.call(memchr, args))

    return types.intp(_POINTER, types.int32, types.intp), codegen


@intrinsic
def _find_bytes(typingctx, data, count, sub, sub_count):
    """Where C's memmem finds `sub` in `count` bytes; -1 if it does not."""

    def codegen(context, builder, signature, args):
        pointer = context.get_value_type(_POINTER)
        size = context.get_value_type(types.intp)
        memmem = _c_function(builder, "memmem", pointer, [pointer, size, pointer, size])
        return _distance(builder, size, args[0], builder.call(memmem, args))

    return types.intp(_POINTER, types.intp, _POINTER, types.intp), codegen


def _distance(builder: Any, size: Any, start: Any, found: Any) -> Any:
    position = builder.sub(builder.ptrtoint(found, size), builder.ptrtoint(start, size))
    return builder.select(cgutils.is_null(builder, found), ir.Constant(size, -1), position)


@register_jitable
def _equal(a, b):
    return a._length == b._length and _compare(a._data, b._data, a._length) == 0


@register_jitable
def _order(a, b):
    """Negative, zero or positive, as `a` stands before, with or after `b`."""
    order = np.int64(_compare(a._data, b._data, min(a._length, b._length)))
    return order if order != 0 else a._length - b._length


@register_jitable
def _starts(view, sub):
    return sub._length <= view._length and _compare(view._data, sub._data, sub._length) == 0


@register_jitable
def _ends(view, sub):
    tail = view._length - sub._length
    return tail >= 0 and _equal(_part(view, tail, sub._length), sub)


# memmem prepares a table first, which long byte strings alone repay.
_LONG = 256


@register_jitable
def _find(view, sub):
    if sub._length == 1:
        return _find_byte(view._data, np.int32(sub._data[0]), view._length)
    if view._length >= _LONG or sub._length == 0:
        return _find_bytes(view._data, view._length, sub._data, sub._length)
    first = sub._data[0]
    for start in range(view._length - sub._length + 1):
        if view._data[start] == first and _equal(_part(view, start, sub._length), sub):
            return start
    return -1


@register_jitable
def _rfind(view, sub):
    for start in range(view._length - sub._length, -1, -1):
        if _compare(_part(view, start, sub._length)._data, sub._data, sub._length) == 0:
            return start
    return -1


@register_jitable
def _count(view, sub):
    if sub._length == 0:
        return view._length + 1
    total = 0
    if sub._length == 1:
        byte = sub._data[0]
        for i in range(view._length):
            total += view._data[i] == byte
        return total
    found = _find(view, sub)
    while found >= 0:
        total += 1
        found += sub._length
        view = _part(view, found, view._length - found)
        found = _find(view, sub)
    return total


# The operations of `ByteString`


def _is_operand(value: Any) -> bool:
    return isinstance(value, ByteStringType | types.UnicodeType | types.StringLiteral | types.Bytes)


def _are_operands(a: Any, b: Any) -> bool:
    """Whether colkern's operators are meant: one side a view, the other a string of any kind."""
    one = isinstance(a, ByteStringType) or isinstance(b, ByteStringType)
    return one and _is_operand(a) and _is_operand(b)


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

        def part(s, key):
            start = _clamp(key.start, s._length)
            return _part(s, start, max(_clamp(key.stop, s._length) - start, 0))

        return part
    return None


@register_jitable
def _clamp(position, length):
    """A slice's bound as a position in `length` bytes."""
    if position < 0:
        position += length
    return min(max(position, 0), length)


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


def _are_optional_operands(a: Any, b: Any) -> bool:
    """Whether both are operands, but for one or both being optional."""
    kinds = [kind.type if isinstance(kind, types.Optional) else kind for kind in (a, b)]
    return kinds != [a, b] and _are_operands(*kinds)


def _optional_comparison(operation: Any, left: bool) -> Any:
    """A comparison where one side or both may be None: equal to nothing but None, and in no order."""
    if operation not in (operator.eq, operator.ne):
        if left:
            return lambda a, b: operation(_present(a), b)
        return lambda a, b: operation(a, _present(b))
    differs = operation is operator.ne
    if left:

        def compare_left(a, b):
            if a is None:
                return (b is None) != differs
            return operation(unwrapped(a), b)

        return compare_left

    def compare_right(a, b):
        if b is None:
            return differs
        return operation(a, unwrapped(b))

    return compare_right


@register_jitable
def _present(value):
    if value is None:
        raise TypeError("None is in no order with byte strings")
    return unwrapped(value)


def _define_comparison(operation: Any, decide: Any) -> None:
    @overload(operation, prefer_literal=True)
    def _ol_comparison(a, b):
        if _are_optional_operands(a, b):
            return _optional_comparison(operation, isinstance(a, types.Optional))
        if not _are_operands(a, b):
            return None

        def compare(a, b):
            left_owner, left = _hold(a)
            right_owner, right = _hold(b)
            result = decide(left, right)
            _keep(left_owner)
            _keep(right_owner)
            return result

        return compare


_define_comparison(operator.eq, register_jitable(lambda a, b: _equal(a, b)))
_define_comparison(operator.ne, register_jitable(lambda a, b: not _equal(a, b)))
_define_comparison(operator.lt, register_jitable(lambda a, b: _order(a, b) < 0))
_define_comparison(operator.le, register_jitable(lambda a, b: _order(a, b) <= 0))
_define_comparison(operator.gt, register_jitable(lambda a, b: _order(a, b) > 0))
_define_comparison(operator.ge, register_jitable(lambda a, b: _order(a, b) >= 0))


@overload(operator.contains, prefer_literal=True)
def _ol_contains(s, item):
    if isinstance(s, ByteStringType | types.Bytes) and isinstance(item, types.Integer):

        def contains_byte(s, item):
            if item < 0 or item > 255:
                raise ValueError("byte must be in range(0, 256)")
            _, view = _hold(s)
            found = False
            # Without a way out of the loop, a literal's few bytes become a few comparisons.
            for i in range(view._length):
                found |= view._data[i] == item
            return found

        return contains_byte
    if not _are_operands(s, item):
        return None

    def contains(s, item):
        owner, view = _hold(s)
        sub_owner, sub = _hold(item)
        result = _find(view, sub) >= 0
        _keep(owner)
        _keep(sub_owner)
        return result

    return contains


def _define_affix(name: str, decide: Any) -> None:
    @overload_method(ByteStringType, name, prefer_literal=True)
    def _ol_affix(s, sub):
        if isinstance(sub, types.BaseTuple):

            def any_affix(s, sub):
                found = False
                for each in literal_unroll(sub):
                    owner, view = _hold(each)
                    found = found or decide(s, view)
                    _keep(owner)
                return found

            return any_affix
        if not _is_operand(sub):
            return None

        def affix(s, sub):
            owner, view = _hold(sub)
            result = decide(s, view)
            _keep(owner)
            return result

        return affix


_define_affix("startswith", _starts)
_define_affix("endswith", _ends)


def _define_search(name: str, search: Any, adds_start: bool) -> None:
    missing = -1 if adds_start else 0

    @overload_method(ByteStringType, name, prefer_literal=True)
    def _ol_search(s, sub, start=0, end=None):
        if not (_is_operand(sub) or isinstance(sub, types.Integer)):
            return None
        open_ended = end is None or isinstance(end, types.NoneType | types.Omitted)

        def search_in(s, sub, start=0, end=None):
            length = s._length
            if start > length:
                return missing
            first = _clamp(start, length)
            last = length if open_ended else _clamp(end, length)
            owner, view = _hold(sub)
            found = missing
            if first <= last:
                found = search(_part(s, first, last - first), view)
            _keep(owner)
            return found + first if adds_start and found >= 0 else found

        return search_in


_define_search("find", _find, True)
_define_search("rfind", _rfind, True)
_define_search("count", _count, False)


@register_jitable
def _is_space(byte):
    return byte == 32 or 9 <= byte <= 13


def _define_strip(name: str, left: bool, right: bool) -> None:
    @overload_method(ByteStringType, name, prefer_literal=True)
    def _ol_strip(s, chars=None):
        if not (chars is None or isinstance(chars, types.NoneType | types.Omitted)):
            if not _is_operand(chars):
                return None

            def strip_bytes(s, chars=None):
                owner, view = _hold(chars)
                start, stop = 0, s._length
                if left:
                    while start < stop and (
                        _find_byte(view._data, np.int32(s._data[start]), view._length) >= 0
                    ):
                        start += 1
                if right:
                    while start < stop and (
                        _find_byte(view._data, np.int32(s._data[stop - 1]), view._length) >= 0
                    ):
                        stop -= 1
                _keep(owner)
                return _part(s, start, stop - start)

            return strip_bytes

        def strip_space(s, chars=None):
            start, stop = 0, s._length
            if left:
                while start < stop and _is_space(s._data[start]):
                    start += 1
            if right:
                while start < stop and _is_space(s._data[stop - 1]):
                    stop -= 1
            return _part(s, start, stop - start)

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


# Python's strings: out of and into UTF-8


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
def _decode(view):
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
    return lambda s: _decode(s)


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


@intrinsic
def static_bytes(typingctx, value):
    """The address of a `bytes` if it is a literal's; else 0."""
    if not isinstance(value, types.Bytes):
        return None

    def codegen(context, builder, signature, args):
        made = context.make_helper(builder, signature.args[0], value=args[0])
        address = builder.ptrtoint(made.data, context.get_value_type(types.uint64))
        # A literal's bytes stand in the compiled code, so nothing owns them.
        unowned = cgutils.is_null(builder, made.meminfo)
        return builder.select(unowned, address, address.type(0))

    return types.uint64(value), codegen


@intrinsic
def static_ascii(typingctx, value):
    """The address of a Python string's bytes if they are ASCII and a literal's; else 0."""
    if not isinstance(value, types.UnicodeType):
        return None

    def codegen(context, builder, signature, args):
        made = cgutils.create_struct_proxy(types.unicode_type)(context, builder, value=args[0])
        address = builder.ptrtoint(made.data, context.get_value_type(types.uint64))
        # A literal's bytes stand in the compiled code, so nothing owns them.
        unowned = builder.and_(
            cgutils.is_null(builder, made.meminfo), cgutils.is_null(builder, made.parent)
        )
        static = builder.and_(unowned, cgutils.is_true(builder, made.is_ascii))
        return builder.select(static, address, address.type(0))

    return types.uint64(value), codegen
