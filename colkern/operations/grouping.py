"""Numbers for groups of rows: rows with equal values in all of some columns get the same number.

Values are compared as in SQL: nulls are one key, NaNs are one, and both zeros are one.

Columnar format 1.5: "Physical Memory Layout", every layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import Array
from colkern.dispatch import ENCODED, NESTED
from colkern.errors import UnsupportedError
from colkern.kernels import keys as kernels
from colkern.kernels import sorting
from colkern.layouts import LayoutKind, Role
from colkern.memory import HOST, Buffer
from colkern.operations.creation import nulls
from colkern.operations.devices import one_device
from colkern.operations.dictionaries import number_values
from colkern.operations.dictionary_tables import OPEN
from colkern.operations.encodings import on_values
from colkern.operations.lists import list_flatten, list_value_length
from colkern.operations.number_words import (
    KeyPart,
    NumberWords,
    key_parts,
    number_words,
    packed_keys,
)
from colkern.operations.operands import integers, validity_of
from colkern.operations.position_checks import require_valid
from colkern.operations.selection import take_positions
from colkern.operations.structs import struct_flatten
from colkern.operations.validity import compact_validity, with_nulls_of
from colkern.targets import Items, target_of


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


def key_groups(arrays: Sequence[Array], closed: int = OPEN) -> Groups:
    """The groups of equal rows of one or several columns of one length, on one device.

    Dictionary- and run-end encoded slots are compared by their values, lists and structs by what they
    hold.

    Args:
        closed: Only this many rows add groups; a later row that is in none of them gets any larger
            number.

    Raises:
        UnsupportedError: If there is a union in a column, or a nested column on a device.
        LimitExceededError: If there are 2^32 rows or elements, or more.
    """
    for array in arrays:
        require_valid(array)
    target = target_of(one_device(arrays))
    if len(arrays) == 1:
        (array,) = arrays
        if isinstance(array.type.storage, s.Struct) and not array.null_count:
            return key_groups(_fields(array), closed)
        return _numbered(_flat(array), closed)
    parts = [part for array in arrays for part in _parts(_codes(array))]
    first, *others = packed_keys(target, arrays[0].length, parts)
    groups = _numbered(integers(target, first), OPEN if others else closed)
    for words in others:
        more = _numbered(integers(target, words))
        pairs = [part for each in (groups, more) for part in _parts(integers(target, each.numbers))]
        groups = _numbered(integers(target, packed_keys(target, arrays[0].length, pairs)[0]))
    return groups


def first_rows(arrays: Sequence[Array]) -> Items:
    """The first row (int64[]) of each group of `key_groups`, for checked columns."""
    one_device(arrays)
    if len(arrays) == 1:
        return number_values(_flat(arrays[0]), True, None)[1]
    return key_groups(arrays).firsts


def _numbered(array: Array, closed: int = OPEN) -> Groups:
    numbers, firsts = number_values(array, True, np.uint32, closed=closed)
    return Groups(numbers, firsts)


def _parts(codes: Array) -> list[KeyPart]:
    numbers = number_words(codes)
    assert isinstance(numbers, NumberWords)
    return key_parts(codes, numbers)


def integer_codes(array: Array) -> Array:
    """An array that is null where a value is null: itself, or codes in place of encoded values."""
    return _flat(array) if isinstance(array.type.storage, (s.Null, *ENCODED)) else array


def _codes(array: Array) -> Array:
    """Integers of up to 64 bits that are equal if the values are; null if they are."""
    flat = _flat(array)
    words = number_words(flat)
    if words is not None and words.width == 1:
        return flat
    return _null_alike(array, number_values(flat, False, np.uint32)[0])


def _null_alike(array: Array, numbers: Items) -> Array:
    """Numbers as an array that is null where another one is."""
    type_ = s.uint64() if numbers.dtype.itemsize == 8 else s.uint32()
    return with_nulls_of(array, type_, [target_of(array.device).buffer(numbers)])


def _flat(array: Array) -> Array:
    """A column without an encoding or children, whose values are equal if their bytes are.

    It is null where a value is null.
    """
    storage = array.type.storage
    if isinstance(storage, s.Null):
        return nulls(array.length, s.uint32(), array.device)
    if isinstance(storage, ENCODED):
        return on_values(array, _codes)
    if isinstance(storage, NESTED):
        return _of_nested(array)
    numbers = number_words(array)
    target = target_of(array.device)
    if array.layout.kind is LayoutKind.BINARY_VIEW:
        keys = target.output(array.length, np.uint64)
        views = array.items(Role.VIEWS).view(np.int32)
        arguments = (views, *validity_of(array, target), keys)
        longest = target.reduce(kernels.short_view_keys, array.length, *arguments)
        return array if longest > kernels.SHORT else _null_alike(array, keys)
    if numbers is None or not numbers.infinity:
        return array
    keys = target.output(array.length, np.uint64)
    nan = (1 << numbers.bits) - 1
    floats = (numbers.words, numbers.minus, numbers.infinity, nan, 0)
    target.map(sorting.order_floats, array.length, *floats, keys)
    return _null_alike(array, keys)


def _of_nested(array: Array) -> Array:
    """As `_flat`: the group numbers of structs; for lists, the bytes of those of their elements."""
    if array.device != HOST:
        raise UnsupportedError(
            f"groups of {array.type} on {array.device}; colkern.to_host copies it"
        )
    if isinstance(array.type.storage, s.Union):
        raise UnsupportedError(f"groups of {array.type}: select_child gives the values of one kind")
    if isinstance(array.type.storage, s.Struct):
        return _null_alike(array, key_groups(_fields(array)).numbers)
    validity, numbers = compact_validity(array), key_groups([list_flatten(array)]).numbers
    sizes = list_value_length(array).items(Role.DATA).astype(np.int64) * numbers.itemsize
    if validity is not None:
        sizes *= np.unpackbits(validity.array, count=array.length, bitorder="little")
    offsets = np.zeros(array.length + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    buffers = [validity, Buffer.of_items(offsets), Buffer.of_items(numbers)]
    return Array(s.large_binary(), array.length, buffers)


def _fields(array: Array) -> Sequence[Array]:
    """The fields of structs; structs without a field are all alike."""
    return struct_flatten(array) or [nulls(array.length, s.null(), array.device)]
