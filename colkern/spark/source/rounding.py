"""Units of time that are smaller than Spark's, rounded down as Spark rounds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from colkern import schema as s
from colkern.arrays import Array
from colkern.operations.casting.results import retyped
from colkern.operations.casting.times import rounded_down

_LARGER = {
    (s.Timestamp, "ns"): "us",
    (s.Duration, "ns"): "us",
    (s.Time, "ns"): "us",
    (s.Date, "ms"): "day",
}
"""The unit that Spark may have for one of a type."""

_LISTS = s.List | s.LargeList | s.ListView | s.LargeListView | s.FixedSizeList


def in_units_of(array: Array, wanted: s.DataType) -> Array:
    """An array whose times have the larger units that another type has for them, at any depth.

    Nothing else is converted; an array without such times is handed back as it is.

    Args:
        array: A checked array.
        wanted: What it is to be cast to.

    Raises:
        ValueError: If a number of the larger unit does not fit its type; names the slot.
    """
    storage: Any = array.type.storage
    larger = _LARGER.get((type(storage), getattr(storage, "unit", "")))
    if larger is not None:
        if getattr(wanted, "unit", None) != larger:
            return array
        return rounded_down(retyped(array, storage), replace(storage, unit=larger))
    parts = zip(array.children, _wanted_of_children(storage, wanted), strict=True)
    children = [in_units_of(child, part) for child, part in parts]
    dictionary = None if array.dictionary is None else in_units_of(array.dictionary, wanted)
    if dictionary is array.dictionary and all(map(_is, children, array.children)):
        return array
    made_type = _type_of_parts(storage, children, dictionary)
    return array.over(made_type, array.buffers, children, dictionary)


def _is(made: Array, before: Array) -> bool:
    return made is before


def _wanted_of_children(storage: s.DataType, wanted: s.DataType) -> Sequence[s.DataType]:
    """What each child is to become: for structs by name, as they are cast."""
    own = [field.type for field in storage.fields]
    if isinstance(storage, s.RunEndEncoded):
        return own[0], wanted
    if isinstance(storage, s.Struct):
        named = {field.name: field.type for field in wanted.fields}
        return [named.get(field.name, field.type) for field in storage.fields]
    if isinstance(storage, s.Map) and isinstance(wanted, s.Map):
        # Writers call keys and values what they like.
        entries = zip(own[0].fields, wanted.entries_field.type.fields, strict=True)
        return [s.struct([(ours.name, theirs.type) for ours, theirs in entries])]
    if isinstance(storage, _LISTS) and isinstance(wanted, s.List):
        return [wanted.value_type]
    return own


def _type_of_parts(
    storage: s.DataType, children: Sequence[Array], dictionary: Array | None
) -> s.DataType:
    """The type of an array with such children, or such a dictionary."""
    fields = [
        replace(field, type=child.type)
        for field, child in zip(storage.fields, children, strict=True)
    ]
    changes: dict[str, Any]
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
