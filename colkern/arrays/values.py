"""Arrays as lists of Python objects.

One decoder for each type, vectorised by NumPy; recursion follows nesting only. A decoder gets the slots
to decode, so nulls, dictionaries, runs, unions and list-views need nothing special, and values under a
null are never read.

Columnar format 1.5: "Physical Memory Layout"; "Data Types".
"""

from __future__ import annotations

import re
from codecs import utf_8_decode
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, time, timedelta, timezone, tzinfo
from functools import lru_cache
from itertools import repeat
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from colkern import schema as s
from colkern.arrays import Array, ChunkedArray
from colkern.arrays.extension_values import booleans, presenter_of
from colkern.arrays.slots import (
    Slots,
    Values,
    all_slots,
    bits_at,
    byte_ranges,
    concatenated,
    dictionary_slots,
    element_ranges,
    follow_each_other,
    items_at,
    require_host,
    run_slots,
    same_slots,
    union_members,
    valid_at,
    views_at,
)
from colkern.cpu.python_objects import dictionaries_of, objects_of, parts_of_list, spread
from colkern.dispatch import Dispatch, by_type
from colkern.errors import InvalidArrowError
from colkern.layouts import LayoutKind, Role, layout
from colkern.memory import EMPTY, DType, Items

CUT_BYTES = 256
"""The most bytes of a byte string that `preview` reads."""


class Months(NamedTuple):
    """A value of `month_interval`."""

    months: int


class DayTime(NamedTuple):
    """A value of `day_time_interval`."""

    days: int
    milliseconds: int


class MonthDayNano(NamedTuple):
    """A value of `month_day_nano_interval`."""

    months: int
    days: int
    nanoseconds: int


def to_numpy(
    array: Array | ChunkedArray, dtype: DTypeLike | None = None, copy: bool | None = None
) -> Items:
    """The values of a column as a NumPy array of shape `(len(array),)`, equal to those of `to_pylist`.

    Integers, floats, booleans, and timestamps, times and durations in `ns` without nulls have NumPy's
    type. They are read-only and not copied, except booleans and encoded arrays. All other arrays become
    arrays of Python objects, with None for nulls. So do text and bytes, since NumPy's own types give each
    value the room of the longest, and drop zero bytes at the end.

    Args:
        array: A column in host memory, whose chunks are joined.
        dtype: Another type, to which NumPy converts the values; None for the above.
            `np.asarray(array, "U")` does not pass `dtype` here, as it has no length: NumPy then writes
            'None' for each null. For an error instead, give a length, as in `"U10"`.
        copy: True for a copy in any case, False for an error where one is needed.

    Raises:
        TypeError: If the values are nested, and `dtype` is not None or `object`.
        ValueError: If the bytes are not in host memory, `copy` forbids what is needed, or there are
            nulls and `dtype` has no value for them. NumPy's own errors, if it cannot convert a value.
        InvalidArrowError: As `to_pylist`.
    """
    whole: Array = array.combine_chunks() if isinstance(array, ChunkedArray) else array
    require_host(whole, "array")
    own = _numpy_dtype(whole.type)
    # Booleans are bits; encoded arrays have no items for their values.
    as_items = own is not None and own.kind != "b" and whole.layout.kind is LayoutKind.FIXED_SIZE
    if own is not None and as_items and not whole.null_count:
        items = whole.items(Role.DATA).view(own)
        items.flags.writeable = False
        return np.array(items, dtype, copy=copy)
    if copy is False:
        raise ValueError(f"array: values of {whole.type}, or with nulls, become NumPy's by a copy")
    values = to_pylist(whole)
    nulls = sum(value is None for value in values)
    if own is None or nulls:
        # `np.array` would look into the values: it takes lists of one length for a matrix.
        items = np.fromiter(values, object, len(values))
    else:
        items = np.array(values, own)
    if dtype is None:
        return items
    if own is None and np.dtype(dtype) != object and any(isinstance(v, _NESTED) for v in values):
        raise TypeError(
            f"dtype: values of {whole.type} are nested and have no NumPy type, so they cannot become "
            f"{dtype}; leave dtype out for Python objects"
        )
    if nulls and not _has_null(np.dtype(dtype)):
        raise ValueError(f"dtype: {dtype} has no value for nulls, and there are {nulls} of them")
    return items.astype(dtype, copy=False)


