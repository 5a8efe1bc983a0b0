"""Rules for values that no kernel depends on, so only `validate(full=True)` checks them.

There are rules of layouts (views repeat their value's first bytes) and rules of types (strings are
UTF-8).

Columnar format 1.5: the rules under each layout, and under each type in Schema.fbs.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, NamedTuple, get_args

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.dispatch import BINARY, ENCODED, TEXT, Dispatch, by_layout, by_type
from colkern.errors import InvalidArrowError
from colkern.kernels import numbers, selection, unions, views
from colkern.layouts import VIEW_INLINE_BYTES, LayoutKind, Role
from colkern.operations.operands import buffer_addresses, decimal_at, validity_of
from colkern.operations.position_checks import (
    Check,
    are_plain,
    ask_views,
    check_list_views_in,
    first_slot,
)
from colkern.operations.selection.words import own_words
from colkern.operations.text import ask_encoding, require_utf8
from colkern.operations.union_slots import slots_of
from colkern.targets import NOWHERE, target_of

TypeRule = Literal["dates", "decimals", "times", "utf8"]
"""A rule of some types that `validate` can be told to skip:

- `dates`: date64 values are whole days,
- `decimals`: values have no more digits than the type's precision,
- `times`: time32 and time64 values are at least 0 and less than 24 hours,
- `utf8`: strings are UTF-8.
"""


def skipped_rules(skip: Collection[TypeRule]) -> frozenset[str]:
    """The rules in `skip`.

    Raises:
        TypeError: If `skip` is a single string, or no collection.
        ValueError: If `skip` has an unknown name.
    """
    if isinstance(skip, str) or not isinstance(skip, Collection):
        raise TypeError(f"skip: expected a collection of rules, got {skip!r}")
    skipped: frozenset[str] = frozenset(skip)
    if skipped and (unknown := skipped.difference(get_args(TypeRule))):
        names = ", ".join(get_args(TypeRule))
        raise ValueError(f"skip: no rule is called {min(unknown)!r}; there are {names}")
    return skipped


def ask_values(array: Array, skipped: Collection[str]) -> None:
    """Start those checks of `check_values` that a device can run along with earlier ones."""
    if array.layout.kind is LayoutKind.BINARY_VIEW:
        ask_views(array)
    rule = _RULES.get(type(array.type.storage))
    if rule == "utf8" and rule not in skipped:
        ask_encoding(array)


def check_values(array: Array, skipped: Collection[str], place: str) -> None:
    """Check the rules of an array's layout, and those of its type that are not skipped."""
    check = _OF_LAYOUTS.get(array.layout.kind)
    if check is not None:
        check(array, place)
    type_ = type(array.type.storage)
    check = _OF_TYPES.get(type_)
    if check is not None and _RULES.get(type_) not in skipped:
        check(array, place)


_OF_LAYOUTS: Dispatch[LayoutKind, Check] = by_layout(
    "values of validate, by layout",
    LayoutKind.NULL,
    LayoutKind.FIXED_SIZE,
    LayoutKind.BINARY,
    LayoutKind.LIST,
    LayoutKind.FIXED_SIZE_LIST,
    LayoutKind.STRUCT,
    LayoutKind.SPARSE_UNION,
    LayoutKind.DICTIONARY,
    LayoutKind.RUN_END_ENCODED,
)

_OF_TYPES: Dispatch[type[s.DataType], Check] = by_type(
    "values of validate, by type",
    *(s.Null, s.Bool, s.Int, s.FloatingPoint, s.Timestamp, s.Duration, s.Interval),
    *(s.FixedSizeBinary, *BINARY, s.List, s.LargeList, s.ListView, s.LargeListView),
    *(s.FixedSizeList, s.Struct, s.Union, *ENCODED, s.Extension),
)

_RULES: dict[type[s.DataType], TypeRule] = {
    **dict.fromkeys(TEXT, "utf8"),
    s.Decimal: "decimals",
    s.Date: "dates",
    s.Time: "times",
}
"""The rule by which a check of `_OF_TYPES` can be skipped."""


# Rules of layouts


@_OF_LAYOUTS.of(LayoutKind.LIST_VIEW)
def _check_null_list_views(array: Array, place: str) -> None:
    """Check that null list-views are within the child, too; other layouts do not restrict nulls."""
    if array.null_count:
        every_slot = target_of(array.device).no_bits, 0
        check_list_views_in(array, every_slot, place)


