"""Columns and kinds: the kind of a slot for each data type, and the data type of a result for each kind."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import methodcaller
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.arrays.values import zone_name, zone_of
from colkern.dispatch import ENCODED, NESTED, Dispatch, by_type
from colkern.errors import UnsupportedError
from colkern.kernels.row_decimals import END
from colkern.layouts import VIEW_BYTES, Role
from colkern.memory import EMPTY, HOST
from colkern.operations.strings import are_ascii
from colkern.rows import kinds as k
from colkern.rows.encoded import decoded_type
from colkern.rows.forms import PLAIN, Form
from colkern.rows.kinds import Kind
from colkern.targets import target_of

US_IN_DAY = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Reader:
    """The code that reads the slots of a column without children.

    Args:
        kind: The kind of a slot.
        parameters: The names of the parameters for it; `{n}` is the column's name.
        code: Code for the value of slot `i`.
        prepare: Returns the arguments for the parameters, from an array. Nothing is copied.
        check: A test that is true where the slot has no value in compiled code.
        loose: Whether a null slot may point outside the column's memory, so that only valid ones are read.
    """

    kind: Kind
    parameters: tuple[str, ...]
    code: str
    prepare: Callable[[Array], tuple[Any, ...]]
    check: str = ""
    loose: bool = False


@dataclass(frozen=True, slots=True)
class Lists:
    """The code that reads the slots of a column of lists, which are copied: the function may change them.

    Args:
        nullable: Whether an item may be null.
        parameters: As those of a `Reader`.
        first: Code for the position of the first item of slot `i` among the items of all lists.
        count: Code for the number of items of slot `i`.
        prepare: As that of a `Reader`.
        form: `list`, or `dict` for a map whose slots are dictionaries.
    """

    item: AnyReader
    nullable: bool
    parameters: tuple[str, ...]
    first: str
    count: str
    prepare: Callable[[Array], tuple[Any, ...]]
    form: type = list


@dataclass(frozen=True, slots=True)
class Rows:
    """The readers of a column of structs, one for each field.

    Args:
        nullable: Whether each field may be null.
        names: The names of the fields.
        form: `dict`, `tuple` for the entries of a map, or a `FieldRow`.
    """

    fields: tuple[AnyReader, ...]
    nullable: tuple[bool, ...]
    names: tuple[str, ...]
    form: type


AnyReader = Reader | Lists | Rows


def _items(array: Array) -> tuple[Any, ...]:
    kept = array._kept_items
    return (kept[1] if kept is not None and kept[0] is Role.DATA else array.items(Role.DATA),)


_READERS: Dispatch[type[s.DataType], Callable[..., AnyReader]] = by_type(
    "the slots of columns in row functions", s.Interval, s.Union, *ENCODED, s.Extension
)


@_READERS.of(s.Bool)
def _bool(_: s.DataType) -> Reader:
    def prepare(array: Array) -> tuple[Any, ...]:
        return (array.buffer(Role.DATA) or EMPTY).array, np.uint64(array.offset)

    return Reader(k.BOOL, ("{n}_bits", "{n}_first"), "get_bit({n}_bits, {n}_first + i)", prepare)


@_READERS.of(s.Int)
def _int(type_: s.Int) -> Reader:
    if type_ == s.uint64():
        return Reader(k.INT, ("{n}",), "i8({n}[i])", _items, "i8({n}[i]) < 0")
    return Reader(k.INT, ("{n}",), "i8({n}[i])", _items)


@_READERS.of(s.FloatingPoint)
def _float(type_: s.FloatingPoint) -> Reader:
    def widened(array: Array) -> tuple[Any, ...]:
        return (array.items(Role.DATA).astype(np.float32),)

    return Reader(k.FLOAT, ("{n}",), "f8({n}[i])", widened if type_.bit_width == 16 else _items)


@_READERS.of(s.Decimal)
def _decimal(type_: s.Decimal) -> Reader:
    kind, exponent = k.decimal_of(type_.scale), -type_.scale
    if type_.scale < 0:
        raise UnsupportedError(f"{type_} as an argument of a row function")
    words = max(type_.bit_width // 64, 1)
    low = f"i8({{n}}[i * u8({words})])" if words > 1 else "i8({n}[i])"
    tests = [f"{low} >= {END} or {low} <= -{END}"]
    tests += [f"i8({{n}}[i * u8({words}) + u8({word})]) != {low} >> 63" for word in range(1, words)]

    def prepare(array: Array) -> tuple[Any, ...]:
        if words == 1:
            return _items(array)
        data, width = array.buffer(Role.DATA) or EMPTY, words * 8
        return (data.view(np.dtype("<i8"), array.length * words, array.offset * width),)

    few = type_.precision < len(str(END))
    checks = tests[1:] if few else tests
    return Reader(kind, ("{n}",), f"Decimal({low}, {exponent})", prepare, " or ".join(checks))


def _offsets(kind: Kind) -> Callable[[s.DataType], Reader]:
    def prepare(array: Array) -> tuple[Any, ...]:
        address = (array.buffer(Role.BYTES) or EMPTY).address
        offsets = array.items(Role.OFFSETS)
        return offsets, address, all_ascii(array) if kind == k.TEXT else 0

    name = "row_text" if kind == k.TEXT else "row_bytes"
    size = "i8({n}_offsets[i + u8(1)]) - i8({n}_offsets[i])"
    code = f"{name}({{n}}_base + i8({{n}}_offsets[i]), {size}, {{n}}_ascii)"
    return lambda _: Reader(kind, ("{n}_offsets", "{n}_base", "{n}_ascii"), code, prepare)


def all_ascii(array: Array) -> int:
    """Returns 1 if all bytes of a text column's slots are below 128, from one pass in host memory."""
    buffer = array.buffer(Role.BYTES)
    if buffer is None or not array.length:
        return 1
    if buffer.device != HOST:
        return 0
    offsets = array.items(Role.OFFSETS)
    return int(are_ascii(buffer.array[int(offsets[0]) : int(offsets[-1])], target_of(HOST)))


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


