"""The values behind the slots of dictionaries and runs, and how many slots are valid.

Columnar format 1.5: "Null count", "Dictionary-encoded Layout", "Run-End Encoded Layout".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import count_set_bits, packed_bits
from colkern.dispatch import Dispatch, by_layout
from colkern.errors import UnsupportedError
from colkern.kernels import aggregates as kernels
from colkern.layouts import LayoutKind, Role
from colkern.operations.casting.dispatch import convert, retyped
from colkern.operations.dictionaries import dictionary_decode
from colkern.operations.encodings import dictionary_parts
from colkern.operations.operands import validity_of, value_type_of
from colkern.operations.run_search import own_runs
from colkern.operations.selection import take
from colkern.operations.validity import null_outside
from colkern.targets import Items, target_of


def stored(array: Array) -> Array:
    """A checked array as its storage: extension types are summed and ordered by their stored values."""
    while isinstance(array.type, s.Extension):
        array = retyped(array, array.type.storage_type)
    return array


def decoded(array: Array) -> Array:
    """The array without dictionary and run-end encoding; copied if it is encoded."""
    return convert(array, value_type_of(array), True)


def run_values(array: Array) -> tuple[Array, Items]:
    """The values of the runs within the array, and the number of its slots in each run (int64[])."""
    target = target_of(array.device)
    if array.length == 0:
        return array.children[1].slice(0, 0), target.allocate(0, np.int64)
    ends = array.children[0].items(Role.DATA)
    first, count = own_runs(array)
    lengths = target.output(count, np.int64)
    args = (ends, first, array.offset, array.length)
    target.map(kernels.lengths_of_runs, len(lengths), *args, lengths)
    return array.children[1].slice(first, count), lengths


def used_values(array: Array) -> Array:
    """The values that an encoded array uses, with nulls for the others.

    They are the dictionary, null in slots that no valid index points to; or one value for each slot of
    the array, if these are fewer: a run-end encoded dictionary can be long and yet have few bytes.
    """
    indices, dictionary = dictionary_parts(array)
    if dictionary.length > array.length:
        return take(dictionary, indices)
    target, items = target_of(array.device), array.items(Role.DATA)
    used = target.allocate(dictionary.length, np.uint8)
    target.map(kernels.mark_used, array.length, items, *validity_of(array, target), used)
    mask = packed_bits(target, used)
    shown = count_set_bits(mask, 0, dictionary.length)
    if shown == dictionary.length:
        return dictionary
    return null_outside(dictionary, mask, dictionary.length - shown)


def is_enough(array: Array, skip_nulls: bool, min_count: int) -> bool:
    """Whether an array has enough values for an aggregate, which else gives None."""
    nulls = array._null_count
    if nulls >= 0 and array.layout.has_validity and array.dictionary is None:
        # The usual case, without calls.
        valid = array.length - nulls
    else:
        valid = COUNT_VALID[array.layout.kind](array)
    return valid >= min_count and (skip_nulls or valid == array.length)


COUNT_VALID: Dispatch[LayoutKind, Callable[[Array], int]] = by_layout("count")
"""The number of slots that are not null, by the values that they stand for."""


@COUNT_VALID.of(
    LayoutKind.NULL,
    LayoutKind.FIXED_SIZE,
    LayoutKind.BINARY,
    LayoutKind.BINARY_VIEW,
    LayoutKind.LIST,
    LayoutKind.LIST_VIEW,
    LayoutKind.FIXED_SIZE_LIST,
    LayoutKind.STRUCT,
)
def _count_own(array: Array) -> int:
    return array.length - array.null_count


@COUNT_VALID.of(LayoutKind.RUN_END_ENCODED)
def _count_of_runs(array: Array) -> int:
    values = array.children[1]
    if isinstance(values.type.storage, (s.Dictionary, s.RunEndEncoded, s.Union)):
        values = decoded(array)
        return COUNT_VALID[values.layout.kind](values)
    if values.layout.kind is LayoutKind.NULL:
        return 0
    if values.null_count == 0:
        return array.length
    values, lengths = run_values(array)
    target = target_of(array.device)
    validity = validity_of(values, target)
    return target.reduce(kernels.sum_integers, values.length, lengths, *validity)


@COUNT_VALID.of(LayoutKind.DICTIONARY)
def _count_of_dictionary(array: Array) -> int:
    dictionary = array.dictionary
    assert dictionary is not None
    if array.length == array.null_count:
        return 0
    # The dictionary's own bitmap does not show all nulls: its values may be encoded in turn.
    if COUNT_VALID[dictionary.layout.kind](dictionary) == dictionary.length:
        return array.length - array.null_count
    values = dictionary_decode(array)
    return COUNT_VALID[values.layout.kind](values)


@COUNT_VALID.of(LayoutKind.SPARSE_UNION, LayoutKind.DENSE_UNION)
def _refuse(array: Array) -> int:
    raise UnsupportedError(
        f"count: {array.type} has no nulls of its own; count those of its children: "
        f"colkern.select_child(array, child)[1]"
    )
