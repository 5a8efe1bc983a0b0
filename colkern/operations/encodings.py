"""Operations on encoded arrays: applied to the values, then spread out to the slots.

Columnar format 1.5: "Dictionary-encoded Layout", "Run-End Encoded Layout".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from colkern import schema as s
from colkern.arrays import Array
from colkern.layouts import LayoutKind
from colkern.operations.creation import nulls
from colkern.operations.operands import kept_type, value_type_of
from colkern.operations.run_search import own_runs
from colkern.operations.runs import run_end_decode, run_end_encoded
from colkern.operations.selection import take

Work: TypeAlias = Callable[[Array], Array]


def on_values(array: Array, work: Work) -> Array:
    """`work`, applied to the values of an array that may be encoded; the result has a value for each slot.

    Args:
        work: Takes an array without dictionary- or run-end encoding; returns one of the same length and
            with the same nulls.
    """
    if isinstance(value_type_of(array).storage, s.Null):
        # Values without bytes may claim any number of slots.
        return work(nulls(array.length, s.null(), array.device))
    if array.layout.kind is LayoutKind.DICTIONARY:
        indices, dictionary = dictionary_parts(array)
        return take(on_values(dictionary, work), indices)
    if array.layout.kind is LayoutKind.RUN_END_ENCODED:
        ends, values = array.children
        assert isinstance(ends.type, s.Int)
        results = on_values(values, work)
        return run_end_decode(run_end_encoded(array.length, ends, results, array.offset))
    return work(array)


def encoded_alike(array: Array, work: Work, decode: bool = False) -> Array:
    """`work`, applied to the values of a checked array; keeps runs, and the dictionary unless `decode`."""
    if array.layout.kind is LayoutKind.RUN_END_ENCODED:
        ends, values = array.children
        # Runs outside the array's own slots are left out.
        first, count = own_runs(array)
        result = encoded_alike(values.slice(first, count), work, decode)
        return run_end_encoded(array.length, ends.slice(first, count), result, array.offset)
    if array.layout.kind is LayoutKind.DICTIONARY and not decode:
        storage = array.type.storage
        assert isinstance(storage, s.Dictionary)
        assert array.dictionary is not None
        result = encoded_alike(array.dictionary, work)
        type_ = kept_type(s.dictionary, storage.index_type, result.type)
        known = array.known_null_count
        return Array.of_valid(
            type_, array.length, array.buffers, known, (), result, offset=array.offset
        )
    return work(decoded(array))


def decoded(array: Array) -> Array:
    """The array without dictionary- and run-end encoding; copied if it is encoded."""
    if array.layout.kind in (LayoutKind.DICTIONARY, LayoutKind.RUN_END_ENCODED):
        return on_values(array, lambda values: values)
    return array


def dictionary_parts(array: Array) -> tuple[Array, Array]:
    """The indices of a dictionary-encoded array as an array, and the dictionary."""
    storage = array.type.storage
    assert isinstance(storage, s.Dictionary)
    assert array.dictionary is not None
    parts = ((), None, array.offset, array.known_null_count)
    return Array(storage.index_type, array.length, array.buffers, *parts), array.dictionary
