"""Conversion between lists of Python objects and items or bytes, at the speed of C.

The loops (`colkern.cpu.object_loops`) read lists and classes directly in CPython's memory, and call its
functions for the rest. A function returns None if they do not apply: with another Python, few objects,
or values that are not of one class. The caller then continues in Python, which also raises the errors.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from collections.abc import Iterable
from functools import cache
from itertools import chain
from types import NoneType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colkern.memory import Items, allocate

Values: TypeAlias = list[Any]
"""Values as Python objects, as `Array.to_pylist` gives them."""

_FEW = 64
"""The least number of objects for which a loop pays."""

_MANY = 1 << 19
"""The number of objects for which loading Numba pays."""

_MOST_CLASSES = 16

_OBJECTS_OF_LIST = list.__basicsize__ - 2 * ctypes.sizeof(ctypes.c_ssize_t)
"""The offset in a list, in bytes, of the address of its objects: just before its capacity."""

CLASS = object.__basicsize__ - ctypes.sizeof(ctypes.c_void_p)
"""The offset in an object, in bytes, of the address of its class."""


@cache
def _is_known_layout() -> bool:
    """Whether this Python has objects and lists in memory as the loops read them."""
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return False
    probe = [object()]
    is_list = _word(_objects(probe)) == id(probe[0])
    return CLASS == 8 and is_list and _word(id(probe[0]) + CLASS) == id(object)


def _word(address: int) -> int:
    return ctypes.c_size_t.from_address(address).value


def _objects(values: Values) -> int:
    """The address of the array of a list's objects."""
    return _word(id(values) + _OBJECTS_OF_LIST)


def _is_worth(values: Values) -> bool:
    least = _FEW if "numba" in sys.modules else _MANY
    return len(values) >= least and _is_known_layout()


@cache
def _function(name: str) -> int:
    """The address of a function of CPython."""
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def classes_of(values: Values) -> set[type]:
    """The classes of the values."""
    if _is_worth(values):
        from colkern.cpu.object_loops import find_classes

        classes = np.empty(_MOST_CLASSES, np.int64)
        count = find_classes(_objects(values), len(values), classes)
        if count >= 0:
            return {ctypes.cast(a, ctypes.py_object).value for a in classes[:count].tolist()}
    return set(map(type, values))


def flags_of(values: Values, wanted: object) -> tuple[NDArray[np.uint8], int]:
    """1 for each value that is the wanted object, else 0 (uint8[]); and the number of ones."""
    flags = np.empty(len(values), np.uint8)
    if _is_worth(values):
        from colkern.cpu.object_loops import find_objects

        return flags, find_objects(_objects(values), len(values), id(wanted), flags)
    flags[:] = [value is wanted for value in values]
    return flags, int(np.count_nonzero(flags))


def _are_all(values: Values, of_class: type) -> bool:
    return _is_worth(values) and classes_of(values) <= {of_class, NoneType}


def booleans_of(values: Values) -> NDArray[np.uint8] | None:
    """1 for each True, else 0 (uint8[]); None if a value is no bool."""
    return flags_of(values, True)[0] if _are_all(values, bool) else None


def integers_of(values: Values) -> Items | None:
    """The integers (int64[]), 0 for None; None if a value is no int, or too large."""
    if not _are_all(values, int):
        return None
    from colkern.cpu.object_loops import read_integers

    count = len(values)
    items = np.empty(count + 1, np.int64)
    convert = _function("PyLong_AsLongLongAndOverflow")
    read = read_integers(_objects(values), count, id(None), convert, items)
    return items[:count] if read == count else None


def floats_of(values: Values) -> Items | None:
    """The floats (float64[]), 0 for None; None if a value is no float."""
    if not _are_all(values, float):
        return None
    from colkern.cpu.object_loops import read_floats

    items = np.empty(len(values), np.float64)
    read_floats(_objects(values), len(values), id(None), _function("PyFloat_AsDouble"), items)
    return items


def pieces_of(values: Values, of_class: type) -> tuple[Items, Items] | None:
    """The bytes and sizes of texts or byte strings; None if a value has another class, or no UTF-8."""
    if not _are_all(values, of_class):
        return None
    from colkern.cpu.object_loops import copy_pieces, find_bytes, find_texts

    count = len(values)
    places, sizes = np.empty(count, np.int64), np.empty(count, np.int64)
    find, names = (
        (find_texts, ("PyUnicode_AsUTF8AndSize", "PyErr_Clear"))
        if of_class is str
        else (find_bytes, ("PyBytes_AsString", "PyBytes_Size"))
    )
    if find(_objects(values), count, id(None), *map(_function, names), places, sizes) < count:
        return None
    data = allocate(int(sizes.sum()), np.uint8)
    copy_pieces(places, sizes, data)
    return data, sizes