_NESTED = (list, dict, np.ndarray)
"""The classes of nested values of `to_pylist`."""


def _numpy_dtype(type_: s.DataType) -> DType | None:
    """The NumPy type with the values of `to_pylist`; None for Python objects."""
    if isinstance(type_, s.Extension):
        present = presenter_of(type_)
        if present is None:
            return _numpy_dtype(type_.storage_type)
        return np.dtype(np.bool_) if present is booleans else None
    if isinstance(type_, s.Dictionary | s.RunEndEncoded):
        return _numpy_dtype(type_.value_type)
    if isinstance(type_, s.Int | s.FloatingPoint):
        return layout(type_).spec(Role.DATA).dtype
    if isinstance(type_, s.Bool):
        return np.dtype(np.bool_)
    if isinstance(type_, s.Timestamp | s.Time | s.Duration) and type_.unit == "ns":
        return np.dtype("<M8[ns]" if isinstance(type_, s.Timestamp) else "<m8[ns]")
    return None


def _has_null(dtype: DType) -> bool:
    """Whether a NumPy type can represent None: as NaN, NaT or None itself."""
    return dtype.kind in "fcmMO" or hasattr(dtype, "na_object")


def to_pylist(array: Array) -> Values:
    """The values of an array as Python objects, None for nulls.

    - integers, floats, bool: int, float, bool; decimals: `decimal.Decimal` with the type's scale;
    - date: `datetime.date`; time, timestamp, duration in `s`, `ms`, `us`: `datetime.time`,
      `datetime.datetime` (aware if the type has a timezone), `datetime.timedelta`;
    - the same in `ns`: always `numpy.timedelta64` (time: since midnight) or `numpy.datetime64` (with a
      timezone: in UTC). A date, time, timestamp or duration that Python's class cannot hold is such
      a scalar too, of the type's unit; the least 64-bit integer is NumPy's NaT;
    - intervals: `Months`, `DayTime`, `MonthDayNano`, which are tuples;
    - binary in all forms: bytes; UTF-8 in all forms: str;
    - lists in all forms: list; maps: list of `(key, value)` tuples;
    - structs: dict; with duplicate field names: list of `(name, value)` tuples, so nothing is lost;
    - unions, dictionaries, runs: the value itself;
    - canonical extension types: `uuid.UUID`; bool for `arrow.bool8`; aware `datetime.datetime` with
      the value's own offset, or `OffsetTimestamp` where it has none such; tensors as NumPy arrays in
      the logical order of dimensions, numbers read-only and not copied (of another type, or with a
      null among them, as objects); other extension types, and those that break a rule of their own:
      the value of the storage type.

    Slots that share their bytes (runs, dictionaries, overlapping list-views) may share one object.

    Raises:
        InvalidArrowError: If an offset, an index, a type id, a run end or UTF-8 is bad, with the slot.
        LimitExceededError: If overlapping list-views have more than 2**62 elements together.
        ValueError: If the bytes are not in host memory.
    """
    require_host(array, "array")
    return _values(array, all_slots(array), None)


def preview(array: Array, most: int) -> Values:
    """As `to_pylist`, but with long values silently cut, for printing."""
    # Lists and structs have at most `most` members, one fewer with each level of nesting but at least one;
    # byte strings and text have at most `CUT_BYTES` bytes.
    require_host(array, "array")
    return _values(array, all_slots(array), most)


