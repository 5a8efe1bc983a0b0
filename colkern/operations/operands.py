"""Arrays in the form that kernels take."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, TypeAlias, TypeVar

import numpy as np

from colkern import schema as s
from colkern.arrays import Array, Column
from colkern.layouts import VIEW_BYTES, Layout, LayoutKind, Role, layout
from colkern.memory import HOST
from colkern.targets import Items, Target, target_of


def validity_of(array: Array, target: Target) -> tuple[Items, int]:
    """The validity bitmap in the form for kernels, and the bit of slot 0.

    The bitmap (uint8[]) has no bytes if the array has none, or is known to have no nulls.
    """
    bitmap = array.buffers[0] if array.layout.has_validity else None
    if bitmap is None or array._null_count == 0:
        return target.no_bits, 0
    return bitmap.array, array.offset


def integers(target: Target, items: Items) -> Array:
    """Integers of a target as an array of their type, without nulls; not copied."""
    return Array.of_valid(_INTEGERS[items.dtype], len(items), (None, target.buffer(items)), 0)


_INTEGERS = {
    np.dtype(name): getattr(s, name)() for name in ("uint8", "uint16", "uint32", "uint64", "int64")
}

Decision = TypeVar("Decision")

Plans: TypeAlias = dict[tuple[Layout, Layout], Decision]
"""Layouts of two arrays → what an operation does with such arrays, decided once.

A layout stands for the type of an array alone. Kept are types whose arrays have a second buffer, so that
nothing needs to be looked at but lengths, devices, and whether positions have been checked.
"""


def planned(plans: Plans[Decision], left: object, right: object) -> Decision | None:
    """The plan kept for the types of two arrays of one length on one device; None if there is none."""
    # An array whose buffers have not been asked for has another class.
    if not left.__class__ is right.__class__ is Array or left.length != right.length:
        return None
    plan = plans.get((left.layout, right.layout))
    if plan is not None:
        data, other = left.buffers[1], right.buffers[1]
        if data is not None and other is not None and data.device is other.device:
            return plan if left._checked and right._checked else None
    return None


def planned_runs(plans: Plans[Decision], left: object, right: object) -> Decision | None:
    """As `planned`, for run-end encoded arrays, which have no buffers of their own."""
    if left.__class__ is right.__class__ is Array and left.length == right.length:
        plan = plans.get((left.layout, right.layout))
        if plan is not None and left._checked and right._checked and left.device is right.device:
            return plan
    return None


_MOST_KEPT = 1 << 10
"""The most numbers whose items are kept, and the most types."""

_NUMBER_ITEMS: dict[object, Items] = {}
"""(maker of items, class and value of a Python number, layout) → its items on the host."""


def items_of_value(
    array: Array, value: object, make: Callable[[Array, object], Items], on_host: bool = False
) -> Items:
    """The items that `make` gives on the host for an array and a value, moved to the array's device.

    They stay where they are if `on_host`. Items of Python's numbers, times and decimals are cached on the
    host: making them takes longer than a kernel over few values.
    """
    target = target_of(array.device)
    # Not every NaN has a hash.
    kind = value.__class__
    is_kept = (
        kind in _PYTHON_NUMBERS
        or (kind in _TIMES and _is_plain_time(value))
        or (isinstance(value, Decimal) and value.is_finite())
    )
    if not is_kept or not (on_host or target.device is HOST):
        items = make(array, value)
        return items if on_host else target.table(items, items.dtype)
    # 0.0 and -0.0 are equal keys, but different items.
    key = make, kind, value if value or kind is int else str(value), array.layout
    kept = _NUMBER_ITEMS.get(key)
    if kept is None:
        if len(_NUMBER_ITEMS) >= _MOST_KEPT:
            _NUMBER_ITEMS.clear()
        kept = _NUMBER_ITEMS[key] = make(array, value)
    return kept


def planned_beside(
    plans: Plans[Decision], array: object, value: object, others: bool = False
) -> Decision | None:
    """The plan kept for arrays of that type and a Python number; with `others`, a time or text.

    None if there is none.
    """
    kind = value.__class__
    if array.__class__ is Array and (kind in _PYTHON_NUMBERS or (others and kind in _OTHERS)):
        return plans.get((array.layout, array.layout)) if array._checked else None
    return None


_PYTHON_NUMBERS = frozenset({int, float})

_TIMES = frozenset({date, datetime, time, timedelta})

_OTHERS = _TIMES | {str, bytes}


def _is_plain_time(value: object) -> bool:
    """Whether a time that is equal to another is the same one: without a zone, and not a second time."""
    return getattr(value, "tzinfo", None) is None and not getattr(value, "fold", 0)


Made = TypeVar("Made", bound=s.DataType)

_TYPES: dict[object, tuple[s.DataType, object]] = {}


def kept_type(make: Callable[..., Made], *parts: object) -> Made:
    """A type made of types, fields and numbers; cached by the identity of these objects."""
    key = make, *map(id, parts)
    kept: Any = _TYPES.get(key)
    if kept is None:
        if len(_TYPES) >= _MOST_KEPT:
            _TYPES.clear()
        # As long as these objects are kept, no others have their ids.
        kept = _TYPES[key] = make(*parts), parts
    return kept[0]  # type: ignore[no-any-return]


def is_side_by_side(array: Array) -> bool:
    """Whether the values of an array are fixed-size items in one buffer."""
    return array.layout.kind is LayoutKind.FIXED_SIZE


WORDS = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}
"""Unsigned words by their size in bytes."""


def unsigned(items: Items) -> Items:
    """Numbers of up to 8 bytes as unsigned words; not copied."""
    return items if items.dtype.kind == "u" else items.view(WORDS[items.dtype.itemsize])


def decimal_at(target: Target, words: Items, slot: int, width: int, bits: int) -> int:
    """The signed integer in a slot of decimals, from the words of `own_words`."""
    parts = (target.item(words, width * slot + k) << 64 * k for k in range(width))
    value = sum(parts)
    return value - (value >> bits - 1 << bits)


def offset_ends(*arrays: Array) -> list[tuple[int, int]]:
    """The first and the last offset of each array; waits once for all that are not known yet."""
    unknown = [array for array in arrays if not hasattr(array, "_offset_ends")]
    if unknown:
        target = target_of(unknown[0].device)
        ends = target.ends(*[array.items(Role.OFFSETS) for array in unknown])
        for array, own in zip(unknown, ends, strict=True):
            array._offset_ends = own
    return [array._offset_ends for array in arrays]


def buffer_sizes(array: Array) -> list[int]:
    """The size of each variadic data buffer."""
    return [0 if b is None else b.size for b in array.data_buffers]


def view_addresses(array: Array) -> list[int]:
    """The address of the array's own views, and the addresses as from `buffer_addresses`."""
    # The buffer keeps its address; asking NumPy takes longer than a kernel over few values.
    views = array.buffers[1]
    begin = views.address + VIEW_BYTES * array.offset if views is not None and array.length else 0
    return [*buffer_addresses(array), begin]