@_READERS.of(s.FixedSizeBinary)
def _fixed_size_binary(type_: s.FixedSizeBinary) -> Reader:
    width = type_.byte_width

    def prepare(array: Array) -> tuple[Any, ...]:
        return ((array.buffer(Role.DATA) or EMPTY).address + array.offset * width,)

    return Reader(k.BYTES, ("{n}_base",), f"Bytes({{n}}_base + i8(i) * {width}, {width})", prepare)


@_READERS.of(s.Date)
def _date(type_: s.Date) -> Reader:
    code = "i8({n}[i])" if type_ == s.date32() else "(i8({n}[i]) // 86400000)"
    first, end = _calendar(1)
    return Reader(k.DATE, ("{n}",), code, _items, f"{code} < {first} or {code} >= {end}")


def _calendar(units_in_day: int) -> tuple[int, int]:
    """Returns the first moment of Python's calendar, and the first moment after it, in a unit."""
    first, last = (
        (datetime.date(*day).toordinal() - datetime.date(1970, 1, 1).toordinal()) * units_in_day
        for day in ((1, 1, 1), (9999, 12, 31))
    )
    return first, last + units_in_day


MICROSECONDS = {"s": (1_000_000, 1), "ms": (1000, 1), "us": (1, 1), "ns": (1, 1000)}


def _scaled(unit: str) -> str:
    """Returns code that converts a number of a unit to microseconds."""
    times, by = MICROSECONDS[unit]
    code = "i8({n}[i])"
    return f"{code} // {by}" if by > 1 else f"{code} * {times}" if times > 1 else code


@_READERS.of(s.Time)
def _time(type_: s.Time) -> Reader:
    return _of_unit(k.TIME, type_.unit)


def _of_unit(kind: Kind, unit: str, check: str = "") -> Reader:
    exact = "" if unit != "ns" else "i8({n}[i]) % 1000 != 0"
    tests = " or ".join(f"({test})" for test in (check, exact) if test)
    return Reader(kind, ("{n}",), _scaled(unit), _items, tests)


