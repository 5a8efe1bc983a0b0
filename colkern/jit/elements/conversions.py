"""Elements out of and into Python's objects and Numba's own values."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import box, lower_cast, register_jitable
from numpy import int64, uint32

from colkern.cpu.compiler import compiled
from colkern.cpu.primitives import set_word
from colkern.jit.elements.memory import (
    arena_in,
    constant_text,
    element,
    keep,
    new_arena,
    raw,
    require_contiguous,
)
from colkern.jit.elements.types import OWNER, BytesType, MomentType, TextType
from colkern.jit.lowering import by_types
from colkern.kernels import row_lists, row_values, text_characters
from colkern.kernels.row_values import Text
from colkern.rows.constants import value_of_words
from colkern.rows.kinds import Kind

# Numba's own functions for its text. Their module takes longer to import than code from the cache
# takes to load, so it is imported when they are compiled in.


def _of_numba(name: str) -> Any:
    @by_types
    def chosen(*arguments):
        from numba.cpython import unicode

        numbas = getattr(unicode, name)
        return lambda *arguments: numbas(*arguments)

    return chosen


_empty_string = _of_numba("_empty_string")
_get_code_point = _of_numba("_get_code_point")
_set_code_point = _of_numba("_set_code_point")


_length = compiled(text_characters.length)
_code_at = compiled(text_characters.code_at)
_next_position = compiled(text_characters.next_position)
_put_character = compiled(text_characters.put_character)


@register_jitable
def _decoded(value):
    """A text as one of Numba's."""
    plain = raw(value)
    largest = int64(0)
    position = int64(0)
    while position < plain.size:
        largest = max(largest, _code_at(plain.address + position))
        position = _next_position(plain, position)
    kind = 1 if largest < 0x100 else 2 if largest < 0x10000 else 4
    string = _empty_string(kind, _length(plain), largest < 0x80)
    position = int64(0)
    k = 0
    while position < plain.size:
        _set_code_point(string, k, uint32(_code_at(plain.address + position)))
        position = _next_position(plain, position)
        k += 1
    keep(value)
    return string


@register_jitable
def utf8_length(value):
    """The number of bytes of a string of Numba's in UTF-8; ValueError for half a surrogate pair."""
    total = 0
    for i in range(len(value)):
        point = int64(_get_code_point(value, i))
        if 0xD800 <= point < 0xE000:
            raise ValueError("surrogates have no UTF-8")
        total += 1 + (point >= 0x80) + (point >= 0x800) + (point >= 0x10000)
    return total


@register_jitable
def write_utf8(value, address):
    """Write the UTF-8 of a string of Numba's to an address (int64)."""
    position = address
    for i in range(len(value)):
        position += _put_character(position, int64(_get_code_point(value, i)))


@register_jitable
def as_text(value):
    """A string of Numba's as a text, which owns its bytes."""
    size = int64(utf8_length(value))
    memory = new_arena(size)
    address = arena_in(memory) + 16
    write_utf8(value, address)
    return element(Text(address, size, size == len(value)), memory)


# Lists of Numba's as bodies take them

_new_list = compiled(row_lists.new_list)
_set_text = compiled(row_values.set_text)
_set_bytes = compiled(row_values.set_bytes)


def _listing(set_item: Any) -> Any:
    @register_jitable
    def listed(arena, items):
        """A list in the arena, which has room for it."""
        header = _new_list(arena, int64(2), int64(len(items)))
        if header != 0:
            for k in range(len(items)):
                set_item(header + 24 + 16 * k, raw(items[k]))
            set_word(header + 8, int64(len(items)))
        return header

    return listed


listed_texts = _listing(_set_text)
listed_bytes = _listing(_set_bytes)


# Casts


@lower_cast(types.StringLiteral, TextType)
def _cast_literal(context, builder, fromty, toty, value):
    text = context.make_helper(builder, toty)
    members = constant_text(context, builder, fromty.literal_value)
    text.address, text.size, text.ascii = members
    text.owner = context.get_constant_null(OWNER)
    return text._getvalue()


@lower_cast(types.UnicodeType, TextType)
def _cast_string(context, builder, fromty, toty, value):
    return context.compile_internal(builder, as_text, toty(fromty), (value,))


@lower_cast(TextType, types.UnicodeType)
def _cast_to_string(context, builder, fromty, toty, value):
    return context.compile_internal(builder, _decoded, toty(fromty), (value,))


@lower_cast(types.Bytes, BytesType)
def _cast_bytes(context, builder, fromty, toty, value):
    require_contiguous(fromty)
    plain = context.make_helper(builder, fromty, value=value)
    struct = context.make_helper(builder, toty)
    struct.address = builder.ptrtoint(plain.data, ir.IntType(64))
    struct.size, struct.owner = plain.nitems, plain.meminfo
    result = struct._getvalue()
    context.nrt.incref(builder, toty, result)
    return result


# Into Python's objects


@box(TextType)
@box(BytesType)
def _box_sequence(typ, value, c):
    struct = c.context.make_helper(c.builder, typ, value=value)
    pointer = c.builder.inttoptr(struct.address, cgutils.voidptr_t)
    if isinstance(typ, TextType):
        boxed = _decode_utf8(c, pointer, struct.size)
    else:
        boxed = c.pyapi.bytes_from_string_and_size(pointer, struct.size)
    c.context.nrt.decref(c.builder, typ, value)
    return boxed


def _decode_utf8(c: Any, pointer: Any, size: Any) -> Any:
    function_type = ir.FunctionType(
        c.pyapi.pyobj, [c.pyapi.cstring, c.pyapi.py_ssize_t, c.pyapi.cstring]
    )
    function = c.pyapi._get_function(function_type, name="PyUnicode_DecodeUTF8")
    return c.builder.call(function, [pointer, size, c.pyapi.cstring(None)])


def moment_of(kind: Kind, number: int) -> object:
    """The Python object for a number of days or microseconds."""
    return value_of_words(iter([number]), kind)


@box(MomentType)
def _box_moment(typ, value, c):
    function = c.pyapi.unserialize(c.pyapi.serialize_object(moment_of))
    kind = c.pyapi.unserialize(c.pyapi.serialize_object(typ.kind))
    number = c.pyapi.long_from_longlong(value)
    boxed = c.pyapi.call_function_objargs(function, (kind, number))
    for held in (function, kind, number):
        c.pyapi.decref(held)
    return boxed
