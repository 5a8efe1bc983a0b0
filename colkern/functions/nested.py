"""Functions of lists, maps and structs. Those of lists agree with pyarrow and polars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Any, Literal

from colkern import schema as s
from colkern.arrays import Array
from colkern.builders import array as build_array
from colkern.functions.row_functions import (
    LISTS,
    MAPS,
    STRINGS,
    WITH_DECIMALS,
    element_wise,
    item_of,
    over_rows,
    row_function,
    same,
)
from colkern.operations.decimal_arithmetic import wide_type
from colkern.operations.own_slots import own_children
from colkern.operations.position_checks import require_valid
from colkern.operations.structs import make_struct, struct_field
from colkern.operations.validity import compact_validity, null_outside
from colkern.rows.encoded import decoded_type

_HEADING = "Lists, maps and structs"


def _number_of(*types: s.DataType) -> s.DataType:
    """The type of a list's items, without an encoding; raises `TypeError` unless they are numbers."""
    item = decoded_type(item_of(*types)).storage
    if not isinstance(item, (*WITH_DECIMALS.classes, s.Bool, s.Null)):
        raise TypeError(f"lists: expected lists of numbers, got {types[0]}")
    return item


def _sum_type(*types: s.DataType) -> s.DataType:
    item = _number_of(*types)
    if isinstance(item, s.Decimal):
        return wide_type(item)
    return s.int64() if isinstance(item, s.Int | s.Bool) else item


def _mean_type(*types: s.DataType) -> s.DataType:
    item = _number_of(*types)
    return item if isinstance(item, s.Decimal) else s.float64()


def _mean(lists: list[float | None]) -> float | None:
    total, count = 0.0, 0
    for item in lists:
        if item is not None:
            total += item
            count += 1
    return total / count if count else None


@lru_cache(maxsize=76)
def _mean_of_decimals(scale: int) -> Callable[..., object]:
    last = Decimal(1).scaleb(-scale)

    def list_mean(lists: list[Decimal | None]) -> Decimal | None:
        there = [item for item in lists if item is not None]
        if not there:
            return None
        return (sum(there, Decimal(0)) / len(there)).quantize(last, ROUND_HALF_UP)

    return list_mean


@row_function(_HEADING, _sum_type, LISTS)
def list_sum(lists: list[Any]) -> Any:
    """The sum of the items of each list: int64 for integers, else of their type. Nulls are skipped.

    Unlike `sum`, it does not wrap around. Sums of decimals have 38 digits, or 76 for decimal256.

    Args:
        lists: Lists of numbers or booleans.

    Raises:
        TypeError: If the array has no lists of numbers.
        OverflowError: If a sum of integers does not fit.
        ValueError: If a sum of decimals does not fit.
    """
    total = 0
    for item in lists:
        if item is not None:
            total += item
    return total


@element_wise(_HEADING)
def list_mean(lists: Array) -> Array:
    """The mean of the items of each list: float64, null for an empty list. Nulls are skipped.

    The mean of decimals has their type, and is rounded half away from zero.

    Raises:
        TypeError: If the array has no lists of numbers.
    """
    items = decoded_type(lists.type).storage.fields
    item = decoded_type(items[0].type).storage if items else None
    function = _mean_of_decimals(item.scale) if isinstance(item, s.Decimal) else _mean
    return over_rows(function, [lists], _mean_type, LISTS, name="list_mean")


@row_function(_HEADING, item_of, LISTS)
def list_min(lists: list[Any]) -> Any:
    """The least item of each list, null for an empty list. Nulls are skipped, and NaN beside numbers."""
    least = None
    for item in lists:
        # NaN is not equal to itself, and gives way to any number.
        if item is not None and (least is None or item < least or least != least):
            least = item
    return least


@row_function(_HEADING, item_of, LISTS)
def list_max(lists: list[Any]) -> Any:
    """The greatest item of each list, null for an empty list. Nulls and NaN are as for `list_min`."""
    most = None
    for item in lists:
        if item is not None and (most is None or item > most or most != most):
            most = item
    return most


def _contains(lists: list[Any], value: Any) -> bool:
    return any(item is not None and item == value for item in lists)


@element_wise(_HEADING)
def list_contains(lists: Array, value: Any) -> Array:
    """Whether each list contains a value: booleans; null for a null list.

    Args:
        value: A Python value, or an array with a value for each list.

    Raises:
        TypeError: If the array has no lists, or no value of their items' type is equal to the value.
    """

    def rule(*types: s.DataType) -> s.DataType:
        _require_comparable("value", value, item_of(*types))
        return s.bool_()

    return over_rows(_contains, [lists, value], rule, LISTS, name="list_contains")


def _require_comparable(name: str, value: object, type_: s.DataType) -> None:
    """Raise `TypeError` if a value, or an array's, is text or a number and those of a type are not."""
    own = value.type if isinstance(value, Array) else build_array([value]).type
    sides = [decoded_type(each).storage for each in (own, type_)]
    if s.Null not in map(type, sides):
        for alike in (STRINGS.classes, (*WITH_DECIMALS.classes, s.Bool)):
            if isinstance(sides[0], alike) != isinstance(sides[1], alike):
                raise TypeError(f"{name}: expected {type_}, got {own}")


_WITH_NAN_OR_NULLS = (s.FloatingPoint, s.Dictionary, s.RunEndEncoded)


def _sorted(lists: list[Any], descending: bool) -> list[Any]:
    return sorted([item for item in lists if item is not None], reverse=descending)


