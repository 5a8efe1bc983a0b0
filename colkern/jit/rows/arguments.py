"""How a generated loop reads the slots of each data type: one row a type class.

What stands in `code` and `check` is text of the loop: `{n}` is the argument's name, `i` the slot, an
unsigned integer. This module imports no compiler.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.jit.rows.flags import NARROWED, TOO_WIDE
from colkern.jit.signatures import Parameter
from colkern.jit.views.records import record_of
from colkern.layouts import VIEW_BYTES, Role
from colkern.memory import EMPTY
from colkern.rows.encoded import decoded_type

Value = str | s.DataType
"""What a function gets for a column; see `Reader.value`."""


@dataclass(frozen=True, slots=True)
class Reader:
    """How the slots of one argument are read.

    Args:
        value: What the user's function gets: the name of a Numba type, `text` or `binary`; or a data
            type, for what `colkern.jit.views.columns` makes of its slots.
        parameters: The loop's parameters for it.
        code: The expression for the value of slot `i`.
        prepare: From an array to what is passed for `parameters`. Nothing is copied, unless it is
            misaligned or of half-precision floats.
        check: An expression for flags that is not zero where a value of a valid slot cannot be read.
    """

    value: Value
    parameters: tuple[str, ...]
    code: str
    prepare: Callable[[Array], tuple[Any, ...]]
    check: str = ""


def _items(array: Array) -> tuple[Any, ...]:
    return (array.items(Role.DATA),)


def _numbers(value: str) -> Reader:
    return Reader(value, ("{n}",), value + "({n}[i])", _items)


def _bool(_: s.DataType) -> Reader:
    def prepare(array: Array) -> tuple[Any, ...]:
        return _bytes(array, Role.DATA).array, np.uint64(array.offset)

    return Reader("boolean", ("{n}_bits", "{n}_first"), "bit({n}_bits, {n}_first + i)", prepare)


def _int(type_: s.Int) -> Reader:
    return _numbers("uint64" if type_ == s.uint64() else "int64")


def _float(type_: s.FloatingPoint) -> Reader:
    if type_.bit_width > 16:
        return _numbers(f"float{type_.bit_width}")

    def prepare(array: Array) -> tuple[Any, ...]:
        # The CPU target has no half-precision floats.
        widened = array.items(Role.DATA).astype(np.float32)
        widened.flags.writeable = False
        return (widened,)

    return Reader("float32", ("{n}",), "{n}[i]", prepare)


def _element(type_: s.DataType) -> Reader:
    """The column itself is passed, and its slots are read as users' own loops read them."""

    def prepare(array: Array) -> tuple[Any, ...]:
        # Here all threads take part; in the loop each would be at it by itself.
        record_of(array)
        return (array,)

    return Reader(type_, ("{n}",), "value_at({n}, i)", prepare)


def _is_integer(type_: s.Decimal) -> bool:
    """Whether functions get the values of a decimal type times ten to the power of the scale."""
    return type_.precision <= s.MAX_DECIMAL_PRECISION[64]


def _decimal(type_: s.Decimal) -> Reader:
    return _scaled(type_) if _is_integer(type_) else _element(type_)


def _scaled(type_: s.Decimal) -> Reader:
    words = type_.bit_width // 64
    if words <= 1:
        return _numbers("int64")

    def prepare(array: Array) -> tuple[Any, ...]:
        data = _bytes(array, Role.DATA)
        width = words * 8
        return (data.view(np.dtype("<i8"), array.length * words, array.offset * width),)

    return Reader(
        "int64",
        ("{n}_words",),
        f"{{n}}_words[i * u8({words})]",
        prepare,
        f"wide({{n}}_words, i, u8({words}), {TOO_WIDE if _is_integer(type_) else NARROWED})",
    )


def _offsets(value: str) -> Reader:
    def prepare(array: Array) -> tuple[Any, ...]:
        return array.items(Role.OFFSETS), np.uint64(_bytes(array, Role.BYTES).address)

    return Reader(
        value,
        ("{n}_offsets", "{n}_base"),
        value + "_between({n}_base, {n}_offsets, i)",
        prepare,
    )


