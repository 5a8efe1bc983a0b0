"""Converts columns of a file to Spark's types; finer units of time are rounded down as Spark does."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import replace

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.operations import cast, require_valid
from colkern.operations.casting.dispatch import retyped
from colkern.operations.casting.times import rounded_down
from colkern.spark.declared_nulls import require_declared_nulls


def converted(column: Array, field: s.Field, path: str) -> Array:
    """Returns a column in the type in which Spark takes it; not copied if it has that type already."""
    # Nanoseconds become microseconds, and milliseconds of dates become days, by rounding down.
    require_valid(column, field.name)
    try:
        result = cast(_in_units_of(column, field.type), field.type)
        require_declared_nulls(result, field)
    except UnsupportedError as error:
        raise TypeError(
            f"{path}: {field.name}: {column.type} does not become {field.type}, which the schema "
            f"asks for ({error})"
        ) from error
    except ValueError as error:
        raise ValueError(f"{path}: {field.name}: {error}") from error
    return result


_TIMES = s.Timestamp | s.Duration | s.Time | s.Date
_LISTS = s.List | s.LargeList | s.ListView | s.LargeListView | s.FixedSizeList


def _in_units_of(array: Array, wanted: s.DataType) -> Array:
    """Returns an array with its times, at any depth, rounded down to another type's units."""
    storage = array.type.storage
    if isinstance(storage, _TIMES):
        is_date = isinstance(storage, s.Date)
        larger = s.date32() if isinstance(storage, s.Date) else replace(storage, unit="us")
        is_smaller = storage.unit == ("ms" if is_date else "ns")
        if not is_smaller or getattr(wanted, "unit", None) != larger.unit:
            return array
        return rounded_down(retyped(array, storage), larger)
    parts = zip(array.children, _wanted_of_children(storage, wanted), strict=True)
    children = [_in_units_of(child, part) for child, part in parts]
    dictionary = None if array.dictionary is None else _in_units_of(array.dictionary, wanted)
    if dictionary is array.dictionary and all(map(operator.is_, children, array.children)):
        return array
    type_ = _type_of_parts(storage, children, dictionary)
    return array.over(type_, array.buffers, children, dictionary)


def _wanted_of_children(storage: s.DataType, wanted: s.DataType) -> Sequence[s.DataType]:
    """Returns the type to which each child is cast; children of structs are matched by name."""
    own = [field.type for field in storage.fields]
    if isinstance(storage, s.RunEndEncoded):
        return own[0], wanted
    if isinstance(storage, s.Struct):
        named = {field.name: field.type for field in wanted.fields}
        return [named.get(field.name, field.type) for field in storage.fields]
    if isinstance(storage, s.Map) and isinstance(wanted, s.Map):
        # The names of the fields of keys and values are up to the writer.
        entries = zip(own[0].fields, wanted.entries_field.type.fields, strict=True)
        return [s.struct([(ours.name, theirs.type) for ours, theirs in entries])]
    if isinstance(storage, _LISTS) and isinstance(wanted, s.List):
        return [wanted.value_type]
    return own


def _type_of_parts(
    storage: s.DataType, children: Sequence[Array], dictionary: Array | None
) -> s.DataType:
    """Returns the type of an array with given children or a given dictionary."""
    fields = [
        replace(field, type=child.type)
        for field, child in zip(storage.fields, children, strict=True)
    ]
    changes: dict[str, object]
    if dictionary is not None:
        changes = {"value_type": dictionary.type}
    elif isinstance(storage, s.RunEndEncoded):
        changes = {"values_field": fields[1]}
    elif isinstance(storage, s.Struct):
        changes = {"struct_fields": tuple(fields)}
    elif isinstance(storage, s.Map):
        changes = {"entries_field": fields[0]}
    else:
        changes = {"value_field": fields[0]}
    return replace(storage, **changes)
