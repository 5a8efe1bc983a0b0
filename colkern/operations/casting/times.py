"""Casts between units of time, dates, times of day and their integers."""

from __future__ import annotations

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.dispatch import TIMES
from colkern.errors import UnsupportedError
from colkern.kernels import casts
from colkern.layouts import Role, layout
from colkern.operations.casting.decimals import division
from colkern.operations.casting.dispatch import (
    Rounding,
    Safety,
    checked,
    converts,
    mapped,
    no_value,
    retyped,
)
from colkern.operations.casting.numbers import integers_to_integers, item
from colkern.operations.value_checks import number_against_type

_ALL = np.uint64((1 << 64) - 1)

_ANY = (-(1 << 63), (1 << 63) - 1)
"""The least and the greatest int64: bounds that no number is outside of."""

_UTC = ("UTC", "Etc/UTC", "GMT", "Etc/GMT", "Z", "+00:00", "-00:00")


def per_day(type: s.DataType) -> int:
    """The length of a day in the unit of a type."""
    unit = getattr(type, "unit")  # noqa: B009
    return 1 if unit == "day" else s.SECONDS_A_DAY * s.PER_SECOND[unit]


@converts([s.Timestamp], [s.Timestamp])
@converts([s.Duration], [s.Duration])
@converts([s.Time], [s.Time])
@converts([s.Date], [s.Date, s.Timestamp])
def to_unit(array: Array, type: s.DataType, safe: Safety) -> Array:
    """Timestamps, durations, times and dates in another unit.

    If `safe`, values must be whole numbers of that unit, or are rounded down to some, and must fit. If not,
    the rest is truncated towards zero, and numbers wrap around.
    """
    down = safe is Rounding.TIMES
    return _scaled(array, type, safe, lossy=down or not safe, down=down)


@converts([s.Timestamp], [s.Date])
def timestamps_to_dates(array: Array, type: s.DataType, safe: Safety) -> Array:
    """The dates of timestamps; the time of day is cut off.

    Raises:
        UnsupportedError: If they are in a timezone other than UTC.
    """
    _require_utc(array, type)
    if type == s.date32():
        return _scaled(array, type, safe, lossy=True, down=True)
    # In 64 bits, since not all days of date64 fit date32.
    days, _ = _divided(array, s.int64(), per_day(array.type), _ANY, lossy=True, down=True)
    return _in_range(array, type, safe, days, per_day(type))


@converts([s.Timestamp], [s.Time])
def timestamps_to_times(array: Array, type: s.DataType, safe: Safety) -> Array:
    """The times of day of timestamps."""
    _require_utc(array, type)
    source = array.type
    assert isinstance(source, s.Timestamp)
    divisor, magic, shift = division(per_day(source))
    whole = s.Time(source.unit)
    # 64 bits for any unit; a time of day in seconds or milliseconds has 32.
    args = (divisor, np.uint64(magic), shift)
    times = mapped(array, s.int64(), np.int64, casts.remainders, array.items(Role.DATA), *args)
    if whole.bit_width == 32:
        times = integers_to_integers(times, s.int32(), True)
    times = retyped(times, whole)
    return times if whole == type else to_unit(times, type, safe)


@converts(TIMES, [s.Int])
def as_integers(array: Array, type: s.DataType, safe: Safety) -> Array:
    """The integers that dates, times, timestamps and durations are stored as."""
    bits = 8 * layout(array.type).spec(Role.DATA).dtype.itemsize
    plain = retyped(array, s.Int(bits, True))
    return plain if plain.type == type else integers_to_integers(plain, type, safe)


@converts([s.Int], TIMES)
def from_integers(array: Array, type: s.DataType, safe: Safety) -> Array:
    """Integers as dates, times, timestamps and durations with that many of their unit.

    If `safe`, times of day must be less than a day, and date64 must be whole days.
    """
    plain = s.Int(8 * layout(type).spec(Role.DATA).dtype.itemsize, True)
    values = array if array.type == plain else integers_to_integers(array, plain, safe)
    values = retyped(values, type)
    wrong = number_against_type(values) if safe else None
    if wrong is not None:
        raise no_value(array, type, wrong.slot, wrong.value, wrong.why)
    return values


def _scaled(array: Array, type: s.DataType, safe: Safety, *, lossy: bool, down: bool) -> Array:
    """Numbers of one unit converted to another; if `safe`, they must fit.

    If `lossy`, divisions may leave a remainder; they round down if `down`, else towards 0.
    """
    source, result = per_day(array.type), per_day(type)
    if source == result and array.layout.buffers == layout(type).buffers:
        return retyped(array, type)
    if source <= result:
        return _in_range(array, type, safe, array, result // source)
    factor = source // result
    low, high = _ends(type)
    ends = (max(low * factor, _ANY[0]), min((high + 1) * factor - 1, _ANY[1])) if safe else _ANY
    values, slot = _divided(array, type, factor, ends, lossy=lossy, down=down)
    if slot is not None:
        value = item(array, slot)
        lost = ends[0] <= value <= ends[1]
        why = "part of it would be lost" if lost else "out of range"
        raise no_value(array, type, slot, f"{value} of {array.type}", why)
    return values


def _in_range(array: Array, type: s.DataType, safe: Safety, numbers: Array, factor: int) -> Array:
    """Each number times a factor, in another type; products wrap around unless `safe`.

    If `safe`, a product that does not fit raises `ValueError` with the value of `array`.
    """
    low, high = _ends(type)
    ends = (-(-low // factor), high // factor) if safe else _ANY
    dtype = layout(type).spec(Role.DATA).dtype
    kernel, items = casts.multiply_numbers, numbers.items(Role.DATA)
    values, slot = checked(numbers, type, dtype, kernel, items, factor, *ends)
    if slot is not None:
        value = f"{item(array, slot)} of {array.type}"
        raise no_value(array, type, slot, value, "out of range")
    return values


def _divided(
    array: Array, type: s.DataType, divisor: int, ends: tuple[int, int], *, lossy: bool, down: bool
) -> tuple[Array, int | None]:
    """The quotients, and the first valid slot that is beyond `ends` or, unless `lossy`, has a remainder."""
    divisor, magic, shift = division(divisor)
    whole = np.uint64(0) if lossy else _ALL
    args = (divisor, np.uint64(magic), shift, int(not down), whole, *ends)
    dtype = layout(type).spec(Role.DATA).dtype
    return checked(array, type, dtype, casts.divide_numbers, array.items(Role.DATA), *args)


def _ends(type: s.DataType) -> tuple[int, int]:
    """The least and the greatest number that fit the width of a type."""
    high = (1 << 8 * layout(type).spec(Role.DATA).dtype.itemsize - 1) - 1
    return -high - 1, high


def _require_utc(array: Array, type: s.DataType) -> None:
    zone = getattr(array.type, "timezone", None)
    if zone and zone not in _UTC:
        raise UnsupportedError(
            f"cast from {array.type} to {type}: dates and times of day of the timezone {zone} are "
            f"not known here; cast to a timestamp without one, or in UTC, for those of UTC"
        )
