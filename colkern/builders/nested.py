"""Builders of nested, dictionary-encoded and run-end encoded values, and the table of all builders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import Array
from colkern.arrays.slots import Values
from colkern.builders import extension, fixed, parts
from colkern.cpu.python_objects import flattened, members_of
from colkern.dispatch import Dispatch, by_type
from colkern.layouts import Role, layout
from colkern.missing import is_null, with_nulls

MOST_ELEMENTS_UNDER_NULLS = 1 << 27
"""The most elements of fixed-size lists that `array` makes for null lists."""


class UnionValue(NamedTuple):
    """A union value that names the child that holds it."""

    type_code: int
    value: object


def build(type_: s.DataType, values: Values) -> Array:
    """Returns an array of that type; `BadValue` for a value that does not fit. Only None is null."""
    return _BUILDERS[type(type_)](type_, values)


def _child(type_: s.DataType, values: Values) -> Array:
    """Returns a child array from the nested values; first, nulls of pandas and NumPy become None."""
    return build(type_, with_nulls(values)[0])


def elements_of(value: object) -> Values:
    """Returns the elements of a list value: any iterable except text, bytes and mappings."""
    if isinstance(value, str | bytes | bytearray | Mapping) or not isinstance(value, Iterable):
        raise parts.wrong("a list", value)
    return list(value)


def _elements(type_: s.DataType, lists: list[Values]) -> tuple[Array, NDArray[np.int64]]:
    """Returns the child array of the elements, and the start of each list in it."""
    elements, sizes = flattened(lists)
    starts, element = parts.starts_of(sizes), type_.fields[0].type
    return parts.within_elements(starts, lambda: _child(element, elements)), starts


def build_list(type_: s.DataType, values: Values) -> Array:
    """Lists behind offsets."""
    child, starts = _elements(type_, parts.each(values, elements_of, [], list))
    ends = parts.offsets(layout(type_).spec(Role.OFFSETS).dtype, starts)
    return parts.with_validity(type_, values, [ends], [child])


def build_list_view(type_: s.DataType, values: Values) -> Array:
    """Lists behind offsets and sizes, laid out in order."""
    child, starts = _elements(type_, parts.each(values, elements_of, [], list))
    dtype = layout(type_).spec(Role.OFFSETS).dtype
    ends = parts.offsets(dtype, starts)
    sizes = parts.filled(dtype, np.diff(starts))
    return parts.with_validity(
        type_, values, [ends[: len(values) * dtype.itemsize], sizes], [child]
    )


def build_fixed_size_list(type_: s.FixedSizeList, values: Values) -> Array:
    """Lists of exactly the type's size; a null takes the same number of null elements."""

    def convert(value: object) -> Values:
        elements = elements_of(value)
        if len(elements) != type_.list_size:
            raise ValueError(f"expected {type_.list_size} elements, got {len(elements)}")
        return elements

    under_null = [None] * parts.filler(
        values, type_.list_size, MOST_ELEMENTS_UNDER_NULLS, "elements"
    )
    child, _ = _elements(type_, parts.each(values, convert, under_null))
    return parts.with_validity(type_, values, [], [child])


def build_map(type_: s.Map, values: Values) -> Array:
    """Mappings, or iterables of `(key, value)` pairs; keys are never null."""

    def convert(value: object) -> Values:
        pairs = list(value.items()) if isinstance(value, Mapping) else elements_of(value)
        for pair in pairs:
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise parts.wrong("a (key, value) pair", pair)
            if is_null(pair[0]):
                raise ValueError("a key of a map is never null")
        return [tuple(pair) for pair in pairs]

    child, starts = _elements(type_, parts.each(values, convert, []))
    ends = parts.offsets(layout(type_).spec(Role.OFFSETS).dtype, starts)
    return parts.with_validity(type_, values, [ends], [child])


def build_struct(type_: s.DataType, values: Values) -> Array:
    """Mappings of field names (a missing one is null), or tuples with one value a field."""
    names = [field.name for field in type_.fields]
    known = set(names)
    duplicates = len(known) != len(names)

    def convert(value: object) -> tuple[Any, ...]:
        # A dict is the usual mapping, and fast to recognise.
        if isinstance(value, dict | Mapping) and not duplicates:
            if not value.keys() <= known:
                unknown = value.keys() - known
                raise ValueError(f"no field named {sorted(map(repr, unknown))[0]} in {type_}")
            return tuple(map(value.get, names))
        if duplicates and isinstance(value, list) and [pair[0] for pair in value] == names:
            return tuple(pair[1] for pair in value)
        if not isinstance(value, tuple):
            raise parts.wrong("a mapping or a tuple", value)
        if len(value) != len(names):
            raise ValueError(f"expected {len(names)} members, got {len(value)}")
        return value

    columns = None if duplicates else members_of(values, names)
    if columns is None:
        rows = parts.each(values, convert, (None,) * len(names))
        columns = [[row[position] for row in rows] for position in range(len(names))]
    children = [*map(_column, type_.fields, columns)]
    return parts.with_validity(type_, values, [], children)


def _column(field: s.Field, values: Values) -> Array:
    return parts.within_field(field.name, lambda: _child(field.type, values))


