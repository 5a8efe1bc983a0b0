"""Compiled loops over Python objects, which call functions of CPython by their addresses.

A loop holds the GIL. Objects are given as addresses; the second word of an object, after its reference
count, is its class. Functions of CPython are arguments, since their addresses differ between processes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from colkern.cpu.compiler import jit
from colkern.cpu.python_objects import CLASS
from colkern.kernels.intrinsics import (
    Builder,
    Signature,
    Target,
    Type,
    Value,
    Values,
    get_word,
    instructions,
    pointer,
    set_word,
)
from colkern.memory import Items

_BYTE = ir.IntType(8)


def _calls(result: Type) -> Any:
    """An intrinsic that calls the function at an address, with a tuple of integers as arguments."""

    @instructions(
        lambda function, arguments: result(types.int64, types.UniTuple(types.int64, len(arguments)))
    )
    def call(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
        passed = cgutils.unpack_tuple(builder, args[1])
        kind = ir.FunctionType(context.get_value_type(result), [v.type for v in passed])
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), passed)

    return call


_call = _calls(types.int64)
_call_for_float = _calls(types.float64)
_call_for_nothing = _calls(types.void)


@instructions(types.none(types.int64, types.int64, types.int64))
def _copy(context: Target, builder: Builder, signature: Signature, args: Values) -> None:
    """Copies bytes from address to address."""
    places = [pointer(context, builder, place, _BYTE) for place in args[:2]]
    cgutils.raw_memcpy(builder, *places, args[2], 1)


def _loop(function: Callable[..., int]) -> Any:
    """A compiled loop that is called from Python, and holds the GIL."""
    return jit(function, outermost=True, nogil=False, _nrt=False)


@_loop
def find_classes(objects: int, count: int, classes: Items) -> int:
    """Write the addresses of the distinct classes of objects; returns their number, or -1 without room."""
    known = last = before = 0
    for i in range(count):
        of_class = get_word(get_word(objects + 8 * i) + CLASS)
        # The last two classes, since None among others would cause a branch miss each time.
        if (of_class == last) | (of_class == before):
            continue
        before, last = last, of_class
        place = 0
        while place < known and classes[place] != of_class:
            place += 1
        if place == known:
            if known == len(classes):
                return -1
            classes[known] = of_class
            known += 1
    return known


@_loop
def find_objects(objects: int, count: int, wanted: int, matches: Items) -> int:
    """Write whether each object is the wanted one (uint8[]); returns the number that are."""
    total = 0
    for i in range(count):
        matches[i] = get_word(objects + 8 * i) == wanted
        total += matches[i]
    return total


@_loop
def read_integers(objects: int, count: int, none: int, convert: int, items: Items) -> int:
    """Write integers (int64[]), 0 for None; returns the number read before one that needs over 64 bits."""
    # `objects` is the address of an array of addresses of `count` integers and None; `none` is the
    # address of None, `convert` that of `PyLong_AsLongLongAndOverflow`. `items` has one more item,
    # which is overwritten.
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
    """Write floats (float64[]), 0 for None. `convert` is the address of `PyFloat_AsDouble`."""
    for i in range(count):
        value = get_word(objects + 8 * i)
        items[i] = 0.0 if value == none else _call_for_float(convert, (value,))
    return count


@_loop
def find_texts(
    objects: int, count: int, none: int, utf8: int, clear: int, places: Items, sizes: Items
) -> int:
    """Write address and size (int64[]; 0 for None) of each text's UTF-8; how many before one without."""
    # `objects` is the address of an array of addresses of `count` texts and None; `none` is the
    # address of None, `utf8` that of `PyUnicode_AsUTF8AndSize`, `clear` that of `PyErr_Clear`.
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
    """As `find_texts`, for bytes, with the addresses of `PyBytes_AsString` and `PyBytes_Size`."""
    for i in range(count):
        value = get_word(objects + 8 * i)
        sizes[i] = 0
        if value != none:
            places[i] = _call(place, (value,))
            sizes[i] = _call(size, (value,))
    return count


@_loop
def copy_pieces(places: Items, sizes: Items, out: Items) -> int:
    """Write byte strings one after the other; returns the number of bytes."""
    end = start = out.ctypes.data
    for i in range(len(sizes)):
        _copy(end, places[i], sizes[i])
        end += sizes[i]
    return end - start


