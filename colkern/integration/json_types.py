"""Data types in Arrow's integration JSON, both ways.

Integration testing: "JSON test data format", Type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from colkern import schema as s
from colkern.dispatch import Dispatch, by_type
from colkern.errors import InvalidArrowError
from colkern.integration.entries import Choice, Entry, Json, shown

Fields = tuple[s.Field, ...]

_TIME_UNITS: dict[str, s.TimeUnit] = {
    "SECOND": "s",
    "MILLISECOND": "ms",
    "MICROSECOND": "us",
    "NANOSECOND": "ns",
}
_DATE_UNITS: dict[str, Literal["day", "ms"]] = {"DAY": "day", "MILLISECOND": "ms"}
_INTERVAL_UNITS: dict[str, s.IntervalUnit] = {
    "YEAR_MONTH": "year_month",
    "DAY_TIME": "day_time",
    "MONTH_DAY_NANO": "month_day_nano",
}
_PRECISIONS = {"HALF": 16, "SINGLE": 32, "DOUBLE": 64}
_UNION_MODES: dict[str, Callable[..., s.Union]] = {
    "SPARSE": s.sparse_union,
    "DENSE": s.dense_union,
}


def type_from_json(entry: Entry, fields: Fields) -> s.DataType:
    """The data type of a field's `type` entry.

    Raises:
        InvalidArrowError: If the type is unknown, or a parameter or the children do not fit it.
    """
    name = entry.text("name")
    row = _BY_NAME.get(name)
    if row is None:
        raise InvalidArrowError(f"unknown type {shown(name)}")
    if fields and not row.has_children:
        raise InvalidArrowError(f"{name}: expected no children, got {len(fields)}")
    try:
        return row.read(entry, fields)
    except InvalidArrowError:
        raise
    except ValueError as error:
        raise InvalidArrowError(f"{name}: {error}") from None


def type_to_json(data_type: s.DataType) -> dict[str, Json]:
    """The `type` entry of a data type that is neither a dictionary nor an extension type."""
    row = _ROWS[type(data_type)]
    return {"name": row.name, **row.write(data_type)}


def index_type_from_json(entry: Entry) -> s.Int:
    """The type of dictionary indices; raises like `type_from_json`, also if it is no integer."""
    index_type = type_from_json(entry, ())
    if not isinstance(index_type, s.Int):
        raise InvalidArrowError(f"dictionary indices of type {index_type}")
    return index_type


class _Row(NamedTuple):
    name: str
    read: Callable[[Entry, Fields], s.DataType]
    write: Callable[[Any], dict[str, Json]] = lambda data_type: {}
    has_children: bool = False


def _plain(data_type: s.DataType, name: str) -> _Row:
    return _Row(name, lambda entry, fields: data_type)


def _of_choice(
    make: Callable[[Choice], s.DataType],
    name: str,
    key: str,
    field: str,
    choices: dict[str, Choice],
) -> _Row:
    """A type with one parameter: the member `key` spells the attribute `field` by its choices."""
    return _Row(
        name,
        lambda entry, fields: make(entry.choice(key, choices)),
        lambda data_type: {key: _name_of(getattr(data_type, field), choices)},
    )


def _name_of(value: object, names: Mapping[str, object]) -> str:
    return next(name for name, other in names.items() if other == value)


def _int(entry: Entry, fields: Fields) -> s.Int:
    bits = entry.integer("bitWidth")
    if bits not in (8, 16, 32, 64):
        raise InvalidArrowError(f"bitWidth of an integer: expected 8, 16, 32 or 64, got {bits}")
    return s.Int(bits, entry.flag("isSigned"))


def _decimal(entry: Entry, fields: Fields) -> s.Decimal:
    # Old files leave it out: they know one width.
    bits = entry.integer("bitWidth", 128)
    return s.decimal(bits, entry.integer("precision"), entry.integer("scale"))


def _time(entry: Entry, fields: Fields) -> s.Time:
    time = s.Time(entry.choice("unit", _TIME_UNITS))
    bits = entry.integer("bitWidth", time.bit_width)
    if bits != time.bit_width:
        raise InvalidArrowError(f"times in {time.unit} of {bits} bits, not {time.bit_width}")
    return time


def _timestamp(entry: Entry, fields: Fields) -> s.Timestamp:
    zone = entry.text("timezone", "")
    return s.Timestamp(entry.choice("unit", _TIME_UNITS), zone or None)


def _write_timestamp(type_: s.Timestamp) -> dict[str, Json]:
    zone = {"timezone": type_.timezone} if type_.timezone else {}
    return {"unit": _name_of(type_.unit, _TIME_UNITS), **zone}


def _only_child(fields: Fields) -> s.Field:
    if len(fields) != 1:
        raise InvalidArrowError(f"expected 1 child, got {len(fields)}")
    return fields[0]


def _map(entry: Entry, fields: Fields) -> s.Map:
    entries = _only_child(fields)
    if not isinstance(entries.type, s.Struct) or len(entries.type.fields) != 2:
        raise InvalidArrowError(f"entries: expected a struct of two fields, got {entries.type}")
    return s.Map(entries, entry.flag("keysSorted"))


def _union(entry: Entry, fields: Fields) -> s.Union:
    make = entry.choice("mode", _UNION_MODES)
    codes = entry.items("typeIds", list(range(len(fields))))
    if not all(type(code) is int for code in codes):
        raise InvalidArrowError(f"typeIds: expected integers, got {shown(codes)}")
    union: s.Union = make(fields, codes)
    return union


def _run_end_encoded(entry: Entry, fields: Fields) -> s.RunEndEncoded:
    if len(fields) != 2:
        raise InvalidArrowError(f"expected 2 children, got {len(fields)}")
    # Checks the type of the run ends; their field may have metadata of its own.
    s.run_end_encoded(fields[0].type, fields[1])  # type: ignore[arg-type]
    return s.RunEndEncoded(*fields)


def _list(make: Callable[[s.Field], s.DataType], name: str) -> _Row:
    return _Row(name, lambda entry, fields: make(_only_child(fields)), has_children=True)


_ROWS: Dispatch[type[s.DataType], _Row] = by_type(
    "types in integration JSON", s.Dictionary, s.Extension
)
_ROWS |= {
    s.Null: _plain(s.null(), "null"),
    s.Bool: _plain(s.bool_(), "bool"),
    s.Int: _Row("int", _int, lambda t: {"isSigned": t.signed, "bitWidth": t.bit_width}),
    s.FloatingPoint: _of_choice(
        s.FloatingPoint, "floatingpoint", "precision", "bit_width", _PRECISIONS
    ),
    s.Decimal: _Row(
        "decimal",
        _decimal,
        lambda t: {"precision": t.precision, "scale": t.scale, "bitWidth": t.bit_width},
    ),
    s.Date: _of_choice(s.Date, "date", "unit", "unit", _DATE_UNITS),
    s.Time: _Row(
        "time",
        _time,
        lambda t: {"unit": _name_of(t.unit, _TIME_UNITS), "bitWidth": t.bit_width},
    ),
    s.Timestamp: _Row("timestamp", _timestamp, _write_timestamp),
    s.Duration: _of_choice(s.Duration, "duration", "unit", "unit", _TIME_UNITS),
    s.Interval: _of_choice(s.Interval, "interval", "unit", "unit", _INTERVAL_UNITS),
    s.FixedSizeBinary: _Row(
        "fixedsizebinary",
        lambda entry, fields: s.fixed_size_binary(entry.integer("byteWidth")),
        lambda t: {"byteWidth": t.byte_width},
    ),
    s.Binary: _plain(s.binary(), "binary"),
    s.Utf8: _plain(s.utf8(), "utf8"),
    s.LargeBinary: _plain(s.large_binary(), "largebinary"),
    s.LargeUtf8: _plain(s.large_utf8(), "largeutf8"),
    s.BinaryView: _plain(s.binary_view(), "binaryview"),
    s.Utf8View: _plain(s.utf8_view(), "utf8view"),
    s.List: _list(s.List, "list"),
    s.LargeList: _list(s.LargeList, "largelist"),
    s.ListView: _list(s.ListView, "listview"),
    s.LargeListView: _list(s.LargeListView, "largelistview"),
    s.FixedSizeList: _Row(
        "fixedsizelist",
        lambda entry, fields: s.fixed_size_list(_only_child(fields), entry.integer("listSize")),
        lambda t: {"listSize": t.list_size},
        has_children=True,
    ),
    s.Struct: _Row("struct", lambda entry, fields: s.Struct(fields), has_children=True),
    s.Map: _Row("map", _map, lambda t: {"keysSorted": t.keys_sorted}, has_children=True),
    s.Union: _Row(
        "union",
        _union,
        lambda t: {"mode": t.mode.upper(), "typeIds": list(t.type_codes)},
        has_children=True,
    ),
    s.RunEndEncoded: _Row("runendencoded", _run_end_encoded, has_children=True),
}

_BY_NAME = {row.name: row for row in _ROWS.values()}