def _values(array: Array, slots: Slots, most: int | None) -> Values:
    decode = _decoder_of(array.type)
    valid = valid_at(array, slots)
    # A fifth of the time of `valid.all()`, for few slots.
    if valid is None or np.count_nonzero(valid) == valid.size:
        return decode(array, slots, most)
    return spread(decode(array, slots[valid], most), valid)


def _decoder_of(type_: s.DataType) -> _Decoder:
    if not isinstance(type_, s.Extension):
        return _DECODERS[type(type_)]
    stored = _decoder_of(type_.storage_type)
    present = presenter_of(type_)
    if present is None:
        return stored
    return lambda array, slots, most: present(type_, array, slots, most, stored)


_Decoder: TypeAlias = Callable[[Array, Slots, int | None], Values]
"""Decodes valid slots; the number is as in `preview`, None for whole values."""

_DECODERS: Dispatch[type[s.DataType], _Decoder] = by_type("to_pylist", s.Extension)


def _child_values(array: Array, child: int, slots: Slots, most: int | None) -> Values:
    try:
        return _values(array.children[child], slots, most)
    except InvalidArrowError as error:
        raise error.at(array.type.fields[child].name or f"child {child}") from None


def _scatter(count: int, parts: Sequence[tuple[NDArray[np.intp], Values]]) -> Values:
    """A list of `count` values, put together from parts (positions, values) that cover it."""
    if len(parts) == 1:
        return parts[0][1]
    whole: Values = [None] * count
    for positions, values in parts:
        for position, value in zip(positions.tolist(), values, strict=True):
            whole[position] = value
    return whole


def _each_once(decode: Callable[[Slots], Values], length: int, slots: Slots) -> Values:
    """The values at `slots` of a sequence with `length` slots; repeated slots are decoded once."""
    if slots.size < length:
        return decode(slots)
    used = np.zeros(length, np.bool_)
    used[slots] = True
    values = decode(np.flatnonzero(used).astype(np.int64))
    places = np.cumsum(used)[slots] - 1
    return [values[place] for place in places.tolist()]


# Values of a fixed size


@_DECODERS.of(s.Null)
def _nulls(array: Array, slots: Slots, most: int | None) -> Values:
    return [None] * slots.size


@_DECODERS.of(s.Bool)
def _bools(array: Array, slots: Slots, most: int | None) -> Values:
    bits: Values = bits_at(array, Role.DATA, slots).tolist()
    return bits


@_DECODERS.of(s.Int, s.FloatingPoint, s.FixedSizeBinary)
def _items(array: Array, slots: Slots, most: int | None) -> Values:
    items: Values = items_at(array, Role.DATA, slots).tolist()
    return items


