"""Dictionary and run-end encoded columns as arguments: calls functions with their values, or all rows."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from colkern import schema as s
from colkern.arrays import Array
from colkern.layouts import Role
from colkern.operations import dictionary_decode, run_end_decode, take


def decoded_type(data_type: s.DataType) -> s.DataType:
    """Returns the type of the values of dictionary and run-end encoded columns; other types unchanged."""
    while isinstance(data_type.storage, s.Dictionary | s.RunEndEncoded):
        data_type = data_type.storage.value_type
    return data_type


def is_encoded(array: Array) -> bool:
    """Whether a column is dictionary or run-end encoded."""
    return isinstance(array.type.storage, s.Dictionary | s.RunEndEncoded)


def decoded(array: Array) -> Array:
    """The same values in a layout that is neither dictionary nor run-end encoded."""
    while is_encoded(array):
        if isinstance(array.type.storage, s.Dictionary):
            array = dictionary_decode(array)
        else:
            array = run_end_decode(array)
    return array


def over_values(array: Array, function: Callable[[Array], Array]) -> Array | None:
    """Applies a function to the values of an encoded column instead of to its rows.

    Returns:
        None if that is impossible or not less work, or if it raised: no slot may refer to the value that
        raised.
    """
    storage = array.type.storage
    if isinstance(storage, s.Dictionary):
        assert array.dictionary is not None
        if array.dictionary.length <= array.length:
            results = _quietly(function, array.dictionary)
            return None if results is None else take(results, _indices(array, storage))
    elif isinstance(storage, s.RunEndEncoded):
        run_ends, values = array.children
        if values.length <= array.length:
            results = _quietly(function, values)
            return None if results is None else _spread(array, run_ends, results)
    return None


def _quietly(function: Callable[[Array], Array], values: Array) -> Array | None:
    # Users' code may raise anything. Over all rows it raises again, and names the row.
    with contextlib.suppress(Exception):
        return function(values)
    return None


def _indices(array: Array, storage: s.Dictionary) -> Array:
    buffers = [array.buffer(Role.VALIDITY), array.buffer(Role.DATA)]
    nulls = array.known_null_count
    return Array(storage.index_type, array.length, buffers, offset=array.offset, null_count=nulls)


def _spread(array: Array, run_ends: Array, results: Array) -> Array:
    """Returns the result of each run for each of its slots."""
    run_end_type = run_ends.type
    assert isinstance(run_end_type, s.Int)
    kind = s.run_end_encoded(run_end_type, results.type)
    return run_end_decode(Array(kind, array.length, [], [run_ends, results], offset=array.offset))