def _views(value: str) -> Reader:
    def prepare(array: Array) -> tuple[Any, ...]:
        views = _bytes(array, Role.VIEWS).view(
            np.dtype("<i4"), array.length * 4, array.offset * VIEW_BYTES
        )
        addresses = [(buffer or EMPTY).address for buffer in array.data_buffers]
        return views, np.uint64(views.ctypes.data), np.array(addresses, np.uint64)

    return Reader(
        value,
        ("{n}_views", "{n}_base", "{n}_table"),
        value + "_viewed({n}_views, {n}_base, {n}_table, i)",
        prepare,
    )


def _fixed_size_binary(type_: s.FixedSizeBinary) -> Reader:
    def prepare(array: Array) -> tuple[Any, ...]:
        first = array.offset * type_.byte_width
        return (np.uint64(_bytes(array, Role.DATA).address + first),)

    width = type_.byte_width
    code = f"binary_at({{n}}_base + i * u8({width}), {width})"
    return Reader("binary", ("{n}_base",), code, prepare)


def _bytes(array: Array, role: Role) -> Any:
    return array.buffer(role) or EMPTY


_READERS: dict[type[s.DataType], Callable[[Any], Reader]] = {
    s.Bool: _bool,
    s.Int: _int,
    s.FloatingPoint: _float,
    s.Decimal: _decimal,
    s.Date: lambda _: _numbers("int64"),
    s.Time: lambda _: _numbers("int64"),
    s.Timestamp: lambda _: _numbers("int64"),
    s.Duration: lambda _: _numbers("int64"),
    s.Utf8: lambda _: _offsets("text"),
    s.LargeUtf8: lambda _: _offsets("text"),
    s.Utf8View: lambda _: _views("text"),
    s.Binary: lambda _: _offsets("binary"),
    s.LargeBinary: lambda _: _offsets("binary"),
    s.BinaryView: lambda _: _views("binary"),
    s.FixedSizeBinary: _fixed_size_binary,
    s.Interval: _element,
    s.List: _element,
    s.LargeList: _element,
    s.ListView: _element,
    s.LargeListView: _element,
    s.FixedSizeList: _element,
    s.Map: _element,
    s.Struct: _element,
    s.Union: _element,
}


def reader_of(data_type: s.DataType) -> Reader:
    """How slots of a type are read; an extension type is read as its storage.

    Raises:
        UnsupportedError: If they cannot be.
    """
    storage = decoded_type(data_type).storage
    if type(storage) not in _READERS:
        raise UnsupportedError(f"{data_type} as an argument of a udf")
    return _READERS[type(storage)](storage)


_TEXT = (s.Utf8, s.LargeUtf8, s.Utf8View)
_BINARY = (s.Binary, s.LargeBinary, s.BinaryView, s.FixedSizeBinary)


@dataclass(frozen=True, slots=True)
class _Hint:
    """One of Python's types as a hint: what it accepts, what the function gets, in words."""

    value: str
    accepts: Callable[[Any], bool]
    words: str


_HINTS: dict[type, _Hint] = {
    bool: _Hint("boolean", lambda t: t == s.bool_(), "bool"),
    int: _Hint(
        "int64",
        lambda t: isinstance(t, s.Int) and t != s.uint64(),
        "an integer type (uint64 when declared as such)",
    ),
    float: _Hint("float64", lambda t: isinstance(t, s.FloatingPoint), "a floating-point type"),
    str: _Hint("text", lambda t: isinstance(t, _TEXT), "a utf8 type"),
    bytes: _Hint("binary", lambda t: isinstance(t, _BINARY), "a binary type"),
    datetime.date: _Hint("int64", lambda t: t == s.date32(), "date32[day]"),
    datetime.datetime: _Hint(
        "int64", lambda t: isinstance(t, s.Timestamp) and t.unit == "us", "timestamp[us]"
    ),
    datetime.timedelta: _Hint("int64", lambda t: t == s.duration("us"), "duration[us]"),
    datetime.time: _Hint("int64", lambda t: t == s.time64("us"), "time64[us]"),
}

_LISTS = (s.List, s.LargeList, s.ListView, s.LargeListView, s.FixedSizeList)


def _same_names(a: s.DataType, b: s.DataType) -> bool:
    return [field.name for field in a.fields] == [field.name for field in b.fields]


def _same_parts(a: s.DataType, b: s.DataType) -> bool:
    pairs = zip(a.fields, b.fields, strict=True)
    return all(reads_alike(left.type, right.type) for left, right in pairs)


