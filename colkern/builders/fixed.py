"""Builders of values of a fixed size, and of bytes and text."""

from __future__ import annotations

import operator
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.arrays.slots import Values
from colkern.bitmaps import packed
from colkern.builders.parts import (
    BadValue,
    each,
    filled,
    filler,
    first_where,
    joined,
    offsets,
    starts_of,
    with_validity,
    wrong,
)
from colkern.cpu.python_objects import booleans_of, classes_of, floats_of, integers_of, pieces_of
from colkern.layouts import VIEW_INLINE_BYTES, Role, layout
from colkern.memory import Buffer, DType, Items

MOST_BYTES_UNDER_NULLS = 1 << 30
"""The most bytes of fixed-size binary that `array` makes for null values."""

NANOS = {
    "W": 604_800_000_000_000,
    "D": 86_400_000_000_000,
    "h": 3_600_000_000_000,
    "m": 60_000_000_000,
    "s": 1_000_000_000,
    "ms": 1_000_000,
    "us": 1_000,
    "ns": 1,
}
_EPOCH_DAY = date(1970, 1, 1)
_EPOCH = datetime(1970, 1, 1)
_EPOCH_UTC = datetime(1970, 1, 1, tzinfo=UTC)


def build_null(type_: s.DataType, values: Values) -> Array:
    """Values that are all None."""
    if classes_of(values) - {type(None)}:
        index = first_where(values, lambda value: value is not None)
        raise BadValue(TypeError, str(wrong("None", values[index])), index)
    return Array(type_, len(values), [], null_count=len(values))


def build_bool(type_: s.DataType, values: Values) -> Array:
    """Python's and NumPy's booleans."""
    bits = booleans_of(values)
    if bits is None:
        bits = np.array(each(values, _bool, False, bool), np.bool_)
    return with_validity(type_, values, [Buffer(packed(bits))])


def _bool(value: object) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise wrong("bool", value)
    return bool(value)


def _integer(value: object, kind: str = "an integer") -> int:
    if isinstance(value, bool | np.bool_ | np.timedelta64) or not hasattr(value, "__index__"):
        raise wrong(kind, value)
    return operator.index(value)


def _fixed(type_: s.DataType, values: Values, items: list[Any] | Items) -> Array:
    """Returns an array with the items for the values."""
    return with_validity(type_, values, [filled(layout(type_).spec(Role.DATA).dtype, items)])


def _integers(
    type_: s.DataType, values: Values, convert: Callable[[object], int], as_is: type | None = None
) -> Array:
    """Returns an array with the integers for the values, all within the range of the type."""
    bounds = np.iinfo(layout(type_).spec(Role.DATA).dtype)
    low, high = int(bounds.min), int(bounds.max)
    items = integers_of(values) if as_is is int else None
    if items is not None and low <= items.min() and items.max() <= high:
        return _fixed(type_, values, items)
    numbers = each(values, convert, 0, as_is)
    if numbers and not (low <= min(numbers) and max(numbers) <= high):
        index = first_where(numbers, lambda number: not low <= number <= high)
        message = f"{numbers[index]} is outside the range of {type_}, {low} to {high}"
        raise BadValue(ValueError, message, index)
    return _fixed(type_, values, numbers)


def build_int(type_: s.DataType, values: Values) -> Array:
    """Integers of any class but bool; floats are refused."""
    return _integers(type_, values, _integer, int)


def build_float(type_: s.FloatingPoint, values: Values) -> Array:
    """Floats, rounded to the type; integers only if the type holds them exactly."""
    kind = layout(type_).spec(Role.DATA).dtype.type

    def convert(value: object) -> float:
        if isinstance(value, float | np.floating):
            return float(value)
        number = _integer(value, "a number")
        with np.errstate(over="ignore"):
            rounded = float(kind(number))
        if not np.isfinite(rounded) or int(rounded) != number:
            raise ValueError(f"{type_} does not hold the integer {number} exactly")
        return rounded

    items = floats_of(values)
    with np.errstate(over="ignore"):
        return _fixed(type_, values, each(values, convert, 0.0, float) if items is None else items)


