"""The data types in metadata, for IPC and for integration JSON: table, attributes and children of each.

The slots of the tables have their names in `Schema.fbs`; JSON has the same names, or nearly. For
members of an enumeration, IPC has numbers and JSON has names.

Columnar format 1.5: "Data Types", `Schema.fbs`; Integration testing: "JSON test data format", Type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from colkern import schema as s
from colkern.dispatch import Dispatch, by_type
from colkern.errors import InvalidArrowError
from colkern.ipc.enums import Type
from colkern.ipc.flatbuffer.tables import Scalar, Table, Text, Vector

BOOL = Scalar("?", False)
INT16 = Scalar("h")
INT32 = Scalar("i")
TEXT = Text()


class Parameter(NamedTuple):
    """A parameter of a data type."""

    attribute: str  #: The attribute of the type that has it.
    slot: Scalar | Text | Vector  #: The slot of the table.
    #: Of an enumeration: name → value, in the order of their numbers.
    members: Mapping[str, object] | None = None
    optional: bool = False  #: Whether JSON may leave it out.

    def to_number(self, data_type: s.DataType) -> object:
        """The value of the parameter in a type, as IPC stores it."""
        value = getattr(data_type, self.attribute)
        return value if self.members is None else list(self.members.values()).index(value)

    def of_number(self, name: str, number: Any) -> Any:
        """The parameter's value for IPC's number; raises `InvalidArrowError` if there is no such member."""
        if self.members is None:
            return number
        if not 0 <= number < len(self.members):
            raise InvalidArrowError(f"{name} number {number}; there are {len(self.members)}")
        return list(self.members.values())[number]


class TypeRow(NamedTuple):
    """A class of data types, with its form in metadata."""

    table: Table  #: Its table, of the name that its number has in `Type`.
    #: Makes the type from its fields and its parameters by attribute; raises `ValueError`.
    make: Callable[..., s.DataType]
    children: int | None  #: How many there are; None for any number.
    parameters: Mapping[str, Parameter]  #: Name → parameter.

    @property
    def number(self) -> int:
        """The number in the `Type` union."""
        number: int = getattr(Type, self.table.name)
        return number

    @property
    def name(self) -> str:
        """The name in JSON."""
        return self.table.name.rstrip("_").lower()

    def new_type(self, fields: tuple[s.Field, ...], attributes: Mapping[str, object]) -> s.DataType:
        """The type with those fields and parameters."""
        if self.children not in (None, len(fields)):
            expected = {0: "no children", 1: "1 child"}.get(
                self.children, f"{self.children} children"
            )
            raise InvalidArrowError(f"{self.name}: expected {expected}, got {len(fields)}")
        try:
            return self.make(*fields, **attributes)
        except ValueError as error:
            raise InvalidArrowError(f"{self.name}: {error}") from None


def _int(bit_width: int, signed: bool) -> s.Int:
    if bit_width not in (8, 16, 32, 64):
        raise ValueError(f"bitWidth: expected 8, 16, 32 or 64, got {bit_width}")
    return s.Int(bit_width, signed)


def _decimal(precision: int, scale: int, bit_width: int = 128) -> s.Decimal:
    return s.decimal(bit_width, precision, scale)


def _time(unit: s.TimeUnit, bit_width: int | None = None) -> s.Time:
    time = s.Time(unit)
    if bit_width not in (None, time.bit_width):
        raise ValueError(f"times in {unit} of {bit_width} bits, not {time.bit_width}")
    return time


def _union(*fields: s.Field, mode: s.UnionMode, type_codes: Any = None) -> s.Union:
    codes = None if type_codes is None else list(type_codes)
    return (s.sparse_union if mode == "sparse" else s.dense_union)(fields, codes)


def _row(
    name: str, make: Callable[..., s.DataType], children: int | None = 0, **parameters: Parameter
) -> TypeRow:
    slots = {name: parameter.slot for name, parameter in parameters.items()}
    return TypeRow(Table(name, slots), make, children, parameters)


_TIME_UNITS = {"SECOND": "s", "MILLISECOND": "ms", "MICROSECOND": "us", "NANOSECOND": "ns"}
_DATE_UNITS = {"DAY": "day", "MILLISECOND": "ms"}
_INTERVAL_UNITS = {
    "YEAR_MONTH": "year_month",
    "DAY_TIME": "day_time",
    "MONTH_DAY_NANO": "month_day_nano",
}
_PRECISIONS = {"HALF": 16, "SINGLE": 32, "DOUBLE": 64}
_MODES = {"SPARSE": "sparse", "DENSE": "dense"}

# The default values of slots are those of `Schema.fbs`.
_UNIT = Parameter("unit", Scalar("h", 1), _TIME_UNITS)

ROWS: Dispatch[type[s.DataType], TypeRow] = by_type("types in metadata", s.Dictionary, s.Extension)
"""Class → row. Dictionaries use the row of their values, extensions that of their storage."""

ROWS |= {
    s.Null: _row("Null", s.Null),
    s.Bool: _row("Bool", s.Bool),
    s.Int: _row(
        "Int", _int, bitWidth=Parameter("bit_width", INT32), is_signed=Parameter("signed", BOOL)
    ),
    s.FloatingPoint: _row(
        "FloatingPoint", s.FloatingPoint, precision=Parameter("bit_width", INT16, _PRECISIONS)
    ),
    s.Decimal: _row(
        "Decimal",
        _decimal,
        precision=Parameter("precision", INT32),
        scale=Parameter("scale", INT32),
        # Old JSON files leave it out: they have only one width.
        bitWidth=Parameter("bit_width", Scalar("i", 128), optional=True),
    ),
    s.Date: _row("Date", s.Date, unit=Parameter("unit", Scalar("h", 1), _DATE_UNITS)),
    s.Time: _row(
        "Time", _time, unit=_UNIT, bitWidth=Parameter("bit_width", Scalar("i", 32), optional=True)
    ),
    s.Timestamp: _row(
        "Timestamp",
        lambda unit, timezone=None: s.Timestamp(unit, timezone or None),
        unit=Parameter("unit", INT16, _TIME_UNITS),
        timezone=Parameter("timezone", TEXT, optional=True),
    ),
    s.Duration: _row("Duration", s.Duration, unit=_UNIT),
    s.Interval: _row("Interval", s.Interval, unit=Parameter("unit", INT16, _INTERVAL_UNITS)),
    s.FixedSizeBinary: _row(
        "FixedSizeBinary", s.fixed_size_binary, byteWidth=Parameter("byte_width", INT32)
    ),
    s.Binary: _row("Binary", s.Binary),
    s.Utf8: _row("Utf8", s.Utf8),
    s.LargeBinary: _row("LargeBinary", s.LargeBinary),
    s.LargeUtf8: _row("LargeUtf8", s.LargeUtf8),
    s.BinaryView: _row("BinaryView", s.BinaryView),
    s.Utf8View: _row("Utf8View", s.Utf8View),
    s.List: _row("List", s.List, 1),
    s.LargeList: _row("LargeList", s.LargeList, 1),
    s.ListView: _row("ListView", s.ListView, 1),
    s.LargeListView: _row("LargeListView", s.LargeListView, 1),
    s.FixedSizeList: _row(
        "FixedSizeList", s.fixed_size_list, 1, listSize=Parameter("list_size", INT32)
    ),
    s.Struct: _row("Struct_", lambda *fields: s.Struct(fields), None),
    s.Map: _row("Map", s.map_of_entries, 1, keysSorted=Parameter("keys_sorted", BOOL)),
    s.Union: _row(
        "Union",
        _union,
        None,
        mode=Parameter("mode", INT16, _MODES),
        typeIds=Parameter("type_codes", Vector("<i4"), optional=True),
    ),
    s.RunEndEncoded: _row("RunEndEncoded", s.runs_of_fields, 2),
}

LEAVES = frozenset(kind for kind, row in ROWS.items() if row.children == 0)
"""The classes of types without children, except dictionaries and extensions."""