@_READERS.of(s.Timestamp)
def _timestamp(type_: s.Timestamp) -> Reader:
    times, by = MICROSECONDS[type_.unit]
    per_day = US_IN_DAY * by // times
    first, end = _calendar(per_day)
    if type_.timezone:
        # Local time in a zone may be up to a day earlier or later.
        first, end = first + per_day, end - per_day
    # 64 bits of nanoseconds are always within Python's calendar.
    check = f"i8({{n}}[i]) < {first} or i8({{n}}[i]) >= {end}" if type_.unit != "ns" else ""
    kind = k.datetime_in(zone_of(type_.timezone) if type_.timezone else None)
    return _of_unit(kind, type_.unit, check)


def _most(unit: str) -> int:
    """Returns the longest duration of Python's in a unit, as far as it fits into 64 bits."""
    limit = 86_399_999_999_999_999_999 // 1_000_000
    times, by = MICROSECONDS[unit]
    return min(limit * 1_000_000 * by // times, (1 << 63) - 1)


@_READERS.of(s.Duration)
def _duration(type_: s.Duration) -> Reader:
    most = _most(type_.unit)
    return _of_unit(k.TIMEDELTA, type_.unit, f"i8({{n}}[i]) > {most} or i8({{n}}[i]) < -{most}")


# Nested types


def _item(type_: s.DataType, form: Form) -> AnyReader:
    """Returns the reader for the items of a list."""
    item = type_.fields[0].type
    if item == s.null():
        # An empty list of nulls is read as a list of any kind; rows with other lists are left to Python.
        return Reader(k.NEVER, (), "", lambda _: (), "True")
    if isinstance(type_, s.Map):
        return reader_of(item, Form(structs=tuple, parts=(form.part(0), form.part(1))))
    return reader_of(item, form.part(0))


def _lists(
    first: str, count: str, **parameters: Callable[[Array], Any]
) -> Callable[[Any, Form], Lists]:
    """Returns the maker of readers for types of lists; `SIZE` in the code is the length of all lists."""

    def lists(type_: Any, form: Form) -> Lists:
        is_map, size = isinstance(type_, s.Map), str(getattr(type_, "list_size", ""))
        return Lists(
            _item(type_, form),
            type_.fields[0].nullable and not is_map,
            tuple(f"{{n}}_{name}" for name in parameters),
            first.replace("SIZE", size),
            count.replace("SIZE", size),
            lambda array: tuple(passed(array) for passed in parameters.values()),
            form.maps if is_map else list,
        )

    return lists


_offsets_of = methodcaller("items", Role.OFFSETS)
_FIRST = "i8({n}_offsets[i])"
_OFFSET_LISTS = _lists(_FIRST, f"i8({{n}}_offsets[i + u8(1)]) - {_FIRST}", offsets=_offsets_of)
_VIEWS = _lists(
    _FIRST, "i8({n}_sizes[i])", offsets=_offsets_of, sizes=methodcaller("items", Role.SIZES)
)


def _offset(array: Array) -> np.uint64:
    return np.uint64(array.offset)


_ALIKE = _lists("i8({n}_start + i) * SIZE", "i8(SIZE)", start=_offset)
_READERS |= dict.fromkeys((s.List, s.LargeList, s.Map), _OFFSET_LISTS)
_READERS |= {s.ListView: _VIEWS, s.LargeListView: _VIEWS, s.FixedSizeList: _ALIKE}


def _rows(type_: s.Struct, form: Form) -> Rows:
    names = tuple(field.name for field in type_.fields)
    if len(set(names)) < len(names):
        raise UnsupportedError(f"{type_} as an argument of a row function: two fields of one name")
    forms = [form.field(place, name) for place, name in enumerate(names)]
    fields = tuple(map(reader_of, (field.type for field in type_.fields), forms))
    nullable = tuple(field.nullable for field in type_.fields)
    return Rows(fields, nullable, () if form.structs is tuple else names, form.structs)


_READERS |= {s.Null: lambda _: Reader(k.NONE, (), "", lambda _: ()), s.Struct: _rows}
_READERS |= dict.fromkeys((s.Utf8, s.LargeUtf8), _offsets(k.TEXT))
_READERS |= dict.fromkeys((s.Binary, s.LargeBinary), _offsets(k.BYTES))
_READERS |= {s.Utf8View: _views(k.TEXT), s.BinaryView: _views(k.BYTES)}


def reader_of(data_type: s.DataType, form: Form = PLAIN) -> AnyReader:
    """Returns the reader for slots of a type; extension and encoded types are read as their values are.

    Args:
        form: The classes that maps and structs have for the function.

    Raises:
        UnsupportedError: If row functions do not take the type.
    """
    storage = decoded_type(data_type).storage
    if isinstance(storage, s.Union):
        raise UnsupportedError(
            f"{data_type} as an argument of a row function: its values are of several types"
        )
    if type(storage) not in _READERS:
        raise UnsupportedError(f"{data_type} as an argument of a row function")
    read = _READERS[type(storage)]
    return read(storage, form) if isinstance(storage, NESTED) else read(storage)


RESULTS_OF_HINTS: dict[type, s.DataType] = {
    bool: s.bool_(),
    int: s.int64(),
    float: s.float64(),
    str: s.utf8(),
    bytes: s.binary(),
    datetime.date: s.date32(),
    datetime.datetime: s.timestamp("us"),
    datetime.timedelta: s.duration("us"),
    datetime.time: s.time64("us"),
}
"""The types of results for hints that are Python types; a kind has the name of its Python type."""

_RESULTS = {hint.__name__: data_type for hint, data_type in RESULTS_OF_HINTS.items()} | {
    k.UNSIGNED.name: s.uint64()
}

_LARGE: dict[str, s.DataType] = {"str": s.large_utf8(), "bytes": s.large_binary()}


def type_of(kind: Kind, large: bool = False) -> s.DataType:
    """Returns the data type of a column of results of a kind.

    Args:
        large: Whether its offsets have 64 bits.

    Raises:
        UnsupportedError: If there is no such type.
    """
    if isinstance(kind, k.Optional):
        return type_of(kind.of, large)
    if kind in (k.NONE, k.NEVER):
        return s.null()
    if k.has_iterator(kind):
        raise UnsupportedError("results that are iterators: return list(…) of them")
    if isinstance(kind, k.Record) and k.data_class_of(kind.form) is None:
        raise UnsupportedError(
            f"results that are instances of {kind.form.__name__}: return its fields"
        )
    if isinstance(kind, k.Compound):
        names = kind.names or tuple(f"f{place}" for place in range(len(kind.items)))
        types = [type_of(item, large) for item in kind.items]
        return s.struct(list(zip(names, types, strict=True)))
    if isinstance(kind, k.Container):
        if isinstance(kind.items[0], k.Optional) and kind.name == "dict":
            raise UnsupportedError(f"results that are {kind}: a key of a map cannot be null")
        if kind.name in ("dict", MAP):
            items = kind.items if kind.name == "dict" else getattr(kind.items[0], "items", ())
            key, value = (type_of(item, large) for item in items)
            return s.map_(key, value)
        item = type_of(kind.items[0], large)
        return s.large_list(item) if large else s.list_(item)
    if isinstance(kind, k.Aware):
        try:
            return s.timestamp("us", zone_name(datetime.datetime(2000, 1, 1, tzinfo=kind.zone)))
        except ValueError as error:
            raise UnsupportedError(f"results that are {kind}: {error}") from error
    if isinstance(kind, k.Decimal):
        if kind.scale is None:
            raise UnsupportedError("results that are decimals of any scale: declare their type")
        return s.decimal128(s.MAX_DECIMAL_PRECISION[128], kind.scale)
    if kind.name not in _RESULTS:
        raise UnsupportedError(f"results that are {kind}")
    return (_LARGE if large and kind.name in _LARGE else _RESULTS)[kind.name]


def has_any(data_type: s.DataType, types: tuple[type[s.DataType], ...]) -> bool:
    """Whether a type, or one of its children, is of one of some types."""
    storage = data_type.storage
    children = getattr(storage, "fields", ())
    return isinstance(storage, types) or any(has_any(field.type, types) for field in children)


LARGE: tuple[type[s.DataType], ...] = (s.LargeUtf8, s.LargeBinary, s.LargeList, s.LargeListView)
"""The types with 64-bit offsets."""


def declared_kind(kind: Kind, returns: s.DataType) -> Kind:
    """Returns a kind of results in which tuples have the field names of the declared type.

    Raises:
        UnsupportedError: If results of that kind are not values of the type.
    """
    storage = decoded_type(returns).storage
    if isinstance(kind, k.Optional):
        return k.optional(declared_kind(kind.of, returns))
    if kind in (k.NONE, k.NEVER):
        return kind
    if isinstance(kind, k.Compound) and isinstance(storage, s.Struct):
        if kind.names and kind.form is not tuple:
            names = tuple(field.name for field in storage.fields)
            if kind.names != names:
                raise UnsupportedError(f"results with the fields {kind.names} as {returns}")
        if len(kind.items) == len(storage.fields):
            pairs = zip(kind.items, storage.fields, strict=True)
            items = tuple(declared_kind(item, field.type) for item, field in pairs)
            return k.tuple_of(items, tuple(field.name for field in storage.fields), kind.form)
    if isinstance(kind, k.Container) and kind.name != "dict" and isinstance(storage, LISTS):
        return replace(kind, items=(declared_kind(kind.items[0], storage.fields[0].type),))
    if isinstance(kind, k.Container) and isinstance(storage, s.Map):
        return _declared_map(kind, storage)
    if isinstance(kind, k.Decimal) and isinstance(storage, s.Decimal) and storage.scale >= 0:
        return k.decimal_of(storage.scale)
    # A datetime must have a zone if and only if the type has one.
    is_aware = isinstance(kind, k.Aware)
    has_zone = bool(storage.timezone) if isinstance(storage, s.Timestamp) else is_aware
    if isinstance(storage, _DECLARED.get(kind.name, ())) and has_zone == is_aware:
        return kind
    raise UnsupportedError(f"results that are {kind} as {returns}")


def may_be_declared(returns: s.DataType, kind: Kind) -> bool:
    """Whether results of a kind may be values of the declared type."""
    try:
        declared_kind(kind, returns)
    except UnsupportedError:
        return False
    return True


def lists_of(kind: Kind, returns: s.DataType, key: Any) -> dict[Any, Kind]:
    """Returns kinds of tuples of any length, by their keys, where results are tuples and the declared type
    has lists; `key` is that of the results."""
    if not isinstance(returns, LISTS):
        return {}
    of, item = k.present(kind), returns.fields[0].type
    if isinstance(of, k.Container) and of.name == "list":
        within = [lists_of(of.items[0], item, (site, 0)) for site in of.sites]
        return {own: found for kinds in within for own, found in kinds.items()}
    tuples = k.of_any_length(of)
    return {} if tuples is None else {key: tuples if of is kind else k.optional(tuples)}


def _declared_map(kind: k.Container, type_: s.Map) -> Kind:
    """Returns the kind of a dictionary, or of a list of pairs, that is declared to be a map."""
    fields = type_.entries_field.type.fields
    pair = k.tuple_of(kind.items) if kind.name == "dict" else kind.items[0]
    if kind.name == "set" or (pair != k.NEVER and len(getattr(pair, "items", ())) != len(fields)):
        raise UnsupportedError(f"results that are {kind} as {type_}")
    parts = getattr(pair, "items", (k.NEVER, k.NEVER))
    items = tuple(declared_kind(part, of.type) for part, of in zip(parts, fields, strict=True))
    if kind.name == "dict":
        return replace(kind, items=items)
    return replace(kind, name=MAP, items=(k.tuple_of(items, ("key", "value")),))


MAP = "map"
"""The name of the kind of a list of pairs that is declared to be a map."""

LISTS: tuple[type[s.DataType], ...] = (
    s.List,
    s.LargeList,
    s.ListView,
    s.LargeListView,
    s.FixedSizeList,
)
_DECLARED: dict[str, tuple[type[s.DataType], ...]] = {
    "bool": (s.Bool, s.Int, s.FloatingPoint),
    "int": (s.Int, s.FloatingPoint),
    "unsigned": (s.Int, s.FloatingPoint),
    "float": (s.FloatingPoint,),
    "str": (s.Utf8, s.LargeUtf8, s.Utf8View),
    "bytes": (s.Binary, s.LargeBinary, s.BinaryView, s.FixedSizeBinary),
    "date": (s.Date,),
    "datetime": (s.Timestamp,),
    "aware": (s.Timestamp,),
    "time": (s.Time,),
    "timedelta": (s.Duration,),
}
"""The types that may be declared for results of a kind."""