@_OF_LAYOUTS.of(LayoutKind.DENSE_UNION)
def _check_union_order(array: Array, place: str) -> None:
    """Check that the offsets of a dense union into each child do not decrease."""
    storage = array.type.storage
    assert isinstance(storage, s.Union)
    target = target_of(array.device)
    type_ids, offsets = array.items(Role.TYPE_IDS), array.items(Role.OFFSETS)
    for code, field in zip(storage.type_codes, storage.fields, strict=True):
        slots = slots_of(target, type_ids, code)
        if len(slots) < 2:
            continue
        before = first_slot(array, unions.first_descending_slot, len(slots) - 1, slots, offsets)
        if before != NOWHERE:
            slot, earlier = target.item(slots, before + 1), target.item(slots, before)
            raise InvalidArrowError(
                f"slot {slot}: offset {target.item(offsets, slot)} into child {field.name!r} "
                f"after offset {target.item(offsets, earlier)}",
                place=place,
            )


@_OF_LAYOUTS.of(LayoutKind.BINARY_VIEW)
def _check_view_bytes(array: Array, place: str) -> None:
    """Check that views repeat the first bytes of their value, and have zeros after a short one."""
    if are_plain(array):
        return
    target = target_of(array.device)
    words = array.items(Role.VIEWS).view(np.int32)
    addresses = target.table(buffer_addresses(array), np.uint64)
    kernel = views.first_view_unlike_its_value
    slot = first_slot(array, kernel, array.length, words, *validity_of(array, target), addresses)
    if slot != NOWHERE:
        part = "prefix" if target.item(words, 4 * slot) > VIEW_INLINE_BYTES else "padding"
        raise InvalidArrowError(f"slot {slot}: the view's {part} is not its value's", place=place)


# Rules of types


@_OF_TYPES.of(s.Map)
def _check_map(array: Array, place: str) -> None:
    """Check that entries and keys of maps are not null."""
    entries = array.children[0]
    if entries.null_count:
        raise InvalidArrowError(f"{entries.null_count} map entries are null", place=place)
    keys = entries.children[0].slice(entries.offset, entries.length)
    if keys.null_count:
        raise InvalidArrowError(f"{keys.null_count} map keys are null", place=place)


_OF_TYPES.of(*TEXT)(require_utf8)


@_OF_TYPES.of(s.Decimal)
def _check_decimals(array: Array, place: str) -> None:
    storage = array.type.storage
    assert isinstance(storage, s.Decimal)
    bits, limit = storage.bit_width, 10**storage.precision - 1
    target = target_of(array.device)
    words, width = own_words(array, Role.DATA)
    # With the sign bit flipped, as the kernel compares them.
    ends = [value + (1 << bits - 1) for value in (-limit, limit)]
    tables = [
        target.table([end >> at & _WORD for at in range(0, bits, 64)], np.uint64) for end in ends
    ]
    sign = 1 << (bits - 1) % 64
    kernel = numbers.first_decimal_out_of_precision
    validity = validity_of(array, target)
    slot = first_slot(array, kernel, array.length, words, *validity, sign, *tables)
    if slot != NOWHERE:
        value = decimal_at(target, words, slot, width, bits)
        raise InvalidArrowError(
            f"slot {slot}: {value} has more than {storage.precision} digits", place=place
        )


_WORD = (1 << 64) - 1


class WrongNumber(NamedTuple):
    """A number that its type does not allow: the slot, the number with its unit, and the rule."""

    slot: int
    value: str
    why: str


def number_against_type(array: Array) -> WrongNumber | None:
    """The first number of a date64, time32 or time64 array that its type does not allow."""
    storage = array.type.storage
    limits: tuple[int, ...] = ()
    if isinstance(storage, s.Time):
        limit = s.SECONDS_A_DAY * s.PER_SECOND[storage.unit]
        kernel, limits, why = selection.first_index_out_of_bounds, (limit,), "no time of day"
    elif storage == s.date64():
        kernel, why = numbers.first_partial_day, "no whole days"
    else:
        return None
    target = target_of(array.device)
    values = array.items(Role.DATA)
    validity = validity_of(array, target)
    slot = first_slot(array, kernel, array.length, values, *validity, *limits)
    if slot == NOWHERE:
        return None
    return WrongNumber(slot, f"{target.item(values, slot)} {storage.unit}", why)


@_OF_TYPES.of(s.Date, s.Time)
def _check_number(array: Array, place: str) -> None:
    wrong = number_against_type(array)
    if wrong is not None:
        raise InvalidArrowError(f"slot {wrong.slot}: {wrong.value} are {wrong.why}", place=place)
