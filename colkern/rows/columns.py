"""Columns and kinds: what a slot of each data type is in a row function, and what a result becomes."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.layouts import VIEW_BYTES, Role
from colkern.memory import EMPTY, HOST, Buffer
from colkern.operations import unpack_bits
from colkern.rows import kinds as k
from colkern.rows.kinds import Kind
from colkern.targets import target_of

US_IN_DAY = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Reader:
    """How the slots of a column are read in the generated loop.

    Args:
        kind: What a slot is.
        parameters: The loop's parameters for it; `{n}` is the column's name.
        code: Code for the value of slot `i`; of one with several parts, the parts have it.
        prepare: From an array to what is passed for the parameters. Nothing is copied, but items of
            lists that are no words of eight bytes.
        check: A test that is true where the slot has no value in compiled code.
        makes: Whether the value is made in the arena: 0 if that has no room.
        loose: Whether a null slot may lead outside of the column's memory: only valid ones are read.
        parts: Code for each part of a value of several.
    """

    kind: Kind
    parameters: tuple[str, ...]
    code: str
    prepare: Callable[[Any], tuple[Any, ...]]
    check: str = ""
    makes: bool = False
    loose: bool = False
    parts: tuple[str, ...] = ()


def _items(array: Array) -> tuple[Any, ...]:
    return (array.items(Role.DATA),)


def _bool(_: s.DataType) -> Reader:
    def prepare(array: Array) -> tuple[Any, ...]:
        return (array.buffer(Role.DATA) or EMPTY).array, np.uint64(array.offset)

    return Reader(k.BOOL, ("{n}_bits", "{n}_first"), "bit_at({n}_bits, {n}_first + i)", prepare)


def _int(type_: s.Int) -> Reader:
    if type_ == s.uint64():
        return Reader(k.INT, ("{n}",), "i8({n}[i])", _items, "i8({n}[i]) < 0")
    return Reader(k.INT, ("{n}",), "i8({n}[i])", _items)


def _float(type_: s.FloatingPoint) -> Reader:
    def widened(array: Array) -> tuple[Any, ...]:
        return (target_of(array.device).frozen(array.items(Role.DATA).astype(np.float32)),)

    return Reader(k.FLOAT, ("{n}",), "f8({n}[i])", widened if type_.bit_width == 16 else _items)


def _offsets(kind: Kind) -> Callable[[s.DataType], Reader]:
    def prepare(array: Array) -> tuple[Any, ...]:
        address = (array.buffer(Role.BYTES) or EMPTY).address
        offsets = array.items(Role.OFFSETS)
        return offsets, address, _is_ascii(array) if kind == k.TEXT else 0

    name = "row_text" if kind == k.TEXT else "row_bytes"
    size = "i8({n}_offsets[i + u8(1)]) - i8({n}_offsets[i])"
    code = f"{name}({{n}}_base + i8({{n}}_offsets[i]), {size}, {{n}}_ascii)"
    return lambda _: Reader(kind, ("{n}_offsets", "{n}_base", "{n}_ascii"), code, prepare)


def _is_ascii(array: Array) -> int:
    """1 if all bytes of a text column's slots are below 128: one pass over them, in host memory."""
    buffer = array.buffer(Role.BYTES)
    if buffer is None or not array.length:
        return 1
    if buffer.device != HOST:
        return 0
    offsets = array.items(Role.OFFSETS)
    part = buffer.array[int(offsets[0]) : int(offsets[-1])]
    words = part[: len(part) & ~7].view(np.uint64)
    high = np.bitwise_or.reduce(words) if len(words) else np.uint64(0)
    rest = np.bitwise_or.reduce(part[len(part) & ~7 :]) if len(part) & 7 else np.uint8(0)
    return int(not (int(high) & 0x8080808080808080 or int(rest) & 0x80))


def _views(kind: Kind) -> Callable[[s.DataType], Reader]:
    def prepare(array: Array) -> tuple[Any, ...]:
        views = (array.buffer(Role.VIEWS) or EMPTY).view(
            np.dtype("<i4"), array.length * 4, array.offset * VIEW_BYTES
        )
        addresses = [(buffer or EMPTY).address for buffer in array.data_buffers]
        target = target_of(array.device)
        return views, target.address(views), target.table([*addresses, 0], np.int64)

    name = "viewed_text" if kind == k.TEXT else "viewed_bytes"
    code = f"{name}({{n}}_views, {{n}}_base, {{n}}_table, i)"
    parameters = ("{n}_views", "{n}_base", "{n}_table")
    return lambda _: Reader(kind, parameters, code, prepare, loose=True)