def buffer_addresses(array: Array) -> list[int]:
    """The address of each variadic data buffer; 0 for one without bytes."""
    return [b.address if b is not None and b.size else 0 for b in array.data_buffers]


# Numbers


_FLOATS = (float, np.floating)

_TEXT = (str, bytes, bytearray, memoryview, np.flexible)
"""Values that Python's `float` reads although they are no numbers."""

_MOST = float(np.finfo(np.float32).max)


def number_of(value: Any, type_: s.Int | s.FloatingPoint, name: str) -> np.number[Any]:
    """A Python number as an item of that type.

    Args:
        name: The argument's name in errors.

    Raises:
        TypeError: If the value is not a number of that kind.
        ValueError: If it does not fit.
    """
    dtype = layout(type_).buffers[1].dtype
    item: Callable[[float], np.number[Any]] = dtype.type
    if isinstance(value, (bool, np.bool_)):
        raise _no_number(value, "a number", type_, name)
    try:
        if isinstance(type_, s.Int):
            whole = value if value.__class__ is int else operator.index(value)
            bits = whole.bit_length() if whole >= 0 else (~whole).bit_length()
            if bits > type_.bit_width - type_.signed or (whole < 0 and not type_.signed):
                raise ValueError(f"{name}: {whole} does not fit {type_}")
            return item(whole)
        if isinstance(value, _TEXT) or (
            isinstance(value, np.ndarray) and value.dtype.kind not in "iuf"
        ):
            raise _no_number(value, "a number", type_, name)
        number = float(value)
    except OverflowError:
        raise ValueError(f"{name}: {value} does not fit {type_}") from None
    except TypeError:
        kind = "an integer" if isinstance(type_, s.Int) else "a number"
        raise _no_number(value, kind, type_, name) from None
    if dtype.itemsize == 4 and math.isfinite(number) and not -_MOST <= number <= _MOST:
        raise ValueError(f"{name}: {value} does not fit {type_}")
    return item(number)


def _no_number(
    value: object, expected: str, type_: s.Int | s.FloatingPoint, name: str
) -> TypeError:
    """The error for a value that is not a number of the type."""
    from colkern.builders.parts import wrong

    cast = "; cast the array to double first" if isinstance(value, _FLOATS) else ""
    return TypeError(f"{name}: {wrong(f'{expected} for {type_}', value)}{cast}")


def value_type_of(column: Column) -> s.DataType:
    """The storage type of a column's values, without dictionary- and run-end encoding."""
    # Arrays and chunked arrays, the only columns, have it.
    type_: s.DataType = column.type.storage  # type: ignore[attr-defined]
    while isinstance(type_, s.RunEndEncoded | s.Dictionary):
        type_ = type_.value_type.storage
    return type_