def build_decimal(type_: s.Decimal, values: Values) -> Array:
    """`decimal.Decimal` and integers that fit precision and scale without rounding."""
    from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, Inexact

    exact = Context(prec=80, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[Inexact])
    limit = 10**type_.precision

    def convert(value: object) -> int:
        number = (
            value
            if isinstance(value, Decimal)
            else Decimal(_integer(value, "a Decimal or an integer"))
        )
        if not number.is_finite():
            raise ValueError(f"{number} is no finite decimal")
        # A zero of any exponent is zero; other numbers are refused before large exponents cost time.
        if number and not -200 <= number.adjusted() + type_.scale <= 200:
            raise ValueError(f"{number} does not fit {type_}")
        try:
            shifted = exact.scaleb(number, type_.scale) if number else Decimal(0)
        except Inexact:
            raise ValueError(f"{number} does not fit {type_}") from None
        unscaled = int(shifted)
        if unscaled != shifted:
            raise ValueError(f"{number} has more than {type_.scale} digits after the point")
        if abs(unscaled) >= limit:
            raise ValueError(f"{number} has more than {type_.precision} digits in {type_}")
        return unscaled

    if layout(type_).spec(Role.DATA).dtype.kind == "i":
        return _integers(type_, values, convert)
    width = type_.bit_width // 8
    numbers = each(values, convert, 0)
    data = joined([number.to_bytes(width, "little", signed=True) for number in numbers])
    return with_validity(type_, values, [data])


# Dates and times


def _in_units(nanoseconds: int, unit: str, value: object) -> int:
    count, rest = divmod(nanoseconds, NANOS[unit])
    if rest:
        raise ValueError(f"{value} is not a whole number of {unit}")
    return count


def scalar_nanos(value: np.datetime64 | np.timedelta64) -> int:
    """Returns the nanoseconds of a NumPy time or duration; ValueError for months, or without a unit."""
    unit, step = np.datetime_data(value.dtype)
    if unit in ("Y", "M") and isinstance(value, np.datetime64):
        return scalar_nanos(value.astype("M8[D]"))
    if unit not in NANOS:
        raise ValueError(f"NumPy unit {unit!r} is not one of {', '.join(NANOS)}")
    return int(value.view(np.int64)) * step * NANOS[unit]


def timedelta_nanos(value: timedelta) -> int:
    """Returns the nanoseconds of a duration of Python or pandas."""
    micros = (value.days * 86_400 + value.seconds) * 1_000_000 + value.microseconds
    # pandas' class has nanoseconds.
    return micros * 1_000 + getattr(value, "nanoseconds", 0)


def build_date(type_: s.Date, values: Values) -> Array:
    """`datetime.date` (not `datetime`), `numpy.datetime64` of whole days, or the stored integer."""

    def convert(value: object) -> int:
        if isinstance(value, date) and not isinstance(value, datetime):
            days = (value - _EPOCH_DAY).days
        elif isinstance(value, np.datetime64):
            days = _in_units(scalar_nanos(value), "D", value)
        else:
            number = _stored(value, "datetime.date")
            if type_.unit == "ms" and number % 86_400_000:
                raise ValueError(f"{number} ms are not whole days")
            return number
        return days if type_.unit == "day" else days * 86_400_000

    return _integers(type_, values, convert)


def _stored(value: object, otherwise: str) -> int:
    try:
        return _integer(value)
    except TypeError:
        raise wrong(f"{otherwise}, its NumPy scalar or an integer", value) from None


def build_time(type_: s.Time, values: Values) -> Array:
    """`datetime.time` without timezone, `numpy.timedelta64` since midnight, or the stored integer."""

    def convert(value: object) -> int:
        if isinstance(value, time):
            if value.tzinfo is not None:
                raise ValueError(f"{value} has a timezone, {type_} has none")
            seconds = (value.hour * 60 + value.minute) * 60 + value.second
            nanos = seconds * 1_000_000_000 + value.microsecond * 1_000
            return _in_units(nanos, type_.unit, value)
        if isinstance(value, np.timedelta64):
            count = _in_units(scalar_nanos(value), type_.unit, value)
        else:
            count = _stored(value, "datetime.time")
        if not 0 <= count * NANOS[type_.unit] < NANOS["D"]:
            raise ValueError(f"{count} {type_.unit} is no time of day")
        return count

    return _integers(type_, values, convert)


def build_timestamp(type_: s.Timestamp, values: Values) -> Array:
    """`datetime.datetime`, aware if the type has a timezone, `numpy.datetime64`, or the stored integer."""

    def convert(value: object) -> int:
        if isinstance(value, datetime):
            aware = value.utcoffset() is not None
            if aware != bool(type_.timezone):
                has, takes = ("a", "none") if aware else ("no", "one")
                raise ValueError(f"{value} has {has} timezone, {type_} has {takes}")
            since = value - (_EPOCH_UTC if aware else _EPOCH)
            return _in_units(timedelta_nanos(since), type_.unit, value)
        if isinstance(value, np.datetime64):
            return _in_units(scalar_nanos(value), type_.unit, value)
        return _stored(value, "datetime.datetime")

    return _integers(type_, values, convert)


