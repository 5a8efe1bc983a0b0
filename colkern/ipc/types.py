"""The data types of metadata: number, name, parameters and children, for IPC and for integration JSON.

Parameters have their names in `Schema.fbs`. IPC has numbers for the members of an enumeration, JSON has
their names.

Columnar format 1.5: "Data Types", `Schema.fbs`; Integration testing: "JSON test data format", Type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from colkern import schema as s
from colkern.dispatch import Dispatch, by_type
from colkern.errors import InvalidArrowError
from colkern.ipc.enums import Type


class Parameter(NamedTuple):
    """A parameter of a data type.

    Args:
        attribute: The attribute of the type that has it.
        kind: What JSON has for it, unless it is of an enumeration.
        members: Of an enumeration: name → value, in the order of their numbers.
        optional: Whether JSON may leave it out.
    """

    attribute: str
    kind: type = int
    members: Mapping[str, Any] | None = None
    optional: bool = False

    def to_number(self, data_type: s.DataType) -> Any:
        """The parameter of a type as IPC has it."""
        value = getattr(data_type, self.attribute)
        return value if self.members is None else list(self.members.values()).index(value)

    def of_number(self, name: str, number: Any) -> Any:
        """The value of what IPC has; raises `InvalidArrowError` if there is no such member."""
        if self.members is None:
            return number
        if not 0 <= number < len(self.members):
            raise InvalidArrowError(f"{name} number {number}; there are {len(self.members)}")
        return list(self.members.values())[number]


class TypeRow(NamedTuple):
    """A class of data types in metadata.

    Args:
        number: The number in the `Type` union.
        name: The name in JSON.
        make: Makes the type of its fields, and of its parameters by attribute; raises `ValueError`.
        children: How many there are; None for any number.
        parameters: Name → parameter.
    """

    number: int
    name: str
    make: Callable[..., s.DataType]
    children: int | None = 0
    parameters: Mapping[str, Parameter] = {}

    def made(self, fields: tuple[s.Field, ...], attributes: Mapping[str, Any]) -> s.DataType:
        """The type of those fields and parameters.

        Raises:
            InvalidArrowError: If they break a rule of the format.
        """
        if self.children not in (None, len(fields)):
            expected = self.children or "no"
            raise InvalidArrowError(f"{self.name}: expected {expected} children, got {len(fields)}")
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


_TIME_UNIT = Parameter(
    "unit", members={"SECOND": "s", "MILLISECOND": "ms", "MICROSECOND": "us", "NANOSECOND": "ns"}
)
_DATE_UNIT = Parameter("unit", members={"DAY": "day", "MILLISECOND": "ms"})
_INTERVAL_UNIT = Parameter(
    "unit",
    members={
        "YEAR_MONTH": "year_month",
        "DAY_TIME": "day_time",
        "MONTH_DAY_NANO": "month_day_nano",
    },
)
_PRECISION = Parameter("bit_width", members={"HALF": 16, "SINGLE": 32, "DOUBLE": 64})
_MODE = Parameter("mode", members={"SPARSE": "sparse", "DENSE": "dense"})
_BIT_WIDTH = Parameter("bit_width")
_MAYBE_BIT_WIDTH = Parameter("bit_width", optional=True)
_INT = {"bitWidth": _BIT_WIDTH, "is_signed": Parameter("signed", bool)}
_OF_DECIMALS = {
    "precision": Parameter("precision"),
    "scale": Parameter("scale"),
    # Old JSON files leave it out: they know one width.
    "bitWidth": _MAYBE_BIT_WIDTH,
}
_OF_TIMESTAMPS = {"unit": _TIME_UNIT, "timezone": Parameter("timezone", str, optional=True)}
_OF_UNIONS = {"mode": _MODE, "typeIds": Parameter("type_codes", list, optional=True)}

ROWS: Dispatch[type[s.DataType], TypeRow] = by_type("types in metadata", s.Dictionary, s.Extension)
"""The rows by class; a dictionary's is that of its values, an extension's that of its storage."""

ROWS |= {
    s.Null: TypeRow(Type.Null, "null", s.Null),
    s.Bool: TypeRow(Type.Bool, "bool", s.Bool),
    s.Int: TypeRow(Type.Int, "int", _int, 0, _INT),
    s.FloatingPoint: TypeRow(
        Type.FloatingPoint, "floatingpoint", s.FloatingPoint, 0, {"precision": _PRECISION}
    ),
    s.Decimal: TypeRow(Type.Decimal, "decimal", _decimal, 0, _OF_DECIMALS),
    s.Date: TypeRow(Type.Date, "date", s.Date, 0, {"unit": _DATE_UNIT}),
    s.Time: TypeRow(
        Type.Time, "time", _time, 0, {"unit": _TIME_UNIT, "bitWidth": _MAYBE_BIT_WIDTH}
    ),
    s.Timestamp: TypeRow(
        Type.Timestamp,
        "timestamp",
        lambda unit, timezone=None: s.Timestamp(unit, timezone or None),
        0,
        _OF_TIMESTAMPS,
    ),
    s.Duration: TypeRow(Type.Duration, "duration", s.Duration, 0, {"unit": _TIME_UNIT}),
    s.Interval: TypeRow(Type.Interval, "interval", s.Interval, 0, {"unit": _INTERVAL_UNIT}),
    s.FixedSizeBinary: TypeRow(
        Type.FixedSizeBinary,
        "fixedsizebinary",
        s.fixed_size_binary,
        0,
        {"byteWidth": Parameter("byte_width")},
    ),
    s.Binary: TypeRow(Type.Binary, "binary", s.Binary),
    s.Utf8: TypeRow(Type.Utf8, "utf8", s.Utf8),
    s.LargeBinary: TypeRow(Type.LargeBinary, "largebinary", s.LargeBinary),
    s.LargeUtf8: TypeRow(Type.LargeUtf8, "largeutf8", s.LargeUtf8),
    s.BinaryView: TypeRow(Type.BinaryView, "binaryview", s.BinaryView),
    s.Utf8View: TypeRow(Type.Utf8View, "utf8view", s.Utf8View),
    s.List: TypeRow(Type.List, "list", s.List, 1),
    s.LargeList: TypeRow(Type.LargeList, "largelist", s.LargeList, 1),
    s.ListView: TypeRow(Type.ListView, "listview", s.ListView, 1),
    s.LargeListView: TypeRow(Type.LargeListView, "largelistview", s.LargeListView, 1),
    s.FixedSizeList: TypeRow(
        Type.FixedSizeList,
        "fixedsizelist",
        s.fixed_size_list,
        1,
        {"listSize": Parameter("list_size")},
    ),
    s.Struct: TypeRow(Type.Struct_, "struct", lambda *fields: s.Struct(fields), None),
    s.Map: TypeRow(
        Type.Map, "map", s.map_of_entries, 1, {"keysSorted": Parameter("keys_sorted", bool)}
    ),
    s.Union: TypeRow(Type.Union, "union", _union, None, _OF_UNIONS),
    s.RunEndEncoded: TypeRow(Type.RunEndEncoded, "runendencoded", s.runs_of_fields, 2),
}

LEAVES = frozenset(kind for kind, row in ROWS.items() if row.children == 0)
"""The classes of types without children; dictionaries and extensions are none of them."""