# What two types must share to be read alike, and their children; others must be equal.
_SAME_MEANING: dict[type[s.DataType], Callable[[Any, Any], bool]] = {
    s.Decimal: lambda a, b: isinstance(b, s.Decimal) and a.scale == b.scale,
    s.Timestamp: lambda a, b: isinstance(b, s.Timestamp) and a.unit == b.unit,
    s.Map: lambda a, b: (
        isinstance(b, s.Map) and _same_parts(a.entries_field.type, b.entries_field.type)
    ),
    s.Struct: lambda a, b: isinstance(b, s.Struct) and _same_names(a, b) and _same_parts(a, b),
    s.Union: lambda a, b: (
        isinstance(b, s.Union) and a.type_codes == b.type_codes and _same_parts(a, b)
    ),
    **{kind: lambda a, b: isinstance(b, _TEXT) for kind in _TEXT},
    **{kind: lambda a, b: isinstance(b, _BINARY) for kind in _BINARY},
    **{kind: lambda a, b: isinstance(b, _LISTS) and _same_parts(a, b) for kind in _LISTS},
}


def reads_alike(a: s.DataType, b: s.DataType) -> bool:
    """Whether a function for columns of one type may take those of the other: it reads the same.

    Layouts may differ, and so may what says nothing about values: names of elements, nullability.
    """
    a, b = decoded_type(a).storage, decoded_type(b).storage
    same = _SAME_MEANING.get(type(a), lambda a, b: bool(a == b))
    return same(a, b)


def value_of(declared: s.DataType | type | None) -> Value | None:
    """What the function gets for a declared type; None if only an array can tell."""
    if declared is None:
        return None
    if isinstance(declared, s.DataType):
        return reader_of(declared).value
    return _HINTS[declared].value


def _declared_reader(declared: s.DataType, data_type: s.DataType) -> Reader:
    """How columns of a type are read where one that reads alike is declared."""
    meant, storage = decoded_type(declared).storage, decoded_type(data_type).storage
    if isinstance(meant, s.Decimal) and isinstance(storage, s.Decimal):
        # Arithmetic with the one form means something else than with the other.
        return _scaled(storage) if _is_integer(meant) else _element(storage)
    return reader_of(data_type)


def require_one_form_of_decimals(
    parameters: Sequence[Parameter], columns: Sequence[s.DataType]
) -> None:
    """Refuse decimals of which some are integers to a function and some are not, unless declared so.

    Args:
        parameters: Those of the function.
        columns: The types of the columns, decoded.

    Raises:
        TypeError: Names two such parameters.
    """
    forms: dict[bool, tuple[Parameter, s.DataType]] = {}
    undeclared = False
    for parameter, column in zip(parameters, columns, strict=True):
        if isinstance(column.storage, s.Decimal):
            declared = parameter.type
            undeclared |= declared is None
            meant = decoded_type(declared if isinstance(declared, s.DataType) else column).storage
            assert isinstance(meant, s.Decimal)
            forms[_is_integer(meant)] = parameter, column
    if undeclared and len(forms) > 1:
        (scaled, narrow), (plain, wide) = forms[True], forms[False]
        raise TypeError(
            f"{scaled.name}: a value of {narrow} is an integer to the function, times ten to the "
            f"power of the scale, and {plain.name}, of {wide}, a decimal: declare both types, with "
            f"more than {s.MAX_DECIMAL_PRECISION[64]} digits for decimals"
        )


def accepted_reader(parameter: Parameter, data_type: s.DataType) -> Reader:
    """How an array of `data_type` is read for a parameter.

    Raises:
        TypeError: If the parameter was declared to be something else; names it.
        UnsupportedError: If no function can take such an array.
    """
    declared, storage = parameter.type, data_type.storage
    reader = reader_of(data_type)
    if declared is None:
        return reader
    if isinstance(declared, s.DataType):
        if not reads_alike(declared, storage):
            raise TypeError(f"{parameter.name}: expected {declared}, got {data_type}")
        return _declared_reader(declared, data_type)
    hint = _HINTS[declared]
    if not hint.accepts(storage):
        raise TypeError(f"{parameter.name}: expected {hint.words}, got {data_type}")
    if hint.value == "float64" and reader.value != "float64":
        return Reader("float64", reader.parameters, f"float64({reader.code})", reader.prepare)
    return reader
