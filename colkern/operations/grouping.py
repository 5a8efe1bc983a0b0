"""Rows by their keys: a number for each group of rows that are the same in all of some columns.

Columnar format 1.5: "Physical Memory Layout", every layout.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.layouts import LayoutKind, Role
from colkern.memory import Buffer
from colkern.operations.dictionaries import number_values
from colkern.operations.lists import list_flatten, list_value_length
from colkern.operations.runs import run_end_decode
from colkern.operations.selection import take, take_positions
from colkern.operations.structs import struct_flatten
from colkern.operations.validation import require_valid
from colkern.operations.validity import compact_validity

_NUMBER = np.dtype(np.uint32)


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows that are the same have the same number, in the order of their first rows.

    Args:
        numbers: The group of each row (uint32[n]).
        firsts: The first row of each group (int64[groups]).
    """

    numbers: NDArray[np.uint32]
    firsts: NDArray[np.int64]

    def keys(self, array: Array) -> Array:
        """The value of each group in one of the columns; copied."""
        return take_positions(array, self.firsts)


def group_rows(arrays: Sequence[Array]) -> Groups:
    """The groups of rows of one or several columns of one length, in host memory.

    Null is a value. Values are the same as `dictionary_encode` has it: 0.0 and -0.0 are two, a NaN
    is the same as one with the same bits. Dictionary and run-end encoded values are their values;
    lists and structs are the same if what they hold is.

    Args:
        arrays: The columns, one at least.

    Raises:
        UnsupportedError: If there is a union in a column.
        LimitExceededError: If there are more than 2^32 rows or elements.
        InvalidArrowError: If an array points outside its own memory.
    """
    first, *others = arrays
    found = _groups_of(first)
    for array in others:
        found = _within(found, _groups_of(array))
    return found


def _groups_of(array: Array) -> Groups:
    require_valid(array)
    return _GROUPS.get(array.layout.kind, _flat)(array)


def _flat(array: Array) -> Groups:
    return Groups(*_read_only(number_values(array, True, _NUMBER)))


def _read_only(arrays: tuple[NDArray[Any], NDArray[Any]]) -> tuple[NDArray[Any], NDArray[Any]]:
    for made in arrays:
        made.flags.writeable = False
    return arrays


def _within(outer: Groups, inner: Groups) -> Groups:
    """The groups of pairs of groups."""
    if len(inner.firsts) <= 1:
        return outer
    if len(outer.firsts) <= 1:
        return inner
    pairs = outer.numbers.astype(np.uint64)
    pairs *= np.uint64(len(inner.firsts))
    pairs += inner.numbers
    return _flat(_array(s.uint64(), len(pairs), pairs))


def _array(type_: s.DataType, length: int, values: NDArray[Any]) -> Array:
    return Array(type_, length, [None, Buffer(values.view(np.uint8))], null_count=0)


def _null(array: Array) -> Groups:
    firsts = np.zeros(min(array.length, 1), np.int64)
    return Groups(*_read_only((np.zeros(array.length, _NUMBER), firsts)))


def _dictionary(array: Array) -> Groups:
    assert array.dictionary is not None
    assert isinstance(array.type.storage, s.Dictionary)
    values = array.dictionary
    # A null index and the index of a null are one value, so nulls are left out of both.
    numbers = Buffer(_groups_of(values).numbers.view(np.uint8))
    codes = Array(s.uint32(), values.length, [_shown(values), numbers])
    index_type = array.type.storage.index_type
    indices = Array(index_type, array.length, array.buffers, offset=array.offset)
    return _flat(take(codes, indices))


def _shown(array: Array) -> Buffer | None:
    """The bitmap of the slots that are not null, also of layouts without one."""
    if array.layout.kind is LayoutKind.NULL:
        return Buffer(np.zeros((array.length + 7) // 8, np.uint8))
    return compact_validity(array)


def _run_ends(array: Array) -> Groups:
    return _groups_of(run_end_decode(array))


def _struct(array: Array) -> Groups:
    columns = [_validity(array), *struct_flatten(array)]
    return group_rows(columns)


def _validity(array: Array) -> Array:
    """Null where the array is, else all the same."""
    same = Buffer(np.zeros(array.length, np.uint8))
    return Array(s.uint8(), array.length, [compact_validity(array), same])


def _lists(array: Array) -> Groups:
    """Lists as the bytes of their elements' numbers."""
    numbers = _groups_of(list_flatten(array)).numbers
    lengths = list_value_length(array)
    sizes = lengths.items(Role.DATA).astype(np.int64) * _NUMBER.itemsize
    if (validity := compact_validity(array)) is not None:
        sizes *= np.unpackbits(validity.array, count=array.length, bitorder="little")
    offsets = np.zeros(array.length + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    buffers = [validity, Buffer(offsets.view(np.uint8)), Buffer(numbers.view(np.uint8))]
    return _flat(Array(s.large_binary(), array.length, buffers))


def _refuse(array: Array) -> Groups:
    raise UnsupportedError(f"groups of {array.type}: select_child gives the values of one kind")


_GROUPS: dict[LayoutKind, Callable[[Array], Groups]] = {
    LayoutKind.NULL: _null,
    LayoutKind.DICTIONARY: _dictionary,
    LayoutKind.RUN_END_ENCODED: _run_ends,
    LayoutKind.STRUCT: _struct,
    LayoutKind.LIST: _lists,
    LayoutKind.LIST_VIEW: _lists,
    LayoutKind.FIXED_SIZE_LIST: _lists,
    LayoutKind.SPARSE_UNION: _refuse,
    LayoutKind.DENSE_UNION: _refuse,
}
