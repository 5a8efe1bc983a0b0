"""The one table of format strings of the C Data interface, read both ways.

A format string ends at its colon, if it has one, with what stands before it, the head; what follows
are the type's parameters.

C Data interface: "Data type description - format strings".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.schema import (
    DataType,
    Decimal,
    Dictionary,
    Duration,
    Field,
    FixedSizeBinary,
    FixedSizeList,
    LargeList,
    LargeListView,
    List,
    ListView,
    Map,
    RunEndEncoded,
    Struct,
    Time,
    Timestamp,
    TimeUnit,
    Union,
    UnionMode,
    binary,
    binary_view,
    bool_,
    date32,
    date64,
    day_time_interval,
    decimal,
    dense_union,
    fixed_size_binary,
    fixed_size_list,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    large_binary,
    large_utf8,
    month_day_nano_interval,
    month_interval,
    null,
    run_end_encoded,
    sparse_union,
    uint8,
    uint16,
    uint32,
    uint64,
    utf8,
    utf8_view,
)

_UNIT_LETTERS: dict[str, TimeUnit] = {"s": "s", "m": "ms", "u": "us", "n": "ns"}
_UNION_MODES: dict[str, UnionMode] = {"+us:": "sparse", "+ud:": "dense"}

_PLAIN: dict[str, DataType] = {
    "n": null(),
    "b": bool_(),
    "c": int8(),
    "C": uint8(),
    "s": int16(),
    "S": uint16(),
    "i": int32(),
    "I": uint32(),
    "l": int64(),
    "L": uint64(),
    "e": float16(),
    "f": float32(),
    "g": float64(),
    "z": binary(),
    "Z": large_binary(),
    "vz": binary_view(),
    "u": utf8(),
    "U": large_utf8(),
    "vu": utf8_view(),
    "tdD": date32(),
    "tdm": date64(),
    "tiM": month_interval(),
    "tiD": day_time_interval(),
    "tin": month_day_nano_interval(),
    **{f"tt{letter}": Time(unit) for letter, unit in _UNIT_LETTERS.items()},
    **{f"tD{letter}": Duration(unit) for letter, unit in _UNIT_LETTERS.items()},
}
_PLAIN_FORMATS = {data_type: text for text, data_type in _PLAIN.items()}

Fields = tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class _Row:
    """How a type with parameters or children is written and read.

    Args:
        heads: The heads that it is read from.
        children: How many children it has; None for any number.
        write: Type → format string.
        read: (head, parameters, child fields, whether map keys are sorted) → type; may raise
            `ValueError`.
    """

    heads: tuple[str, ...]
    children: int | None
    write: Callable[[Any], str]
    read: Callable[[str, str, Fields, bool], DataType]


def _number(text: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,19}", text):
        raise ValueError(f"expected a number, found {text!r}")
    return int(text)


def _write_timestamp(data_type: Timestamp) -> str:
    return f"ts{data_type.unit[0]}:{data_type.timezone or ''}"


def _read_timestamp(head: str, parameters: str, _: Fields, __: bool) -> DataType:
    return Timestamp(_UNIT_LETTERS[head[2]], parameters or None)


def _write_decimal(data_type: Decimal) -> str:
    width = "" if data_type.bit_width == 128 else f",{data_type.bit_width}"
    return f"d:{data_type.precision},{data_type.scale}{width}"


def _read_decimal(_: str, parameters: str, __: Fields, ___: bool) -> DataType:
    numbers = [_number(text) for text in parameters.split(",")]
    if not 2 <= len(numbers) <= 3:
        raise ValueError("a decimal has precision, scale and perhaps a width")
    precision, scale, *width = numbers
    return decimal(width[0] if width else 128, precision, scale)


def _read_map(_: str, __: str, fields: Fields, keys_sorted: bool) -> DataType:
    entries = fields[0].type
    if not isinstance(entries, Struct) or len(entries.fields) != 2:
        raise ValueError(f"the entries of a map are a struct of two fields, not {entries}")
    return Map(fields[0], keys_sorted)


def _write_union(data_type: Union) -> str:
    return f"+u{data_type.mode[0]}:{','.join(map(str, data_type.type_codes))}"


def _read_union(head: str, parameters: str, fields: Fields, _: bool) -> DataType:
    codes = [_number(text) for text in parameters.split(",")] if parameters else []
    make = sparse_union if _UNION_MODES[head] == "sparse" else dense_union
    return make(fields, codes)


def _read_runs(_: str, __: str, fields: Fields, ___: bool) -> DataType:
    run_ends, values = fields
    run_end_encoded(run_ends.type, values)  # type: ignore[arg-type]  # it checks
    return RunEndEncoded(run_ends, values)


def _one_child(head: str, cls: Callable[[Field], DataType]) -> _Row:
    return _Row((head,), 1, lambda _: head, lambda _, __, fields, ___: cls(fields[0]))


_ROWS: dict[type[DataType], _Row] = {
    FixedSizeBinary: _Row(
        ("w:",),
        0,
        lambda t: f"w:{t.byte_width}",
        lambda _, text, __, ___: fixed_size_binary(_number(text)),
    ),
    Decimal: _Row(("d:",), 0, _write_decimal, _read_decimal),
    Timestamp: _Row(
        tuple(f"ts{letter}:" for letter in _UNIT_LETTERS), 0, _write_timestamp, _read_timestamp
    ),
    List: _one_child("+l", List),
    LargeList: _one_child("+L", LargeList),
    ListView: _one_child("+vl", ListView),
    LargeListView: _one_child("+vL", LargeListView),
    FixedSizeList: _Row(
        ("+w:",),
        1,
        lambda t: f"+w:{t.list_size}",
        lambda _, text, fields, __: fixed_size_list(fields[0], _number(text)),
    ),
    Struct: _Row(("+s",), None, lambda _: "+s", lambda _, __, fields, ___: Struct(fields)),
    Map: _Row(("+m",), 1, lambda _: "+m", _read_map),
    Union: _Row(tuple(_UNION_MODES), None, _write_union, _read_union),
    RunEndEncoded: _Row(("+r",), 2, lambda _: "+r", _read_runs),
    # Known by the dictionary beside it, not by its format string, which is that of the indices.
    Dictionary: _Row((), 0, lambda t: format_of(t.index_type), lambda *_: null()),
}
_ROWS_BY_HEAD = {head: row for row in _ROWS.values() for head in row.heads}


def format_of(data_type: DataType) -> str:
    """The format string of a type; of a dictionary type, that of its indices.

    Raises:
        UnsupportedError: If the C Data interface cannot carry the type as such (an extension type
            must have become its storage type and metadata).
    """
    plain = _PLAIN_FORMATS.get(data_type)
    if plain is not None:
        return plain
    row = _ROWS.get(type(data_type))
    if row is None:
        raise UnsupportedError(f"the C Data interface has no format string for {data_type}")
    return row.write(data_type)


def type_of(text: str, fields: Fields = (), *, keys_sorted: bool = False) -> DataType:
    """The type behind a format string, with those child fields.

    Raises:
        InvalidArrowError: If the parameters are malformed, or do not go with the children.
        UnsupportedError: If no type is known by that format string.
    """
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
        return row.read(head + colon, parameters, fields, keys_sorted)
    except ValueError as error:
        raise InvalidArrowError(f"format string {text!r}: {error}") from None
