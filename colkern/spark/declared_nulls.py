"""Checks for nulls where a type allows none: Spark does not look for them, and its code fails on them."""

from __future__ import annotations

from collections.abc import Iterator

from colkern import schema as s
from colkern.arrays import Array
from colkern.operations import filter, list_flatten, struct_flatten
from colkern.operations.validity import compact_validity


def require_declared_nulls(array: Array, field: s.Field) -> None:
    """Raise ValueError if there is a null where the type allows none, at any depth."""
    if not field.nullable and array.null_count:
        raise ValueError(f"{field.name!r} is null, but declared as never null")
    for part, child in _parts(array, field.type):
        require_declared_nulls(child, part)


def _parts(array: Array, type_: s.DataType) -> Iterator[tuple[s.Field, Array]]:
    """Yields the fields of a nested type that may not be null at some depth, each with its values."""
    if not any(map(_leaves_out_nulls, type_.fields)):
        return
    if isinstance(type_, s.Struct):
        rows = array
        if array.null_count:
            # A null struct may have nulls in any field.
            valid = Array(s.bool_(), array.length, [None, compact_validity(array)], null_count=0)
            rows = filter(array, valid)
        yield from zip(type_.fields, struct_flatten(rows), strict=True)
    else:
        yield type_.fields[0], list_flatten(array)


def _leaves_out_nulls(field: s.Field) -> bool:
    return not field.nullable or any(map(_leaves_out_nulls, field.type.fields))
