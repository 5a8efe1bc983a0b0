"""The table of the C Data interface's format strings, for writing and reading.

The head of a format string ends with its colon, if it has one; the type's parameters follow.

C Data interface: "Data type description - format strings".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from colkern import schema as s
from colkern.dispatch import BINARY, TEXT, Dispatch, by_type
from colkern.errors import InvalidArrowError, UnsupportedError

_UNIT_LETTERS: dict[str, s.TimeUnit] = {"s": "s", "m": "ms", "u": "us", "n": "ns"}
_UNION_MODES: dict[str, s.UnionMode] = {"+us:": "sparse", "+ud:": "dense"}

_PLAIN: dict[str, s.DataType] = {
    "n": s.null(),
    "b": s.bool_(),
    "c": s.int8(),
    "C": s.uint8(),
    "s": s.int16(),
    "S": s.uint16(),
    "i": s.int32(),
    "I": s.uint32(),
    "l": s.int64(),
    "L": s.uint64(),
    "e": s.float16(),
    "f": s.float32(),
    "g": s.float64(),
    "z": s.binary(),
    "Z": s.large_binary(),
    "vz": s.binary_view(),
    "u": s.utf8(),
    "U": s.large_utf8(),
    "vu": s.utf8_view(),
    "tdD": s.date32(),
    "tdm": s.date64(),
    "tiM": s.month_interval(),
    "tiD": s.day_time_interval(),
    "tin": s.month_day_nano_interval(),
    **{f"tt{letter}": s.Time(unit) for letter, unit in _UNIT_LETTERS.items()},
    **{f"tD{letter}": s.Duration(unit) for letter, unit in _UNIT_LETTERS.items()},
}
_PLAIN_FORMATS = {data_type: text for text, data_type in _PLAIN.items()}

Fields: TypeAlias = tuple[s.Field, ...]


class _Read(NamedTuple):
    """A format string with the fields and flags that a type is read from."""

    head: str
    parameters: str
    fields: Fields
    keys_sorted: bool


class _Row(NamedTuple):
    """Functions that write and read a type with parameters or children."""

    heads: tuple[str, ...]
    children: int | None
    write: Callable[[Any], str]  #: Type → format string.
    read: Callable[[_Read], s.DataType]  #: May raise `ValueError`.


def _number(text: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,19}", text):
        raise ValueError(f"expected a number, found {text!r}")
    return int(text)


def _write_decimal(data_type: s.Decimal) -> str:
    width = "" if data_type.bit_width == 128 else f",{data_type.bit_width}"
    return f"d:{data_type.precision},{data_type.scale}{width}"


def _read_decimal(text: _Read) -> s.DataType:
    numbers = [_number(number) for number in text.parameters.split(",")]
    if not 2 <= len(numbers) <= 3:
        raise ValueError("a decimal has precision, scale and perhaps a width")
    precision, scale, *width = numbers
    return s.decimal(width[0] if width else 128, precision, scale)


def _read_union(text: _Read) -> s.DataType:
    codes = [_number(code) for code in text.parameters.split(",")] if text.parameters else []
    make = s.sparse_union if _UNION_MODES[text.head] == "sparse" else s.dense_union
    return make(text.fields, codes)


_ROWS: Dispatch[type[s.DataType], _Row] = by_type(
    "format strings",
    # In `_PLAIN`, or written as their storage.
    *(s.Null, s.Bool, s.Int, s.FloatingPoint, *TEXT, *BINARY),
    *(s.Date, s.Time, s.Duration, s.Interval, s.Extension),
)


def _constant(head: str, children: int | None, read: Callable[[_Read], s.DataType]) -> _Row:
    """The row of a type that is written without parameters."""
    return _Row((head,), children, lambda _: head, read)


_ROWS |= {
    s.FixedSizeBinary: _Row(
        ("w:",),
        0,
        lambda data_type: f"w:{data_type.byte_width}",
        lambda text: s.fixed_size_binary(_number(text.parameters)),
    ),
    s.Decimal: _Row(("d:",), 0, _write_decimal, _read_decimal),
    s.Timestamp: _Row(
        tuple(f"ts{letter}:" for letter in _UNIT_LETTERS),
        0,
        lambda data_type: f"ts{data_type.unit[0]}:{data_type.timezone or ''}",
        lambda text: s.Timestamp(_UNIT_LETTERS[text.head[2]], text.parameters or None),
    ),
    s.List: _constant("+l", 1, lambda text: s.List(*text.fields)),
    s.LargeList: _constant("+L", 1, lambda text: s.LargeList(*text.fields)),
    s.ListView: _constant("+vl", 1, lambda text: s.ListView(*text.fields)),
    s.LargeListView: _constant("+vL", 1, lambda text: s.LargeListView(*text.fields)),
    s.FixedSizeList: _Row(
        ("+w:",),
        1,
        lambda data_type: f"+w:{data_type.list_size}",
        lambda text: s.fixed_size_list(text.fields[0], _number(text.parameters)),
    ),
    s.Struct: _constant("+s", None, lambda text: s.Struct(text.fields)),
    s.Map: _constant("+m", 1, lambda text: s.map_of_entries(text.fields[0], text.keys_sorted)),
    s.Union: _Row(
        tuple(_UNION_MODES),
        None,
        lambda data_type: f"+u{data_type.mode[0]}:{','.join(map(str, data_type.type_codes))}",
        _read_union,
    ),
    s.RunEndEncoded: _constant("+r", 2, lambda text: s.runs_of_fields(*text.fields)),
    # Read from the dictionary member: the format string is that of the indices.
    s.Dictionary: _Row(
        (), 0, lambda data_type: format_of(data_type.index_type), lambda _: s.null()
    ),
}

_ROWS_BY_HEAD = {head: row for row in _ROWS.values() for head in row.heads}


def format_of(data_type: s.DataType) -> str:
    """The format string of a type; dictionary types have that of their indices, extensions of storage."""
    plain = _PLAIN_FORMATS.get(data_type)
    if plain is not None:
        return plain
    row = _ROWS.get(type(data_type))
    if row is None:
        raise UnsupportedError(f"the C Data interface has no format string for {data_type}")
    return row.write(data_type)


def type_of(text: str, fields: Fields = (), *, keys_sorted: bool = False) -> s.DataType:
    """The type with that format string and those child fields."""
    plain = _PLAIN.get(text)
    head, colon, parameters = text.partition(":")
    row = _ROWS_BY_HEAD.get(head + colon)
    if plain is None and row is None:
        raise UnsupportedError(f"unknown format string {text!r}")
    children = row.children if row else 0
    if children not in (None, len(fields)):
        raise InvalidArrowError(f"format string {text!r}: {len(fields)} children, not {children}")
    if plain is not None:
        return plain
    assert row is not None
    try:
        return row.read(_Read(head + colon, parameters, fields, keys_sorted))
    except ValueError as error:
        raise InvalidArrowError(f"format string {text!r}: {error}") from None
