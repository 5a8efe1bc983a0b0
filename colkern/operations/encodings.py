"""Operations slot by slot on encoded arrays: done on the values that there are, then spread out.

Columnar format 1.5: "Dictionary-encoded Layout", "Run-End Encoded Layout".
"""

from __future__ import annotations

from collections.abc import Callable

from colkern import schema as s
from colkern.arrays import Array
from colkern.layouts import LayoutKind
from colkern.operations.runs import run_end_decode
from colkern.operations.selection import take

Work = Callable[[Array], Array]


def on_values(array: Array, work: Work) -> Array:
    """What `work` makes of each slot, where the values may be dictionary- or run-end encoded.

    Args:
        array: A checked array.
        work: Takes an array without such an encoding, gives one of as many slots, null where it is.
    """
    spread = _SPREAD.get(array.layout.kind)
    return work(array) if spread is None else spread(array, work)


def decoded(array: Array) -> Array:
    """The array without such an encoding, copied if it has one."""
    return on_values(array, _same) if array.layout.kind in _SPREAD else array


def _same(values: Array) -> Array:
    return values


def dictionary_parts(array: Array) -> tuple[Array, Array]:
    """The indices of a dictionary-encoded array, as an array of their own, and its dictionary."""
    storage = array.type.storage
    assert isinstance(storage, s.Dictionary)
    assert array.dictionary is not None
    parts = ((), None, array.offset, array.known_null_count)
    return Array(storage.index_type, array.length, array.buffers, *parts), array.dictionary


def _of_dictionary(array: Array, work: Work) -> Array:
    indices, dictionary = dictionary_parts(array)
    return take(on_values(dictionary, work), indices)


def _of_runs(array: Array, work: Work) -> Array:
    assert isinstance(array.type.storage, s.RunEndEncoded)
    ends, values = array.children
    made = on_values(values, work)
    type_ = s.RunEndEncoded(array.type.storage.run_ends_field, s.field("values", made.type))
    encoded = Array(type_, array.length, [], [ends, made], offset=array.offset)
    return run_end_decode(encoded)


_SPREAD: dict[LayoutKind, Callable[[Array, Work], Array]] = {
    LayoutKind.DICTIONARY: _of_dictionary,
    LayoutKind.RUN_END_ENCODED: _of_runs,
}