def _fixed_size_binary(type_: s.FixedSizeBinary) -> Reader:
    width = type_.byte_width

    def prepare(array: Array) -> tuple[Any, ...]:
        return ((array.buffer(Role.DATA) or EMPTY).address + array.offset * width,)

    return Reader(k.BYTES, ("{n}_base",), f"Bytes({{n}}_base + i8(i) * {width}, {width})", prepare)


def _date(type_: s.Date) -> Reader:
    if type_ == s.date32():
        return Reader(k.DATE, ("{n}",), "i8({n}[i])", _items, _outside("i8({n}[i])", 1))
    return Reader(
        k.DATE, ("{n}",), "i8({n}[i]) // 86400000", _items, _outside("(i8({n}[i]) // 86400000)", 1)
    )


def _outside(code: str, units_in_day: int) -> str:
    """A test for days that Python's calendar does not have."""
    first, end = _calendar(units_in_day)
    return f"{code} < {first} or {code} >= {end}"


def _calendar(units_in_day: int) -> tuple[int, int]:
    """The first moment of Python's calendar, and the first after it, in a unit."""
    first, last = (
        (datetime.date(*day).toordinal() - datetime.date(1970, 1, 1).toordinal()) * units_in_day
        for day in ((1, 1, 1), (9999, 12, 31))
    )
    return first, last + units_in_day


_MICROSECONDS = {"s": (1_000_000, 1), "ms": (1000, 1), "us": (1, 1), "ns": (1, 1000)}


def _scaled(unit: str) -> str:
    """Code for a number of a unit in microseconds."""
    times, by = _MICROSECONDS[unit]
    code = "i8({n}[i])"
    return f"{code} // {by}" if by > 1 else f"{code} * {times}" if times > 1 else code


def _time(type_: s.Time) -> Reader:
    return _of_unit(k.TIME, type_.unit)


def _of_unit(kind: Kind, unit: str, check: str = "") -> Reader:
    exact = "" if unit != "ns" else "i8({n}[i]) % 1000 != 0"
    tests = " or ".join(f"({test})" for test in (check, exact) if test)
    return Reader(kind, ("{n}",), _scaled(unit), _items, tests)


def _timestamp(type_: s.Timestamp) -> Reader:
    if type_.timezone:
        raise UnsupportedError(f"{type_} as an argument of a row function")
    # All that 64 bits of nanoseconds can say is in Python's calendar.
    per_day = _units_in_day(type_.unit)
    check = "" if type_.unit == "ns" else _outside("i8({n}[i])", per_day)
    return _of_unit(k.DATETIME, type_.unit, check)


def _units_in_day(unit: str) -> int:
    times, by = _MICROSECONDS[unit]
    return US_IN_DAY * by // times


