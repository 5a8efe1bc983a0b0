"""Arithmetic on timestamps, dates, times of day and durations, by their integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.layouts import Role
from colkern.missing import is_null
from colkern.operations.casting import cast
from colkern.operations.casting.dispatch import retyped
from colkern.operations.encodings import decoded
from colkern.operations.position_checks import require_valid

TIMES = (s.Timestamp, s.Date, s.Time, s.Duration)
"""The types that have arithmetic with durations."""


class _Side(NamedTuple):
    """An operand: its type, and its values as an array, of one slot for a single value."""

    type: s.DataType
    array: Array
    is_value: bool


def combine_times(
    name: str, left: object, right: object, combine: Callable[[Any, Any], Array]
) -> Array:
    """The sum or difference of two operands, one of them an array of `TIMES`, the other perhaps a value.

    The result has the finer of both units, without loss. As in pyarrow, dates become timestamps, but
    the difference of two dates is a duration in seconds (of date64, in milliseconds). `combine` is the
    operation on int64.

    Raises:
        TypeError: If there is no such sum or difference.
        ValueError: If a time does not fit the finer unit, or lengths differ.
    """
    sides = [_side(value) for value in (left, right)]
    are_dates = all(isinstance(side.type, s.Date) for side in sides)
    units = [_unit(side.type, are_dates) for side in sides]
    unit = max(units, key=s.TIME_UNITS.index)
    sides = [_in_unit(side, unit) for side in sides]
    result = _result(name, unit, sides)
    if result is None:
        signs = {"add": "+", "subtract": "-"}
        types = f" {signs[name]} ".join(str(side.type) for side in sides)
        raise TypeError(
            f"{name}: {types} is no time; subtract times of one kind, or add a duration"
        )
    numbers = [_numbers(side) for side in sides]
    return retyped(combine(*numbers), result)


def scale_durations(
    name: str, left: object, right: object, combine: Callable[[Any, Any], Array]
) -> Array:
    """Durations times or by integers, or the quotient of two durations as float64; also for values.

    `combine` is the operation on 64-bit numbers, whose errors are raised. Raises `TypeError` if there
    is no such product or quotient.
    """
    sides = [_side(value) for value in (left, right)]
    spans = [isinstance(side.type, s.Duration) for side in sides]
    is_ratio = name == "divide" and all(spans)
    is_scaled = (spans[0] or name == "multiply") and not all(spans)
    if not (is_ratio or (is_scaled and all(isinstance(e.type, s.Duration | s.Int) for e in sides))):
        types = " and ".join(str(side.type) for side in sides)
        raise TypeError(
            f"{name}: no {name} of {types}; durations are multiplied and divided by integers"
        )
    if is_ratio:
        unit = max((_unit(side.type, False) for side in sides), key=s.TIME_UNITS.index)
        sides = [_in_unit(side, unit) for side in sides]

    def number(side: _Side) -> Array | float:
        is_span = isinstance(side.type, s.Duration)
        plain = retyped(side.array, s.int64()) if is_span else cast(side.array, s.int64())
        if is_ratio:
            plain = cast(plain, s.float64(), safe=False)
        return plain.to_pylist()[0] if side.is_value else plain

    result = combine(*map(number, sides))
    return result if is_ratio else retyped(result, sides[spans.index(True)].type)


def is_duration(value: object) -> bool:
    """Whether a value of a class of `datetime` or NumPy is a duration, and not null."""
    return isinstance(value, timedelta | np.timedelta64) and not is_null(value)


def on_ticks(durations: Array, function: Callable[[Array], Array]) -> Array:
    """A function of integers, applied to durations."""
    return retyped(function(retyped(durations, s.int64())), durations.type)


def _side(value: object) -> _Side:
    if isinstance(value, Array):
        require_valid(value)
        plain = decoded(value)
        return _Side(plain.type.storage, plain, False)
    # Imported late: arrays need no builder.
    from colkern.builders import array

    if isinstance(value, np.timedelta64) and np.datetime_data(value)[0] in "WDhm":
        value = value.astype("timedelta64[s]")
    one = array([value])
    return _Side(one.type.storage, one, True)


def _unit(type_: s.DataType, are_dates: bool) -> s.TimeUnit:
    if isinstance(type_, s.Date):
        return "ms" if type_.unit == "ms" and are_dates else "s"
    return getattr(type_, "unit", "s")


def _in_unit(side: _Side, unit: s.TimeUnit) -> _Side:
    """The side in a unit; dates become timestamps."""
    type_: s.DataType = side.type
    if isinstance(type_, s.Date):
        type_ = s.timestamp(unit)
    elif isinstance(type_, s.Timestamp):
        type_ = s.timestamp(unit, type_.timezone)
    elif isinstance(type_, s.Time):
        type_ = s.time32(unit) if unit in ("s", "ms") else s.time64(unit)
    elif isinstance(type_, s.Duration):
        type_ = s.duration(unit)
    return _Side(type_, cast(side.array, type_), side.is_value)


def _result(name: str, unit: s.TimeUnit, sides: Sequence[_Side]) -> s.DataType | None:
    """The type of a sum or difference; None if there is none."""
    left, right = (side.type for side in sides)
    span = s.duration(unit)
    if right == span and (left == span or isinstance(left, s.Timestamp)):
        return left
    if name == "add":
        return right if left == span and isinstance(right, s.Timestamp) else None
    if isinstance(left, s.Timestamp) and isinstance(right, s.Timestamp):
        return span if bool(left.timezone) == bool(right.timezone) else None
    return span if isinstance(left, s.Time) and left == right else None


def _numbers(side: _Side) -> Array | int:
    wide = side.array.layout.spec(Role.DATA).dtype.itemsize == 8
    numbers = retyped(side.array, s.int64() if wide else s.int32())
    if side.is_value:
        number: int = numbers.to_pylist()[0]
        return number
    return numbers if wide else cast(numbers, s.int64())