@_DECODERS.of(s.Decimal)
def _decimals(array: Array, slots: Slots, most: int | None) -> Values:
    from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal

    type_ = array.type.storage
    assert isinstance(type_, s.Decimal)
    items = items_at(array, Role.DATA, slots)
    numbers = items.tolist() if items.dtype.kind == "i" else _wide_integers(items)
    # 256 bits are 78 digits: nothing is rounded, whatever decimal context the caller has.
    exact = Context(prec=80, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return [exact.scaleb(Decimal(number), -type_.scale) for number in numbers]


def _wide_integers(items: Items) -> list[int]:
    words = items.view("<u8").reshape(-1, items.dtype.itemsize // 8)
    numbers: list[int] = words[:, -1].view("<i8").tolist()
    for column in range(words.shape[1] - 2, -1, -1):
        low = words[:, column].tolist()
        numbers = [(high << 64) + word for high, word in zip(numbers, low, strict=True)]
    return numbers


# Dates and times

_PYTHON_DATETIMES = ("0001-01-01T00:00:00.000000", "9999-12-31T23:59:59.999999")


def _or_scalars(stamps: Items, fits: NDArray[np.bool_], values: Values) -> Values:
    """`values`, with NumPy's scalar for each value that does not fit Python's class."""
    # Mostly all fit, and counting takes a fifth of the time of a search.
    if np.count_nonzero(fits) < fits.size:
        for position in (~fits).nonzero()[0].tolist():
            values[position] = stamps[position]
    return values


@lru_cache
def _python_datetimes(dtype: DType) -> list[np.datetime64]:
    """The first and the last of Python's datetimes in a unit."""
    return [np.datetime64(text).astype(dtype) for text in _PYTHON_DATETIMES]


def _datetimes(stamps: Items) -> Values:
    low, high = _python_datetimes(stamps.dtype)
    fits = (stamps >= low) & (stamps <= high)
    return _or_scalars(stamps, fits, stamps.tolist())


@_DECODERS.of(s.Date)
def _dates(array: Array, slots: Slots, most: int | None) -> Values:
    type_ = array.type.storage
    assert isinstance(type_, s.Date)
    items = items_at(array, Role.DATA, slots)
    if type_.unit == "day":
        return _datetimes(items.astype("<M8[D]"))
    return [
        value.date() if isinstance(value, datetime) else value
        for value in _datetimes(items.view("<M8[ms]"))
    ]


@_DECODERS.of(s.Time)
def _times(array: Array, slots: Slots, most: int | None) -> Values:
    type_ = array.type.storage
    assert isinstance(type_, s.Time)
    items = items_at(array, Role.DATA, slots).astype(np.int64)
    stamps = items.view(f"<m8[{type_.unit}]")
    if type_.unit == "ns":
        return list(stamps)
    per_second = s.PER_SECOND[type_.unit]
    fits = (items >= 0) & (items < s.SECONDS_A_DAY * per_second)
    seconds, parts = np.divmod(np.where(fits, items, 0), per_second)
    minutes, second = np.divmod(seconds, 60)
    hour, minute = np.divmod(minutes, 60)
    micros = parts * (1_000_000 // per_second)
    columns = (column.tolist() for column in (hour, minute, second, micros))
    return _or_scalars(stamps, fits, list(map(time, *columns)))


@_DECODERS.of(s.Timestamp)
def _timestamps(array: Array, slots: Slots, most: int | None) -> Values:
    type_ = array.type.storage
    assert isinstance(type_, s.Timestamp)
    stamps = items_at(array, Role.DATA, slots).view(f"<M8[{type_.unit}]")
    if type_.unit == "ns":
        return list(stamps)
    values = _datetimes(stamps)
    if not type_.timezone:
        return values
    zone = zone_of(type_.timezone)
    return [_inzone_of(value, zone, stamp) for value, stamp in zip(values, stamps, strict=True)]


def _inzone_of(value: object, zone: tzinfo, stamp: object) -> Any:
    if not isinstance(value, datetime):
        return value
    try:
        return zone.fromutc(value.replace(tzinfo=zone))
    except OverflowError:
        # In the first or last hours that Python's calendar has in UTC.
        return stamp


_FIXED_OFFSET = re.compile(r"([+-])([01][0-9]|2[0-3]):([0-5][0-9])")


def zone_of(name: str) -> tzinfo:
    """The timezone with a name in the timezone database, or with an offset such as `+01:00`."""
    if offset := _FIXED_OFFSET.fullmatch(name):
        sign, hours, minutes = offset.groups()
        ahead = timedelta(hours=int(hours), minutes=int(minutes))
        return timezone(ahead if sign == "+" else -ahead)

    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidArrowError(
            f"timezone {name!r} is neither in this machine's timezone database nor like +01:00"
        ) from None


def zone_name(value: datetime) -> str | None:
    """The name under which a type stores the timezone of a datetime; None if it has none."""
    zone = value.tzinfo
    if zone is None:
        return None
    if zone is UTC:
        return "UTC"
    if key := getattr(zone, "key", None) or getattr(zone, "zone", None):
        return str(key)
    ahead = value.utcoffset()
    if not isinstance(zone, timezone) or ahead is None or ahead.seconds % 60:
        raise ValueError(f"timezone {zone} has neither a name nor whole minutes")
    minutes = int(ahead.total_seconds()) // 60
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02}:{rest:02}"


@_DECODERS.of(s.Duration)
def _durations(array: Array, slots: Slots, most: int | None) -> Values:
    type_ = array.type.storage
    assert isinstance(type_, s.Duration)
    stamps = items_at(array, Role.DATA, slots).view(f"<m8[{type_.unit}]")
    if type_.unit == "ns":
        return list(stamps)
    # Python's timedelta ends at 999,999,999 days; 64 bits of microseconds do not reach that far.
    furthest = min(999_999_999 * s.SECONDS_A_DAY * s.PER_SECOND[type_.unit], 2**63 - 1)
    end = np.timedelta64(furthest, type_.unit)
    return _or_scalars(stamps, (stamps >= -end) & (stamps <= end), stamps.tolist())


@_DECODERS.of(s.Interval)
def _intervals(array: Array, slots: Slots, most: int | None) -> Values:
    type_ = array.type.storage
    assert isinstance(type_, s.Interval)
    items = items_at(array, Role.DATA, slots).tolist()
    if type_.unit == "year_month":
        return list(map(Months, items))
    kind = DayTime if type_.unit == "day_time" else MonthDayNano
    return list(map(kind._make, items))


# Byte strings and text


def _pieces(
    data: NDArray[np.uint8], starts: Slots, sizes: Slots, most: int | None
) -> tuple[bytes | memoryview, list[int], list[int]]:
    """The bytes to slice values from, and the start and stop of each value in them."""
    if most is not None:
        sizes = np.minimum(sizes, CUT_BYTES)
    if not sizes.any():
        return b"", [0] * sizes.size, [0] * sizes.size
    low = int(starts[sizes > 0].min())
    high = int((starts + sizes)[sizes > 0].max())
    cut_from: bytes | memoryview = data[low:high].data
    if high - low <= 2 * int(sizes.sum()):
        # Slicing a bytes object takes a third of the time of slicing a memoryview.
        cut_from = bytes(cut_from)
    starts = np.where(sizes > 0, starts - low, 0)
    return cut_from, starts.tolist(), (starts + sizes).tolist()


def _bytes_of(
    data: NDArray[np.uint8], starts: Slots, sizes: Slots, slots: Slots, most: int | None
) -> Values:
    if most is None and (values := objects_of(data, starts, sizes, bytes)) is not None:
        return values
    cut_from, first, last = _pieces(data, starts, sizes, most)
    return [bytes(cut_from[a:b]) for a, b in zip(first, last, strict=True)]


def _text_of(
    data: NDArray[np.uint8], starts: Slots, sizes: Slots, slots: Slots, most: int | None
) -> Values:
    if most is None and (texts := objects_of(data, starts, sizes, str)) is not None:
        return texts
    cut_from, first, last = _pieces(data, starts, sizes, most)
    if isinstance(cut_from, bytes) and cut_from.isascii():
        text = cut_from.decode("ascii")
        return [text[a:b] for a, b in zip(first, last, strict=True)]
    values: Values = []
    whole = (sizes <= CUT_BYTES).tolist() if most is not None else repeat(True)
    for a, b, is_whole in zip(first, last, whole, strict=False):
        try:
            values.append(utf_8_decode(cut_from[a:b], "strict", is_whole)[0])
        except UnicodeDecodeError as error:
            raise InvalidArrowError(
                f"not UTF-8: {error.reason} at byte {error.start} of the value",
                place=f"slot {slots[len(values)]}",
            ) from None
    return values


_Cutter: TypeAlias = Callable[[NDArray[np.uint8], Slots, Slots, Slots, int | None], Values]
"""Cuts values out of bytes, by their starts and sizes."""


def _variable(cut: _Cutter) -> _Decoder:
    def decode(array: Array, slots: Slots, most: int | None) -> Values:
        starts, sizes = byte_ranges(array, slots)
        return cut((array.buffer(Role.BYTES) or EMPTY).array, starts, sizes, slots, most)

    return decode


def _views(cut: _Cutter) -> _Decoder:
    def decode(array: Array, slots: Slots, most: int | None) -> Values:
        views = views_at(array, slots)
        parts = [
            (at, cut(data, views.starts[at], views.sizes[at], slots[at], most))
            for at, data in views.parts(array.data_buffers)
        ]
        return _scatter(slots.size, parts)

    return decode


_DECODERS.of(s.Binary, s.LargeBinary)(_variable(_bytes_of))
_DECODERS.of(s.Utf8, s.LargeUtf8)(_variable(_text_of))
_DECODERS.of(s.BinaryView)(_views(_bytes_of))
_DECODERS.of(s.Utf8View)(_views(_text_of))


# Nested values


@_DECODERS.of(s.List, s.LargeList, s.ListView, s.LargeListView, s.FixedSizeList)
def _lists(array: Array, slots: Slots, most: int | None) -> Values:
    def elements(places: Slots) -> Values:
        return _child_values(array, 0, places, _inner(most))

    return _cut_lists(array, slots, most, elements)


@_DECODERS.of(s.Map)
def _maps(array: Array, slots: Slots, most: int | None) -> Values:
    entries = array.children[0]

    def pairs(places: Slots) -> Values:
        return list(zip(*_columns(entries, places, 2, _inner(most)), strict=True))

    return _cut_lists(array, slots, most, pairs)


def _inner(most: int | None) -> int | None:
    return None if most is None else max(most - 1, 1)


def _cut_lists(
    array: Array, slots: Slots, most: int | None, elements: Callable[[Slots], Values]
) -> Values:
    starts, sizes = element_ranges(array, slots)
    if most is not None:
        sizes = np.minimum(sizes, most)
    places = concatenated(starts, sizes)
    if follow_each_other(starts, sizes):
        values = elements(places)
    else:
        values = _each_once(elements, array.children[0].length, places)
    stops = np.cumsum(sizes)
    return parts_of_list(values, stops - sizes, stops)


def _columns(array: Array, slots: Slots, count: int, most: int | None) -> list[Values]:
    """The values of the first `count` children, which are aligned with their parent."""
    return [
        _child_values(array, child, same_slots(array, child, slots), most) for child in range(count)
    ]


@_DECODERS.of(s.Struct)
def _structs(array: Array, slots: Slots, most: int | None) -> Values:
    names = [field.name for field in array.type.fields]
    duplicates = len(set(names)) != len(names)
    names = names[:most]
    if not names:
        return [{} for _ in range(slots.size)]
    columns = _columns(array, slots, len(names), _inner(most))
    if duplicates:
        return [list(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    return dictionaries_of(names, columns)


@_DECODERS.of(s.Union)
def _unions(array: Array, slots: Slots, most: int | None) -> Values:
    parts = [
        (positions, _child_values(array, child, places, most))
        for child, positions, places in union_members(array, slots)
    ]
    return _scatter(slots.size, parts)


@_DECODERS.of(s.Dictionary)
def _encoded(array: Array, slots: Slots, most: int | None) -> Values:
    dictionary = array.dictionary
    assert dictionary is not None

    def values(places: Slots) -> Values:
        try:
            return _values(dictionary, places, most)
        except InvalidArrowError as error:
            raise error.at("dictionary") from None

    return _each_once(values, dictionary.length, dictionary_slots(array, slots))


@_DECODERS.of(s.RunEndEncoded)
def _runs(array: Array, slots: Slots, most: int | None) -> Values:
    def values(places: Slots) -> Values:
        return _child_values(array, 1, places, most)

    return _each_once(values, array.children[1].length, run_slots(array, slots))