def _sorted_apart(lists: list[Any], descending: bool) -> list[Any]:
    there = [item for item in lists if item is not None and item == item]
    ordered: list[Any] = [*sorted(there, reverse=descending)]
    ordered += [item for item in lists if item is not None and item != item]
    return ordered + [None] * (len(lists) - len(ordered))


@element_wise(_HEADING)
def list_sort(lists: Array, *, descending: bool = False) -> Array:
    """The items of each list in ascending or descending order; NaN, and then nulls, at the end."""
    # What is encoded may have nulls without a count of them.
    is_plain = isinstance(lists.type.storage, LISTS.classes) and not (
        lists.children[0].null_count or isinstance(item_of(lists.type).storage, _WITH_NAN_OR_NULLS)
    )
    function = _sorted if is_plain else _sorted_apart
    return over_rows(function, [lists, descending], same, LISTS, name="list_sort")


def _of_any_size(*types: s.DataType) -> s.DataType:
    """The type of lists of any number of the items."""
    storage = types[0].storage
    return s.list_(storage.value_field) if isinstance(storage, s.FixedSizeList) else types[0]


@row_function(_HEADING, _of_any_size, LISTS)
def list_slice(lists: list[Any], start: int, stop: int | None = None, step: int = 1) -> list[Any]:
    """Items `start` to `stop` of each list, as Python slices lists; fixed-size lists become plain ones."""
    return lists[start:stop:step]


@row_function(_HEADING, _of_any_size, LISTS)
def list_unique(lists: list[Any]) -> list[Any]:
    """The different items of each list, null among them, in the order in which they first occur.

    As for `unique`, NaN counts as one item, and 0.0 and -0.0 are the same. Fixed-size lists become plain
    ones.
    """
    items: list[Any] = []
    is_nan_in = False
    for item in lists:
        # NaN is not equal to itself.
        if item == item or item is None:
            if item not in items:
                items.append(item)
        elif not is_nan_in:
            items.append(item)
            is_nan_in = True
    return items


def _matches(lists: list[Any], value: Any) -> int:
    return sum(1 for item in lists if item is not None and item == value)


@element_wise(_HEADING)
def list_count_matches(lists: Array, value: Any) -> Array:
    """The number of items of each list that are equal to a value: int64; see `list_contains`."""

    def rule(*types: s.DataType) -> s.DataType:
        _require_comparable("value", value, item_of(*types))
        return s.int64()

    return over_rows(_matches, [lists, value], rule, LISTS, name="list_count_matches")


Occurrence = Literal["first", "last", "all"]


def _first(maps: list[tuple[Any, Any]], key: Any) -> Any:
    for own, value in maps:
        if own == key:
            return value
    return None


def _last(maps: list[tuple[Any, Any]], key: Any) -> Any:
    for own, value in reversed(maps):
        if own == key:
            return value
    return None


def _all(maps: list[tuple[Any, Any]], key: Any) -> list[Any] | None:
    items = [value for own, value in maps if own == key]
    return items if items else None


def _entries(*types: s.DataType) -> Sequence[s.Field]:
    """The fields of a map's key and value."""
    storage = types[0].storage
    assert isinstance(storage, s.Map)
    return storage.entries_field.type.fields


@element_wise(_HEADING)
def map_lookup(maps: Array, query_key: Any, occurrence: Occurrence = "first") -> Array:
    """The value of a key in each map; null if the map does not have the key.

    Args:
        query_key: A Python value, or an array with a key for each map.
        occurrence: "first" or "last" if a key repeats, or "all" for a list of its values.

    Raises:
        TypeError: If the array has no maps, or no key of their type is equal to the key.
        ValueError: If `occurrence` is another word.
    """
    functions: dict[str, Any] = {"first": _first, "last": _last, "all": _all}
    if occurrence not in functions:
        raise ValueError(f"occurrence: expected 'first', 'last' or 'all', got {occurrence!r}")

    def rule(*types: s.DataType) -> s.DataType:
        _require_comparable("query_key", query_key, _entries(*types)[0].type)
        value = _entries(*types)[1].type
        return s.list_(value) if occurrence == "all" else value

    return over_rows(functions[occurrence], [maps, query_key], rule, MAPS, name="map_lookup")


@element_wise(_HEADING)
def map_keys(maps: Array) -> Array:
    """The keys of each map, as a list; not copied."""
    return _column_of_maps(maps, 0)


@element_wise(_HEADING)
def map_values(maps: Array) -> Array:
    """The values of each map, as a list; not copied, except bitmaps of entries with nulls."""
    return _column_of_maps(maps, 1)


def _column_of_maps(maps: Array, place: int) -> Array:
    require_valid(maps)
    if not isinstance(maps.type.storage, MAPS.classes):
        raise TypeError(f"maps: expected maps, got {maps.type}")
    field = _entries(maps.type)[place]
    return maps.over(s.list_(field), maps.buffers, [struct_field(maps.children[0], place)], None)


@element_wise(_HEADING)
def struct_with_field(array: Array, name: str, values: Array) -> Array:
    """Structs with a field added at the end, or with the field of that name replaced.

    Args:
        values: An array of the same length, on the same device.

    Raises:
        TypeError: If the array has no structs.
        ValueError: If lengths or devices differ.
    """
    require_valid(array)
    storage = array.type.storage
    if not isinstance(storage, s.Struct):
        raise TypeError(f"array: expected structs, got {array.type}")
    names = [field.name for field in storage.fields]
    fields = dict(zip(names, own_children(array), strict=True)) | {name: values}
    record = make_struct([*fields.values()], [*fields])
    visible = compact_validity(array)
    return record if visible is None else null_outside(record, visible, array.null_count)
