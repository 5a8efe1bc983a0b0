"""Data types in Arrow's integration JSON, both ways.

Integration testing: "JSON test data format", Type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from colkern import schema as s
from colkern.errors import InvalidArrowError
from colkern.integration.entries import Entry, shown

Fields = tuple[s.Field, ...]

_TIME_UNITS = {"SECOND": "s", "MILLISECOND": "ms", "MICROSECOND": "us", "NANOSECOND": "ns"}
_DATE_UNITS = {"DAY": "day", "MILLISECOND": "ms"}
_INTERVAL_UNITS = {
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

    Args:
        entry: The entry.
        fields: The fields of its children.

    Raises:
        InvalidArrowError: If the type is unknown, or a parameter or the children do not fit it.
    """
    name = entry.text("name")
    found = _BY_NAME.get(name)
    if found is None:
        raise InvalidArrowError(f"unknown type {shown(name)}")
    row, is_leaf = found
    if is_leaf and fields:
        raise InvalidArrowError(f"{name}: {len(fields)} children of a type that has none")
    try:
        return row.read(entry, fields)
    except InvalidArrowError:
        raise
    except ValueError as error:
        raise InvalidArrowError(f"{name}: {error}") from None


def type_to_json(data_type: s.DataType) -> dict[str, Any]:
    """The `type` entry of a data type that is neither a dictionary nor an extension type."""
    row = _LEAVES.get(type(data_type)) or _NESTED[type(data_type)]
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
    write: Callable[[Any], dict[str, Any]]


def _plain(name: str, made: s.DataType) -> _Row:
    return _Row(name, lambda entry, fields: made, lambda type_: {})


def _name_of(value: Any, names: dict[str, Any]) -> str:
    return next(name for name, other in names.items() if other == value)


def _int(entry: Entry, fields: Fields) -> s.Int:
    bits = entry.integer("bitWidth")
    if bits not in (8, 16, 32, 64):
        raise InvalidArrowError(f"integers of {bits} bits; there are 8, 16, 32 and 64")
    return s.Int(bits, entry.flag("isSigned"))


def _decimal(entry: Entry, fields: Fields) -> s.Decimal:
    # Before there were other widths, it was left out.
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


def _write_timestamp(type_: s.Timestamp) -> dict[str, Any]:
    zone = {"timezone": type_.timezone} if type_.timezone else {}
    return {"unit": _name_of(type_.unit, _TIME_UNITS), **zone}


_LEAVES: dict[type[s.DataType], _Row] = {
    s.Null: _plain("null", s.null()),
    s.Bool: _plain("bool", s.bool_()),
    s.Int: _Row("int", _int, lambda t: {"isSigned": t.signed, "bitWidth": t.bit_width}),
    s.FloatingPoint: _Row(
        "floatingpoint",
        lambda entry, fields: s.FloatingPoint(entry.choice("precision", _PRECISIONS)),
        lambda t: {"precision": _name_of(t.bit_width, _PRECISIONS)},
    ),
    s.Decimal: _Row(
        "decimal",
        _decimal,
        lambda t: {"precision": t.precision, "scale": t.scale, "bitWidth": t.bit_width},
    ),
    s.Date: _Row(
        "date",
        lambda entry, fields: s.Date(entry.choice("unit", _DATE_UNITS)),
        lambda t: {"unit": _name_of(t.unit, _DATE_UNITS)},
    ),
    s.Time: _Row(
        "time",
        _time,
        lambda t: {"unit": _name_of(t.unit, _TIME_UNITS), "bitWidth": t.bit_width},
    ),
    s.Timestamp: _Row("timestamp", _timestamp, _write_timestamp),
    s.Duration: _Row(
        "duration",
        lambda entry, fields: s.Duration(entry.choice("unit", _TIME_UNITS)),
        lambda t: {"unit": _name_of(t.unit, _TIME_UNITS)},
    ),
    s.Interval: _Row(
        "interval",
        lambda entry, fields: s.Interval(entry.choice("unit", _INTERVAL_UNITS)),
        lambda t: {"unit": _name_of(t.unit, _INTERVAL_UNITS)},
    ),
    s.FixedSizeBinary: _Row(
        "fixedsizebinary",
        lambda entry, fields: s.fixed_size_binary(entry.integer("byteWidth")),
        lambda t: {"byteWidth": t.byte_width},
    ),
    s.Binary: _plain("binary", s.binary()),
    s.Utf8: _plain("utf8", s.utf8()),
    s.LargeBinary: _plain("largebinary", s.large_binary()),
    s.LargeUtf8: _plain("largeutf8", s.large_utf8()),
    s.BinaryView: _plain("binaryview", s.binary_view()),
    s.Utf8View: _plain("utf8view", s.utf8_view()),
}


def _only_child(fields: Fields) -> s.Field:
    if len(fields) != 1:
        raise InvalidArrowError(f"{len(fields)} children; there is one")
    return fields[0]


def _list(name: str, make: Callable[[s.Field], s.DataType]) -> _Row:
    return _Row(name, lambda entry, fields: make(_only_child(fields)), lambda type_: {})


def _map(entry: Entry, fields: Fields) -> s.Map:
    entries = _only_child(fields)
    if not isinstance(entries.type, s.Struct) or len(entries.type.fields) != 2:
        raise InvalidArrowError(f"entries of {entries.type}, not a struct of two fields")
    return s.Map(entries, entry.flag("keysSorted"))


def _union(entry: Entry, fields: Fields) -> s.Union:
    make = entry.choice("mode", _UNION_MODES)
    codes = entry.items("typeIds", list(range(len(fields))))
    if not all(type(code) is int for code in codes):
        raise InvalidArrowError(f"type ids {shown(codes)}")
    union: s.Union = make(fields, codes)
    return union


def _run_end_encoded(entry: Entry, fields: Fields) -> s.RunEndEncoded:
    if len(fields) != 2:
        raise InvalidArrowError(f"{len(fields)} children; there are two")
    # Checks the type of the run ends; their field may have metadata of its own.
    s.run_end_encoded(fields[0].type, fields[1])  # type: ignore[arg-type]
    return s.RunEndEncoded(*fields)


_NESTED: dict[type[s.DataType], _Row] = {
    s.List: _list("list", s.List),
    s.LargeList: _list("largelist", s.LargeList),
    s.ListView: _list("listview", s.ListView),
    s.LargeListView: _list("largelistview", s.LargeListView),
    s.FixedSizeList: _Row(
        "fixedsizelist",
        lambda entry, fields: s.fixed_size_list(_only_child(fields), entry.integer("listSize")),
        lambda t: {"listSize": t.list_size},
    ),
    s.Struct: _Row("struct", lambda entry, fields: s.Struct(fields), lambda type_: {}),
    s.Map: _Row("map", _map, lambda t: {"keysSorted": t.keys_sorted}),
    s.Union: _Row(
        "union", _union, lambda t: {"mode": t.mode.upper(), "typeIds": list(t.type_codes)}
    ),
    s.RunEndEncoded: _Row("runendencoded", _run_end_encoded, lambda type_: {}),
}

_BY_NAME = {
    row.name: (row, is_leaf)
    for rows, is_leaf in ((_LEAVES, True), (_NESTED, False))
    for row in rows.values()
}
