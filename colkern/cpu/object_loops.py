"""Compiled loops over Python objects, which call functions of CPython by their addresses.

A loop keeps the GIL. Objects are addresses: the class of one stands behind its reference count, in the
second word. Functions of CPython are arguments, as their addresses differ from process to process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from colkern.cpu.compiler import jit
from colkern.cpu.python_objects import CLASS
from colkern.kernels.intrinsics import (
    Builder,
    Intrinsic,
    Signature,
    Target,
    Type,
    Typing,
    Value,
    Values,
    get_word,
    pointer,
)
from colkern.memory import Items

_BYTE = ir.IntType(8)


def _calls(result: Type) -> Any:
    """An intrinsic that calls the function at an address with a tuple of integers."""

    @intrinsic  # type: ignore[untyped-decorator]
    def call(typingctx: Typing, function: Type, arguments: Type) -> Intrinsic:
        given = types.UniTuple(types.int64, len(arguments))

        def generate(
            context: Target, builder: Builder, signature: Signature, args: Values
        ) -> Value:
            passed = cgutils.unpack_tuple(builder, args[1])
            kind = ir.FunctionType(context.get_value_type(result), [v.type for v in passed])
            return builder.call(builder.inttoptr(args[0], kind.as_pointer()), passed)

        return result(types.int64, given), generate

    return call


_call = _calls(types.int64)
_call_for_float = _calls(types.float64)
_call_for_nothing = _calls(types.void)


@intrinsic  # type: ignore[untyped-decorator]
def _copy(typingctx: Typing, target: Type, source: Type, size: Type) -> Intrinsic:
    """A copy of bytes from address to address."""

    def generate(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
        places = [pointer(context, builder, place, _BYTE) for place in args[:2]]
        cgutils.raw_memcpy(builder, *places, args[2], 1)
        return context.get_dummy_value()

    return types.none(types.int64, types.int64, types.int64), generate


def _loop(function: Callable[..., int]) -> Any:
    """A loop that is called from Python, and keeps the GIL."""
    return jit(function, outermost=True, nogil=False, _nrt=False)


@_loop
def find_classes(objects: int, count: int, found: Items) -> int:
    """Write the addresses of the classes of objects; how many they are, or -1 if there is no room."""
    known = last = 0
    for i in range(count):
        of_class = get_word(get_word(objects + 8 * i) + CLASS)
        if of_class == last:
            continue
        last = of_class
        place = 0
        while place < known and found[place] != of_class:
            place += 1
        if place == known:
            if known == len(found):
                return -1
            found[known] = of_class
            known += 1
    return known


@_loop
def find_objects(objects: int, count: int, wanted: int, found: Items) -> int:
    """Write whether each object is the wanted one (uint8[]); how many are."""
    total = 0
    for i in range(count):
        found[i] = get_word(objects + 8 * i) == wanted
        total += found[i]
    return total


@_loop
def read_integers(objects: int, count: int, none: int, convert: int, items: Items) -> int:
    """Write the integers (int64[]), 0 for None; how many were read before one without 64 bits.

    Args:
        objects: The address of the objects' addresses: integers and None.
        count: How many objects there are.
        none: The address of None.
        convert: The address of `PyLong_AsLongLongAndOverflow`.
        items: The integers, and an item more that is written over.
    """
    overflow = items.ctypes.data + 8 * count
    for i in range(count):
        value = get_word(objects + 8 * i)
        items[i] = 0
        if value != none:
            items[i] = _call(convert, (value, overflow))
            if items[i] == -1 and np.int32(get_word(overflow)) != 0:
                return i
    return count


@_loop
def read_floats(objects: int, count: int, none: int, convert: int, items: Items) -> int:
    """Write the floats (float64[]), 0 for None. `convert` is the address of `PyFloat_AsDouble`."""
    for i in range(count):
        value = get_word(objects + 8 * i)
        items[i] = 0.0 if value == none else _call_for_float(convert, (value,))
    return count


@_loop
def find_texts(
    objects: int, count: int, none: int, utf8: int, clear: int, places: Items, sizes: Items
) -> int:
    """Write where the UTF-8 of each text is, and its size; how many there are before one that has none.

    Args:
        objects: The address of the objects' addresses: texts and None.
        count: How many objects there are.
        none: The address of None.
        utf8: The address of `PyUnicode_AsUTF8AndSize`.
        clear: The address of `PyErr_Clear`.
        places: The addresses (int64[]).
        sizes: The sizes in bytes, 0 for None (int64[]).
    """
    size = sizes.ctypes.data
    for i in range(count):
        value = get_word(objects + 8 * i)
        sizes[i] = 0
        if value != none:
            places[i] = _call(utf8, (value, size + 8 * i))
            if places[i] == 0:
                _call_for_nothing(clear, ())
                return i
    return count


@_loop
def find_bytes(
    objects: int, count: int, none: int, place: int, size: int, places: Items, sizes: Items
) -> int:
    """As `find_texts`, for bytes: by the addresses of `PyBytes_AsString` and `PyBytes_Size`."""
    for i in range(count):
        value = get_word(objects + 8 * i)
        sizes[i] = 0
        if value != none:
            places[i] = _call(place, (value,))
            sizes[i] = _call(size, (value,))
    return count


@_loop
def copy_pieces(places: Items, sizes: Items, out: Items) -> int:
    """Write pieces of bytes one behind the other; how many bytes they have."""
    end = start = out.ctypes.data
    for i in range(len(sizes)):
        _copy(end, places[i], sizes[i])
        end += sizes[i]
    return end - start


@_loop
def make_objects(
    values: int, data: Items, starts: Items, sizes: Items, make: int, put: int, clear: int
) -> int:
    """Put an object made of bytes at each place of a list; how many before one that cannot be made.

    Args:
        values: The address of the list, which has as many items.
        data: The bytes (uint8[]).
        starts: The first byte of each object (int64[]).
        sizes: The bytes of each (int64[]).
        make: The address of `PyUnicode_FromStringAndSize` or `PyBytes_FromStringAndSize`.
        put: The address of `PyList_SetItem`.
        clear: The address of `PyErr_Clear`.
    """
    address = data.ctypes.data
    for i in range(len(starts)):
        made = _call(make, (address + starts[i], sizes[i]))
        if made == 0:
            _call_for_nothing(clear, ())
            return i
        _call(put, (values, i, made))
    return len(starts)