def objects_of(data: Items, starts: Items, sizes: Items, of_class: type) -> Values | None:
    """`str` or `bytes` objects made from pieces of `data` (sizes: int64[]); None if one is not UTF-8."""
    values: Values = [None] * len(starts)
    if not _is_worth(values):
        return None
    from colkern.cpu.object_loops import make_objects

    make = "PyUnicode_FromStringAndSize" if of_class is str else "PyBytes_FromStringAndSize"
    functions = map(_function, (make, "PyList_SetItem", "PyErr_Clear"))
    count = make_objects(id(values), data, starts, sizes, *functions)
    return values if count == len(values) else None


def flattened(lists: list[Values]) -> tuple[Values, NDArray[np.int64]]:
    """The items of lists, one list after the other, and the length of each list."""
    if not _is_worth(lists):
        return list(chain.from_iterable(lists)), np.array(list(map(len, lists)), np.int64)
    from colkern.cpu.object_loops import find_sizes, flatten_lists

    sizes = np.empty(len(lists), np.int64)
    size = _function("PyList_Size")
    values: Values = [None] * find_sizes(_objects(lists), len(lists), id(None), size, sizes)
    functions = map(_function, ("Py_IncRef", "PyList_SetItem"))
    arguments = (_objects(lists), len(lists), sizes, _OBJECTS_OF_LIST)
    flatten_lists(*arguments, *functions, id(values))
    return values, sizes


def members_of(values: Values, names: Iterable[str]) -> list[Values] | None:
    """The values of dictionaries by name, None for missing ones; None if a value is no such dictionary."""
    if not _are_all(values, dict):
        return None
    from colkern.cpu.object_loops import find_members, find_sizes

    # Comparing keys may run their own code, which could change the caller's list.
    values, count = [*values], len(values)
    functions = [*map(_function, ("PyDict_GetItem", "Py_IncRef", "PyList_SetItem"))]
    columns: list[Values] = []
    hits = 0
    for name in names:
        column: Values = [None] * count
        arguments = (_objects(values), count, id(None), id(name), *functions)
        hits += find_members(*arguments, id(column))
        columns.append(column)
    sizes = np.empty(count, np.int64)
    size = _function("PyDict_Size")
    all_ = find_sizes(_objects(values), count, id(None), size, sizes)
    return columns if hits == all_ else None


def spread(values: Values, valid: NDArray[np.bool_]) -> Values:
    """A list with the values, in order, at the valid places, and None at the others."""
    # The objects are moved out of the given list, which nobody else may have.
    whole: Values = [None] * len(valid)
    if _is_worth(whole):
        from colkern.cpu.object_loops import spread_objects

        spread_objects(_objects(values), valid, id(None), _objects(whole))
        return whole
    for place, value in zip(np.flatnonzero(valid).tolist(), values, strict=True):
        whole[place] = value
    return whole


def parts_of_list(
    values: Values, firsts: NDArray[np.int64], stops: NDArray[np.int64]
) -> list[Values]:
    """`values[first:stop]` for each pair of bounds."""
    lists: Values = [None] * len(firsts)
    if _is_worth(lists):
        from colkern.cpu.object_loops import cut_lists

        functions = map(_function, ("PyList_GetSlice", "PyList_SetItem", "PyErr_Clear"))
        if cut_lists(id(values), firsts, stops, *functions, id(lists)) == len(lists):
            return lists
    return [values[a:b] for a, b in zip(firsts.tolist(), stops.tolist(), strict=True)]


def dictionaries_of(names: list[str], columns: list[Values]) -> list[dict[str, Any]]:
    """A dictionary for each row of the columns."""
    rows: Values = [None] * len(columns[0])
    if _is_worth(rows):
        from colkern.cpu.object_loops import make_dictionaries

        arguments = np.array([*map(id, names)]), np.array([*map(_objects, columns)]), len(rows)
        functions = map(
            _function, ("PyDict_New", "PyDict_SetItem", "PyList_SetItem", "PyErr_Clear")
        )
        if make_dictionaries(*arguments, *functions, id(rows)) == len(rows):
            return rows
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
