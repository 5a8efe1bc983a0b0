"""Numbers for groups of rows: rows with equal values in all of some columns get the same number.

Columnar format 1.5: "Physical Memory Layout", every layout.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import Array
from colkern.dispatch import ENCODED, NESTED, Dispatch, by_layout
from colkern.errors import UnsupportedError
from colkern.kernels import keys as kernels
from colkern.kernels import sorting
from colkern.layouts import LayoutKind, Role
from colkern.memory import Buffer
from colkern.operations.dictionaries import number_values
from colkern.operations.encodings import decoded, dictionary_parts
from colkern.operations.lists import list_flatten, list_value_length
from colkern.operations.number_words import number_words
from colkern.operations.operands import validity_of
from colkern.operations.position_checks import require_valid
from colkern.operations.runs import run_end_decode
from colkern.operations.selection import take, take_positions
from colkern.operations.structs import struct_flatten
from colkern.operations.validity import compact_validity
from colkern.targets import target_of

_NUMBER = np.dtype(np.uint32)


@dataclass(frozen=True, slots=True)
class Groups:
    """A number for the group of each row; groups are numbered in the order of their first rows.

    Args:
        numbers: The group of each row (uint32[n]).
        firsts: The first row of each group (int64[groups]).
    """

    numbers: NDArray[np.uint32]
    firsts: NDArray[np.int64]

    def keys(self, array: Array) -> Array:
        """The value of each group in one of the grouped columns; copied."""
        return take_positions(array, self.firsts)


def group_rows(arrays: Sequence[Array]) -> Groups:
    """The groups of equal rows of one or several columns of one length, in host memory.

    Null counts as a value, NaN as another, and 0.0 and -0.0 are the same. Dictionary- and run-end encoded
    slots are compared by their values, lists and structs by what they hold.

    Args:
        arrays: The columns, one at least.

    Raises:
        UnsupportedError: If there is a union in a column.
        LimitExceededError: If there are 2^32 rows or elements, or more.
    """
    first, *others = arrays
    groups = _groups_of(first)
    for array in others:
        groups = _pairs(groups, _groups_of(array))
    return groups


def comparable(array: Array) -> Array | None:
    """A column as values that are equal if their bytes are; None if it is encoded or nested."""
    if isinstance(array.type.storage, (s.Null, *ENCODED, *NESTED)):
        return None
    numbers = number_words(array)
    is_view = array.layout.kind is LayoutKind.BINARY_VIEW
    if not is_view and (numbers is None or not numbers.infinity):
        return array
    target = target_of(array.device)
    keys = target.output(array.length, np.uint64)
    buffers = (compact_validity(array), target.buffer(keys))
    if numbers is None:
        views = array.items(Role.VIEWS).view(np.int32)
        arguments = (views, *validity_of(array, target), keys)
        if target.reduce(kernels.short_view_keys, array.length, *arguments) > kernels.SHORT:
            return array
        return Array.of_valid(s.uint64(), array.length, buffers, array.null_count)
    nan = (1 << numbers.bits) - 1
    floats = (numbers.words, numbers.minus, numbers.infinity, nan, 0)
    target.map(sorting.order_floats, array.length, *floats, keys)
    return Array.of_valid(s.uint64(), array.length, buffers, array.null_count)


def _groups_of(array: Array) -> Groups:
    require_valid(array)
    return _GROUPS[array.layout.kind](array)


_GROUPS: Dispatch[LayoutKind, Callable[[Array], Groups]] = by_layout("group_rows")


@_GROUPS.of(LayoutKind.FIXED_SIZE, LayoutKind.BINARY, LayoutKind.BINARY_VIEW)
def _flat(array: Array) -> Groups:
    values = comparable(array)
    assert values is not None
    return _read_only(*number_values(values, True, _NUMBER))


def _read_only(numbers: NDArray[np.uint32], firsts: NDArray[np.int64]) -> Groups:
    numbers, firsts = numbers.view(), firsts.view()
    numbers.flags.writeable = firsts.flags.writeable = False
    return Groups(numbers, firsts)


def _pairs(outer: Groups, inner: Groups) -> Groups:
    """The groups of rows by two columns, from the groups of each."""
    if len(inner.firsts) <= 1:
        return outer
    if len(outer.firsts) <= 1:
        return inner
    pairs = outer.numbers.astype(np.uint64)
    pairs *= np.uint64(len(inner.firsts))
    pairs += inner.numbers
    return _flat(Array(s.uint64(), len(pairs), [None, Buffer.of_items(pairs)], null_count=0))


@_GROUPS.of(LayoutKind.NULL)
def _null(array: Array) -> Groups:
    return _read_only(np.zeros(array.length, _NUMBER), np.zeros(min(array.length, 1), np.int64))


@_GROUPS.of(LayoutKind.DICTIONARY)
def _dictionary(array: Array) -> Groups:
    indices, dictionary = dictionary_parts(array)
    # A null index and an index to a null are the same. Encoded values have their nulls below them.
    values = decoded(dictionary)
    numbers = Buffer.of_items(_groups_of(values).numbers)
    codes = Array(s.uint32(), values.length, [_shown(values), numbers])
    return _flat(take(codes, indices))


def _shown(array: Array) -> Buffer | None:
    """The bitmap of valid slots of an array that is not encoded; None if all are valid."""
    if array.layout.kind is LayoutKind.NULL:
        return Buffer(np.zeros((array.length + 7) // 8, np.uint8))
    return compact_validity(array)


@_GROUPS.of(LayoutKind.RUN_END_ENCODED)
def _run_ends(array: Array) -> Groups:
    return _groups_of(run_end_decode(array))


@_GROUPS.of(LayoutKind.STRUCT)
def _struct(array: Array) -> Groups:
    # A column of equal values, null where the struct is, that tells null structs from others.
    same = Buffer(np.zeros(array.length, np.uint8))
    nulls = Array(s.uint8(), array.length, [compact_validity(array), same])
    return group_rows([nulls, *struct_flatten(array)])


@_GROUPS.of(LayoutKind.LIST, LayoutKind.LIST_VIEW, LayoutKind.FIXED_SIZE_LIST)
def _lists(array: Array) -> Groups:
    """The groups of lists, by the bytes of the group numbers of their elements."""
    numbers = _groups_of(list_flatten(array)).numbers
    lengths = list_value_length(array)
    sizes = lengths.items(Role.DATA).astype(np.int64) * _NUMBER.itemsize
    if (validity := compact_validity(array)) is not None:
        sizes *= np.unpackbits(validity.array, count=array.length, bitorder="little")
    offsets = np.zeros(array.length + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    buffers = [validity, Buffer.of_items(offsets), Buffer.of_items(numbers)]
    return _flat(Array(s.large_binary(), array.length, buffers))


@_GROUPS.of(LayoutKind.SPARSE_UNION, LayoutKind.DENSE_UNION)
def _refuse(array: Array) -> Groups:
    raise UnsupportedError(f"groups of {array.type}: select_child gives the values of one kind")
