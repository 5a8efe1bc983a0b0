"""Groups of rows by keys as in SQL: nulls are one key, NaNs are one, and both zeros are one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.dispatch import ENCODED, NESTED
from colkern.errors import UnsupportedError
from colkern.memory import HOST
from colkern.operations.creation import nulls
from colkern.operations.devices import one_device
from colkern.operations.dictionaries import number_values
from colkern.operations.dictionary_tables import OPEN
from colkern.operations.encodings import on_values
from colkern.operations.grouping import Groups, comparable, group_rows
from colkern.operations.number_words import (
    KeyPart,
    NumberWords,
    key_parts,
    number_words,
    packed_keys,
)
from colkern.operations.operands import integers
from colkern.operations.validity import compact_validity
from colkern.targets import Items, target_of


def key_groups(arrays: Sequence[Array], closed: int = OPEN) -> Groups:
    """The groups of equal rows of checked columns of one length, on one device.

    As `group_rows`, but of any device, where nested columns are an `UnsupportedError`.

    Args:
        closed: Only this many rows add groups; a later row that is in none of them gets any larger
            number.
    """
    target = target_of(one_device(arrays))
    if len(arrays) == 1 and (flat := comparable(arrays[0])) is not None:
        return _numbered(flat, closed)
    parts = [part for array in arrays for part in _parts(array)]
    first, *others = packed_keys(target, arrays[0].length, parts)
    groups = _numbered(integers(target, first), OPEN if others else closed)
    for words in others:
        more = _numbered(integers(target, words))
        pairs = [part for each in (groups, more) for part in _parts(integers(target, each.numbers))]
        groups = _numbered(integers(target, packed_keys(target, arrays[0].length, pairs)[0]))
    return groups


def first_rows(arrays: Sequence[Array]) -> Items:
    """The first row (int64[]) of each group of `key_groups`."""
    one_device(arrays)
    if len(arrays) == 1 and (flat := comparable(arrays[0])) is not None:
        return number_values(flat, True, None)[1]
    return key_groups(arrays).firsts


def _numbered(array: Array, closed: int = OPEN) -> Groups:
    numbers, firsts = number_values(array, True, np.uint32, closed=closed)
    return Groups(numbers, firsts)


def _parts(array: Array) -> list[KeyPart]:
    if isinstance(array.type.storage, s.Null):
        return []
    if isinstance(array.type.storage, NESTED):
        return _parts(integers(target_of(HOST), _nested_numbers(array)))
    values = on_values(array, _codes)
    numbers = number_words(values)
    assert isinstance(numbers, NumberWords)
    return key_parts(values, numbers)


def _nested_numbers(array: Array) -> Items:
    if array.device != HOST:
        raise UnsupportedError(
            f"groups of {array.type} on {array.device}; colkern.to_host copies it"
        )
    return group_rows([array]).numbers


def integer_codes(array: Array) -> Array:
    """An array that is null where a value is null: itself, or codes in place of encoded values."""
    if isinstance(array.type.storage, s.Null):
        return nulls(array.length, s.uint32(), array.device)
    return on_values(array, _codes) if isinstance(array.type.storage, ENCODED) else array


def _codes(array: Array) -> Array:
    """Integers of up to 64 bits that are equal if the values are; null if they are."""
    if isinstance(array.type.storage, s.Null):
        return nulls(array.length, s.uint32(), array.device)
    flat = comparable(array)
    if flat is not None and (words := number_words(flat)) is not None and words.width == 1:
        return flat
    target = target_of(array.device)
    if flat is None:
        numbers = _nested_numbers(array)
    else:
        numbers = number_values(flat, False, np.uint32)[0]
    buffers = (compact_validity(array), target.buffer(numbers))
    return Array.of_valid(s.uint32(), array.length, buffers, array.null_count)
