"""Casts to encoded arrays of those that are not: the values are cast, then encoded."""

from __future__ import annotations

from colkern import schema as s
from colkern.arrays import Array
from colkern.operations.dictionaries import dictionary_encode
from colkern.operations.run_encoding import run_end_encode


def to_dictionary(array: Array, type: s.DataType, safe: bool) -> Array:
    """Indices into a dictionary of the distinct values."""
    from colkern.operations.casting.dispatch import convert

    assert isinstance(type, s.Dictionary)
    values = convert(array, type.value_type, safe)
    # Then to the type itself, which may promise an order.
    return convert(dictionary_encode(values, index_type=type.index_type), type, safe)


def to_runs(array: Array, type: s.DataType, safe: bool) -> Array:
    """Runs of equal values."""
    from colkern.operations.casting.dispatch import convert

    assert isinstance(type, s.RunEndEncoded)
    values = convert(array, type.value_type, safe)
    encoded = run_end_encode(values, run_end_type=type.run_ends_field.type)
    return convert(encoded, type, safe)