def build_duration(type_: s.Duration, values: Values) -> Array:
    """`datetime.timedelta`, `numpy.timedelta64`, or the stored integer."""

    def convert(value: object) -> int:
        if isinstance(value, timedelta):
            return _in_units(timedelta_nanos(value), type_.unit, value)
        if isinstance(value, np.timedelta64):
            return _in_units(scalar_nanos(value), type_.unit, value)
        return _stored(value, "datetime.timedelta")

    return _integers(type_, values, convert)


def build_interval(type_: s.Interval, values: Values) -> Array:
    """Tuples of integers, as `to_pylist` gives them; a bare integer for months alone."""
    dtype = layout(type_).spec(Role.DATA).dtype
    parts = [dtype[name] for name in dtype.names or ()]

    def number(value: object, part: DType) -> int:
        count, bounds = _integer(value), np.iinfo(part)
        if not bounds.min <= count <= bounds.max:
            raise ValueError(f"{count} is outside the range of {part}")
        return count

    def months(value: object) -> int:
        (count,) = value if isinstance(value, tuple) and len(value) == 1 else (value,)
        return number(count, dtype)

    def members(value: object) -> tuple[int, ...]:
        if not isinstance(value, tuple) or len(value) != len(parts):
            raise wrong(f"a tuple of {len(parts)} integers", value)
        return tuple(map(number, value, parts))

    if not parts:
        return _fixed(type_, values, each(values, months, 0))
    return _fixed(type_, values, each(values, members, (0,) * len(parts)))


# Bytes and text


def _bytes(value: object) -> bytes:
    if not isinstance(value, bytes | bytearray | memoryview):
        raise wrong("bytes", value)
    return bytes(value)


def _text(value: object) -> bytes:
    if not isinstance(value, str):
        raise wrong("str", value)
    return value.encode()


def _encode(type_: s.DataType, values: Values) -> list[bytes]:
    if isinstance(type_, s.Utf8 | s.LargeUtf8 | s.Utf8View):
        if set(map(type, values)) <= {str, type(None)}:
            with suppress(UnicodeEncodeError):
                return [b"" if value is None else value.encode() for value in values]
        return each(values, _text, b"")
    return each(values, _bytes, b"", bytes)


def build_fixed_size_binary(type_: s.FixedSizeBinary, values: Values) -> Array:
    """Byte strings of exactly the type's width."""
    width = type_.byte_width

    def convert(value: object) -> bytes:
        piece = _bytes(value)
        if len(piece) != width:
            raise ValueError(f"expected {width} bytes, got {len(piece)}")
        return piece

    under_null = bytes(filler(values, width, MOST_BYTES_UNDER_NULLS, "bytes"))
    return with_validity(type_, values, [joined(each(values, convert, under_null))])


def build_variable(type_: s.DataType, values: Values) -> Array:
    """Byte strings or text behind offsets."""
    is_text = isinstance(type_, s.Utf8 | s.LargeUtf8)
    read = pieces_of(values, str if is_text else bytes)
    if read is None:
        pieces = _encode(type_, values)
        read = joined(pieces).array, np.fromiter(map(len, pieces), np.int64, len(pieces))
    data, sizes = read
    dtype = layout(type_).spec(Role.OFFSETS).dtype
    return with_validity(type_, values, [offsets(dtype, starts_of(sizes)), Buffer(data)])


MOST_BYTES_A_DATA_BUFFER = 2**31 - 1
"""Views address data buffers with 32-bit offsets; more bytes need another buffer."""


def build_view(type_: s.DataType, values: Values) -> Array:
    """Byte strings or text in views; those too long for a view go to data buffers."""
    pieces = _encode(type_, values)
    views: list[bytes] = []
    data: list[list[bytes]] = []
    used = MOST_BYTES_A_DATA_BUFFER
    for index, piece in enumerate(pieces):
        size = len(piece)
        if size > MOST_BYTES_A_DATA_BUFFER:
            raise BadValue(ValueError, f"{size} bytes are more than a view can hold", index)
        head = size.to_bytes(4, "little")
        if size <= VIEW_INLINE_BYTES:
            views.append(head + piece.ljust(VIEW_INLINE_BYTES, b"\0"))
            continue
        if used + size > MOST_BYTES_A_DATA_BUFFER:
            data.append([])
            used = 0
        place = (len(data) - 1).to_bytes(4, "little") + used.to_bytes(4, "little")
        views.append(head + piece[:4] + place)
        data[-1].append(piece)
        used += size
    return with_validity(type_, values, [joined(views), *map(joined, data)])