def _most(unit: str) -> int:
    """The longest of Python's durations in a unit, as far as 64 bits go."""
    limit = 86_399_999_999_999_999_999 // 1_000_000
    times, by = _MICROSECONDS[unit]
    return min(limit * 1_000_000 * by // times, (1 << 63) - 1)


def _duration(type_: s.Duration) -> Reader:
    most = _most(type_.unit)
    return _of_unit(k.TIMEDELTA, type_.unit, f"i8({{n}}[i]) > {most} or i8({{n}}[i]) < -{most}")


# Lists: copied into the arena, as the function may change them.


def _list(type_: s.DataType) -> Reader:
    item = reader_of(type_.fields[0].type)
    if item.makes or isinstance(item.kind, k.Tuple):
        raise UnsupportedError(f"{type_} as an argument of a row function")
    is_text = item.kind in (k.TEXT, k.BYTES)
    if is_text and not isinstance(type_.fields[0].type.storage, _OF_OFFSETS):
        raise UnsupportedError(f"{type_} as an argument of a row function")

    def prepare(array: Array) -> tuple[Any, ...]:
        first, counts, child = _spans(array)
        missing = child.null_count if child.layout.has_validity else 0
        valid = (child.buffer(Role.VALIDITY) if missing else None) or EMPTY
        bits, place = valid.array, child.offset
        if is_text:
            return first, counts, bits, np.uint64(place), *_texts(child, item.kind)
        words, exist = _words(child)
        if not exist.all():
            # As of nulls: Python sees to the rows that have one.
            if missing:
                exist &= unpack_bits(valid, place, child.length)
            bits, place = Buffer.of_items(np.packbits(exist, bitorder="little")).array, 0
        return first, counts, bits, np.uint64(place), words

    names: tuple[str, ...] = ("{n}_first", "{n}_counts", "{n}_item_valid", "{n}_item_place")
    span = "{n}_first[i], {n}_counts[i]"
    if is_text:
        names += ("{n}_positions", "{n}_sizes", "{n}_ascii")
        body = "list_of_texts" if item.kind == k.TEXT else "list_of_byte_strings"
        code = f"{body}(arena, {{n}}_positions, {{n}}_sizes, {{n}}_ascii, {span})"
    else:
        names += ("{n}_words",)
        code = f"list_of_words(arena, {{n}}_words, {span})"
    check = f"has_null({{n}}_item_valid, {{n}}_item_place, {span})"
    return Reader(k.list_of(item.kind), names, code, prepare, check, makes=True)


def _spans(array: Array) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
    """The first item of each list, how many there are, and the items of all lists."""
    storage = array.type.storage
    (child,) = array.children
    if isinstance(storage, s.FixedSizeList):
        first = (np.arange(array.length, dtype=np.int64) + array.offset) * storage.list_size
        return first, np.full(array.length, storage.list_size, np.int64), child
    offsets = array.items(Role.OFFSETS).astype(np.int64)
    if isinstance(storage, s.ListView | s.LargeListView):
        sizes = array.items(Role.SIZES).astype(np.int64)
        if array.null_count:
            # A null slot may lead anywhere.
            bits = np.unpackbits((array.buffer(Role.VALIDITY) or EMPTY).array, bitorder="little")
            sizes *= bits[array.offset : array.offset + array.length]
        return offsets, sizes, child
    return offsets[:-1], np.diff(offsets), child


def _words(child: Array) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The items of lists as words, and which of them are values that compiled code has."""
    storage = child.type.storage
    if isinstance(storage, s.Bool):
        bits = unpack_bits(child.buffer(Role.DATA) or EMPTY, child.offset, child.length)
        return bits.astype(np.int64), np.ones(child.length, np.bool_)
    items = child.items(Role.DATA)
    if isinstance(storage, s.FloatingPoint):
        words = np.ascontiguousarray(items, np.float64).view(np.int64)
        return words, np.ones(child.length, np.bool_)
    words = items.astype(np.int64)
    if isinstance(storage, s.Int):
        return words, words >= 0 if storage == s.uint64() else np.ones(child.length, np.bool_)
    times, by, first, end = 1, 1, 0, 1 << 63
    if isinstance(storage, s.Date):
        by = 1 if storage == s.date32() else 86_400_000
        first, end = _calendar(by)
    else:
        assert isinstance(storage, s.Time | s.Timestamp | s.Duration)
        times, by = _MICROSECONDS[storage.unit]
        if isinstance(storage, s.Timestamp):
            first, end = _calendar(_units_in_day(storage.unit))
        elif isinstance(storage, s.Duration):
            first, end = -_most(storage.unit), _most(storage.unit) + 1
    whole = isinstance(storage, s.Date) or words % by == 0
    return words * times // by, (words >= first) & (words <= end - 1) & whole


def _texts(child: Array, kind: Kind) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """The address and the size of each text, and whether all are ASCII."""
    offsets = child.items(Role.OFFSETS).astype(np.int64)
    base = (child.buffer(Role.BYTES) or EMPTY).address
    is_ascii = _is_ascii(child) if kind == k.TEXT else 0
    return offsets[:-1] + base, np.diff(offsets), is_ascii


_OF_OFFSETS = (s.Utf8, s.LargeUtf8, s.Binary, s.LargeBinary)

_READERS: dict[type[s.DataType], Callable[[Any], Reader]] = {
    s.Bool: _bool,
    s.Int: _int,
    s.FloatingPoint: _float,
    s.Date: _date,
    s.Time: _time,
    s.Timestamp: _timestamp,
    s.Duration: _duration,
    s.Utf8: _offsets(k.TEXT),
    s.LargeUtf8: _offsets(k.TEXT),
    s.Utf8View: _views(k.TEXT),
    s.Binary: _offsets(k.BYTES),
    s.LargeBinary: _offsets(k.BYTES),
    s.BinaryView: _views(k.BYTES),
    s.FixedSizeBinary: _fixed_size_binary,
    s.List: _list,
    s.LargeList: _list,
    s.ListView: _list,
    s.LargeListView: _list,
    s.FixedSizeList: _list,
}


def reader_of(data_type: s.DataType) -> Reader:
    """How slots of a type are read; an extension type is read as its storage.

    Raises:
        UnsupportedError: If they cannot be.
    """
    storage = data_type.storage
    if type(storage) not in _READERS:
        raise UnsupportedError(f"{data_type} as an argument of a row function")
    return _READERS[type(storage)](storage)


_RESULTS: dict[str, s.DataType] = {
    "bool": s.bool_(),
    "int": s.int64(),
    "float": s.float64(),
    "str": s.utf8(),
    "bytes": s.binary(),
    "date": s.date32(),
    "datetime": s.timestamp("us"),
    "time": s.time64("us"),
    "timedelta": s.duration("us"),
}


_LARGE: dict[str, s.DataType] = {"str": s.large_utf8(), "bytes": s.large_binary()}


def type_of(kind: Kind, large: bool = False) -> s.DataType:
    """The data type of a column of results of a kind.

    Args:
        kind: The kind.
        large: Whether its offsets have 64 bits.

    Raises:
        UnsupportedError: If there is none.
    """
    if isinstance(kind, k.Optional):
        return type_of(kind.of, large)
    if kind in (k.NONE, k.NEVER):
        return s.null()
    if isinstance(kind, k.Tuple):
        names = kind.names or tuple(f"f{place}" for place in range(len(kind.items)))
        types = [type_of(item, large) for item in kind.items]
        return s.struct(list(zip(names, types, strict=True)))
    if isinstance(kind, k.Container) and kind.name in ("list", "set"):
        item = type_of(kind.items[0], large)
        return s.large_list(item) if large else s.list_(item)
    if kind.name not in _RESULTS:
        raise UnsupportedError(f"results that are {kind}")
    return (_LARGE if large and kind.name in _LARGE else _RESULTS)[kind.name]


def has_large(data_type: s.DataType) -> bool:
    """Whether a type or one of its parts has offsets of 64 bits."""
    storage = data_type.storage
    large = isinstance(storage, s.LargeUtf8 | s.LargeBinary | s.LargeList | s.LargeListView)
    return large or any(has_large(field.type) for field in getattr(storage, "fields", ()))


def declared_kind(kind: Kind, returns: s.DataType) -> Kind:
    """A kind of results, whose tuples have the names of the fields of a declared type.

    Raises:
        UnsupportedError: If results of that kind are no values of the type.
    """
    storage = returns.storage
    if isinstance(kind, k.Optional):
        return k.optional(declared_kind(kind.of, returns))
    if kind in (k.NONE, k.NEVER):
        return kind
    if isinstance(kind, k.Tuple) and isinstance(storage, s.Struct):
        if kind.names and kind.form is not tuple:
            names = tuple(field.name for field in storage.fields)
            if kind.names != names:
                raise UnsupportedError(f"results with the fields {kind.names} as {returns}")
        if len(kind.items) == len(storage.fields):
            pairs = zip(kind.items, storage.fields, strict=True)
            items = tuple(declared_kind(item, field.type) for item, field in pairs)
            return k.tuple_of(items, tuple(field.name for field in storage.fields), kind.form)
    if isinstance(kind, k.Container) and isinstance(storage, LISTS):
        return replace(kind, items=(declared_kind(kind.items[0], storage.fields[0].type),))
    if isinstance(storage, _DECLARED.get(kind.name, ())):
        return kind
    raise UnsupportedError(f"results that are {kind} as {returns}")


LISTS = (s.List, s.LargeList, s.ListView, s.LargeListView, s.FixedSizeList)
_DECLARED: dict[str, tuple[type[s.DataType], ...]] = {
    "bool": (s.Bool, s.Int, s.FloatingPoint),
    "int": (s.Int, s.FloatingPoint),
    "float": (s.FloatingPoint,),
    "str": (s.Utf8, s.LargeUtf8, s.Utf8View),
    "bytes": (s.Binary, s.LargeBinary, s.BinaryView, s.FixedSizeBinary),
    "date": (s.Date,),
    "datetime": (s.Timestamp,),
    "time": (s.Time,),
    "timedelta": (s.Duration,),
}
"""The types that results of a kind may be declared as."""