@_loop
def make_objects(
    values: int, data: Items, starts: Items, sizes: Items, make: int, put: int, clear: int
) -> int:
    """Put objects made from bytes into a list; returns the number before one that cannot be made."""
    # `values` is the address of the list, `make` that of `PyUnicode_FromStringAndSize` or
    # `PyBytes_FromStringAndSize`, `put` that of `PyList_SetItem`, `clear` that of `PyErr_Clear`.
    address = data.ctypes.data
    for i in range(len(starts)):
        item = _call(make, (address + starts[i], sizes[i]))
        if item == 0:
            _call_for_nothing(clear, ())
            return i
        _call(put, (values, i, item))
    return len(starts)


@_loop
def find_sizes(objects: int, count: int, none: int, size: int, sizes: Items) -> int:
    """Write the sizes of objects (int64[]), 0 for None; returns their sum."""
    # `size` is the address of `PyList_Size` or `PyDict_Size`.
    total = 0
    for i in range(count):
        value = get_word(objects + 8 * i)
        sizes[i] = 0 if value == none else _call(size, (value,))
        total += sizes[i]
    return total


@_loop
def flatten_lists(
    objects: int, count: int, sizes: Items, first: int, hold: int, put: int, values: int
) -> int:
    """Put the items of lists, whose sizes are given, into one list; returns their number."""
    # A list has the address of its items `first` bytes after its own. `hold` is the address of
    # `Py_IncRef`, and `put` that of `PyList_SetItem`.
    place = 0
    for i in range(count):
        if sizes[i]:
            items = get_word(get_word(objects + 8 * i) + first)
            for k in range(sizes[i]):
                item = get_word(items + 8 * k)
                _call_for_nothing(hold, (item,))
                _call(put, (values, place, item))
                place += 1
    return place


@_loop
def find_members(
    objects: int, count: int, none: int, name: int, get: int, hold: int, put: int, values: int
) -> int:
    """Put the values of dictionaries under a name into a list of None; returns how many have the name."""
    # `get` is the address of `PyDict_GetItem`, which hides exceptions; the others are as in
    # `flatten_lists`.
    count_known = 0
    for i in range(count):
        value = get_word(objects + 8 * i)
        if value != none:
            member = _call(get, (value, name))
            if member != 0:
                _call_for_nothing(hold, (member,))
                _call(put, (values, i, member))
                count_known += 1
    return count_known


@_loop
def spread_objects(objects: int, valid: Items, none: int, spread: int) -> int:
    """Swap objects, in order, with the None at valid places (bool[]) of a list."""
    # Swapping makes and loses no references. `spread` is the address of an array of addresses of
    # None, one for each place, and `none` that of None.
    place = 0
    for i in range(len(valid)):
        if valid[i]:
            set_word(spread + 8 * i, get_word(objects + 8 * place))
            set_word(objects + 8 * place, none)
            place += 1
    return place


@_loop
def cut_lists(
    values: int, firsts: Items, stops: Items, cut: int, put: int, clear: int, lists: int
) -> int:
    """Put `values[first:stop]` of a list into another list, for each pair (int64[])."""
    # Returns the number of lists before one for which there is no memory. `cut` is the address of
    # `PyList_GetSlice`.
    for i in range(len(firsts)):
        list_ = _call(cut, (values, firsts[i], stops[i]))
        if list_ == 0:
            _call_for_nothing(clear, ())
            return i
        _call(put, (lists, i, list_))
    return len(firsts)


@_loop
def make_dictionaries(
    names: Items, columns: Items, count: int, make: int, enter: int, put: int, clear: int, rows: int
) -> int:
    """Put a dictionary for each row into a list; returns the number before one without memory."""
    # `names` are addresses (int64[]), `columns` addresses of arrays of addresses of objects. `make`
    # and `enter` are the addresses of `PyDict_New` and `PyDict_SetItem`.
    for i in range(count):
        row = _call(make, ())
        failed = row == 0
        if not failed:
            # The list owns it from now on.
            _call(put, (rows, i, row))
            for k in range(len(names)):
                entry = (row, names[k], get_word(columns[k] + 8 * i))
                failed |= np.int32(_call(enter, entry)) != 0
        if failed:
            _call_for_nothing(clear, ())
            return i
    return count
