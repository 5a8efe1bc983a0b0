"""The values behind the slots of dictionaries and runs, and how many slots are valid.

Columnar format 1.5: "Null count", "Dictionary-encoded Layout", "Run-End Encoded Layout".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import bit_words, bitmap_of, count_set_bits
from colkern.errors import UnsupportedError
from colkern.kernels import aggregates as kernels
from colkern.kernels import bitmaps
from colkern.layouts import LayoutKind, Role
from colkern.operations.casting.dispatch import convert
from colkern.operations.casting.results import retyped
from colkern.operations.dictionaries import dictionary_decode
from colkern.operations.nulling import null_outside
from colkern.operations.operands import validity_of
from colkern.operations.run_search import own_runs
from colkern.operations.selection import take
from colkern.operations.validation import require_valid
from colkern.targets import target_of

ENCODED = (s.Dictionary, s.RunEndEncoded)


def checked(array: Array) -> Array:
    """The array, checked, as its storage: an extension's values are summed and ordered as that."""
    require_valid(array)
    while isinstance(array.type, s.Extension):
        array = retyped(array, array.type.storage_type)
    return array


def value_type(array: Array) -> s.DataType:
    """The type of the values, whatever encodes them."""
    found = array.type.storage
    while isinstance(found, ENCODED):
        found = found.value_type.storage
    return found


def decoded(array: Array) -> Array:
    """The values of an encoded array, one a slot."""
    return convert(array, value_type(array), True)


def run_values(array: Array) -> tuple[Array, Any]:
    """The values of the runs that the array's slots are in, and how many slots each has (int64[])."""
    target = target_of(array.device)
    if array.length == 0:
        return array.children[1].slice(0, 0), target.allocate(0, np.int64)
    ends = array.children[0].items(Role.DATA)
    first, count = own_runs(array)
    lengths = target.output(count, np.int64)
    args = (ends, first, array.offset, array.length)
    target.map(kernels.lengths_of_runs, len(lengths), *args, lengths)
    return array.children[1].slice(first, count), target.frozen(lengths)


def used_values(array: Array) -> Array:
    """The values that valid slots point to, and nulls.

    They are the dictionary, null where no valid slot points to, or one value a slot of the array where
    these are fewer: runs make a long dictionary of a few bytes.
    """
    dictionary = array.dictionary
    assert dictionary is not None
    if dictionary.length > array.length:
        storage = array.type.storage
        assert isinstance(storage, s.Dictionary)
        indices = Array(
            storage.index_type,
            array.length,
            array.buffers,
            (),
            None,
            array.offset,
            array.null_count,
        )
        return take(dictionary, indices)
    target = target_of(array.device)
    used = target.allocate(dictionary.length, np.uint8)
    items, validity = array.items(Role.DATA), validity_of(array, target)
    target.map(kernels.mark_used, array.length, items, *validity, used)
    words = bit_words(target, dictionary.length)
    target.map(bitmaps.pack_bits, len(words), target.frozen(used), dictionary.length, words)
    mask = bitmap_of(target, words, dictionary.length)
    shown = count_set_bits(mask, 0, dictionary.length)
    if shown == dictionary.length:
        return dictionary
    return null_outside(dictionary, mask, dictionary.length - shown)


def enough(array: Array, skip_nulls: bool, min_count: int) -> bool:
    """Whether an aggregate of the array is not None."""
    valid = count_valid(array)
    return valid >= min_count and (skip_nulls or valid == array.length)


def count_valid(array: Array) -> int:
    """How many slots are not null, by the values that they stand for."""
    type_ = array.type.storage
    if isinstance(type_, s.RunEndEncoded):
        if isinstance(type_.value_type.storage, s.Dictionary | s.RunEndEncoded | s.Union):
            return count_valid(decoded(array))
        values, lengths = run_values(array)
        if values.layout.kind is LayoutKind.NULL:
            return 0
        if values.null_count == 0:
            return array.length
        target = target_of(array.device)
        validity = validity_of(values, target)
        return int(target.reduce(kernels.sum_integers, values.length, lengths, *validity))
    if isinstance(type_, s.Dictionary):
        dictionary = array.dictionary
        assert dictionary is not None
        if array.length == array.null_count:
            return 0
        # The dictionary's own bitmap is not all: its values may be encoded in turn.
        if count_valid(dictionary) == dictionary.length:
            return array.length - array.null_count
        return count_valid(dictionary_decode(array))
    if isinstance(type_, s.Union):
        raise UnsupportedError(
            f"count: {array.type} has no nulls of its own; count those of its children: "
            f"colkern.select_child(array, child)[1]"
        )
    return array.length - array.null_count


def valid_bits(array: Array) -> tuple[Any, int]:
    """The validity as kernels take it; none if nothing is null, which is counted once."""
    target = target_of(array.device)
    return validity_of(array, target) if array.null_count else (target.no_bits, 0)