def build_union(type_: s.Union, values: Values) -> Array:
    """A `UnionValue` goes to the child of its code, others to the first they fit, None to the first."""
    members = parts.each(values, lambda value: _member(type_, value), (0, None))
    type_ids = parts.filled(np.int8, [type_.type_codes[child] for child, _ in members])
    if type_.mode == "sparse":
        children = [
            _child(field.type, [value if own == child else None for own, value in members])
            for child, field in enumerate(type_.fields)
        ]
        return Array(type_, len(values), [type_ids], children)
    chosen: list[list[int]] = [[] for _ in type_.fields]
    places = []
    for slot, (child, _) in enumerate(members):
        places.append(len(chosen[child]))
        chosen[child].append(slot)
    children = [
        _chosen_column(field, members, slots)
        for field, slots in zip(type_.fields, chosen, strict=True)
    ]
    return Array(type_, len(values), [type_ids, parts.filled(np.int32, places)], children)


def _chosen_column(field: s.Field, members: list[tuple[int, Any]], slots: list[int]) -> Array:
    return parts.within_chosen(
        slots, lambda: _child(field.type, [members[slot][1] for slot in slots])
    )


def _member(type_: s.Union, value: object) -> tuple[int, Any]:
    """Returns the child that holds a value, and the value."""
    if isinstance(value, UnionValue):
        if value.type_code not in type_.type_codes:
            raise ValueError(f"type code {value.type_code} is none of {type_.type_codes}")
        return type_.type_codes.index(value.type_code), value.value
    for child, field in enumerate(type_.fields):
        if _fits(field.type, value):
            return child, value
    raise parts.wrong(f"a value of {type_}", value)


def _fits(type_: s.DataType, value: object) -> bool:
    try:
        build(type_, [value])
    except parts.BadValue:
        return False
    return True


def _key(value: object) -> object:
    """Returns a hashable key that is equal for values of one class that look the same: floats by their
    digits."""
    if isinstance(value, str | bytes | int):
        return type(value), value
    if isinstance(value, float | np.floating):
        return type(value), float(value).hex()
    if isinstance(value, Mapping):
        return dict, tuple((_key(name), _key(each_value)) for name, each_value in value.items())
    if isinstance(value, list | tuple | np.ndarray):
        return type(value), tuple(map(_key, value))
    return type(value), bytes(value) if isinstance(value, bytearray | memoryview) else value


def build_dictionary(type_: s.Dictionary, values: Values) -> Array:
    """Indices into the distinct values, in order of first appearance; nulls are in the indices."""
    numbers: dict[object, int] = {}
    firsts: list[int] = []
    indices: list[int | None] = []
    limit = np.iinfo(layout(type_).spec(Role.DATA).dtype).max
    for slot, value in enumerate(values):
        if value is None:
            indices.append(None)
            continue
        number = numbers.setdefault(_key(value), len(firsts))
        if number == len(firsts):
            if number > limit:
                message = f"{type_.index_type} indices tell {limit + 1} values apart, not more"
                raise parts.BadValue(ValueError, message, slot)
            firsts.append(slot)
        indices.append(number)
    dictionary = parts.within_chosen(
        firsts, lambda: build(type_.value_type, [values[slot] for slot in firsts])
    )
    stored = fixed.build_int(type_.index_type, indices)
    return Array(
        type_, len(values), stored.buffers, (), dictionary, null_count=stored.known_null_count
    )


def build_run_end_encoded(type_: s.RunEndEncoded, values: Values) -> Array:
    """Runs of neighbouring values that look the same, null or not."""
    keys = list(map(_key, values))
    firsts = [i for i, key in enumerate(keys) if i == 0 or key != keys[i - 1]]
    ends = [*firsts[1:], len(values)] if values else []
    run_ends = parts.within_chosen(firsts, lambda: fixed.build_int(type_.run_ends_field.type, ends))
    runs = parts.within_chosen(
        firsts, lambda: build(type_.value_type, [values[slot] for slot in firsts])
    )
    return Array(type_, len(values), [], [run_ends, runs])


_BUILDERS: Dispatch[type[s.DataType], Callable[[Any, Values], Array]] = by_type("builders")
_BUILDERS |= {
    s.Null: fixed.build_null,
    s.Bool: fixed.build_bool,
    s.Int: fixed.build_int,
    s.FloatingPoint: fixed.build_float,
    s.Decimal: fixed.build_decimal,
    s.Date: fixed.build_date,
    s.Time: fixed.build_time,
    s.Timestamp: fixed.build_timestamp,
    s.Duration: fixed.build_duration,
    s.Interval: fixed.build_interval,
    s.FixedSizeBinary: fixed.build_fixed_size_binary,
    s.Binary: fixed.build_variable,
    s.LargeBinary: fixed.build_variable,
    s.BinaryView: fixed.build_view,
    s.Utf8: fixed.build_variable,
    s.LargeUtf8: fixed.build_variable,
    s.Utf8View: fixed.build_view,
    s.List: build_list,
    s.LargeList: build_list,
    s.ListView: build_list_view,
    s.LargeListView: build_list_view,
    s.FixedSizeList: build_fixed_size_list,
    s.Map: build_map,
    s.Struct: build_struct,
    s.Union: build_union,
    s.Dictionary: build_dictionary,
    s.RunEndEncoded: build_run_end_encoded,
    s.Extension: lambda type_, values: extension.build_extension(type_, values, build),
}
