"""Single values in Arrow's integration JSON, both ways: one codec for each type.

Members of JSON objects are untrusted input: each is checked for its kind when it is read.

Integration testing: "JSON test data format", the value encoding for DATA.
"""

from __future__ import annotations

import re
from binascii import unhexlify
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from colkern import schema as s
from colkern.dispatch import Dispatch, by_type
from colkern.errors import InvalidArrowError, shown
from colkern.layouts import Role, layout
from colkern.memory import DType

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""A value that `json` writes."""

Choice = TypeVar("Choice")

_MISSING = object()


class Entry:
    """A JSON object, called `what` in errors; `InvalidArrowError` if it, or a member, is wrong."""

    __slots__ = ("_members", "_what")

    def __init__(self, value: object, what: str) -> None:
        if not isinstance(value, dict):
            raise InvalidArrowError(f"{what}: expected a JSON object, found {shown(value)}")
        self._members = value
        self._what = what

    def __contains__(self, key: str) -> bool:
        return self._members.get(key) is not None

    def value(self, key: str) -> object:
        """A member of any kind."""
        return self._take(key, object, "a value", _MISSING)

    def _take(self, key: str, kind: type | tuple[type, ...], name: str, default: object) -> Any:
        value = self._members.get(key, default)
        if value is None and default is not _MISSING:
            value = default
        if value is _MISSING:
            raise InvalidArrowError(f"{self._what}: no {key!r}")
        # Python's booleans are integers, JSON's are not.
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
            raise InvalidArrowError(f"{self._what}: {key!r}: expected {name}, found {shown(value)}")
        return value

    def text(self, key: str, default: object = _MISSING) -> str:
        """A string that UTF-8 can spell."""
        text: str = self._take(key, str, "a string", default)
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InvalidArrowError(
                f"{self._what}: {key!r}: {shown(text)}: {error.reason}"
            ) from None
        return text

    def integer(self, key: str, default: object = _MISSING) -> int:
        """An integer."""
        number: int = self._take(key, int, "an integer", default)
        return number

    def flag(self, key: str, default: object = _MISSING) -> bool:
        """A boolean."""
        flag: bool = self._take(key, bool, "a boolean", default)
        return flag

    def items(self, key: str, default: object = _MISSING) -> list[object]:
        """An array."""
        items: list[object] = self._take(key, list, "an array", default)
        return items

    def entry(self, key: str) -> Entry:
        """An object."""
        return Entry(self._take(key, dict, "an object", _MISSING), key)

    def entries(self, key: str, default: object = _MISSING) -> list[Entry]:
        """An array of objects."""
        return [Entry(item, key) for item in self.items(key, default)]

    def choice(self, key: str, choices: Mapping[str, Choice]) -> Choice:
        """The value that a string stands for."""
        text = self.text(key)
        if text not in choices:
            known = ", ".join(choices)
            raise InvalidArrowError(f"{self._what}: {key!r}: {shown(text)}; there are {known}")
        return choices[text]


Item = TypeVar("Item")

_INTEGER = re.compile(r"-?[0-9]{1,100}")
# JSON has no numbers for these.
_NOT_FINITE = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


class Codec(NamedTuple):
    """Reads and writes values of one type."""

    #: From JSON to an item for a NumPy array; raises `ValueError` or `TypeError`.
    read: Callable[[object], Any]
    write: Callable[[Any], Json]  #: From an item of NumPy's `tolist` to JSON.


def read_all(values: Iterable[object], read: Callable[[object], Item], what: str) -> list[Item]:
    """Every value through a codec; `InvalidArrowError` with its place if one is malformed."""
    items: list[Item] = []
    for value in values:
        try:
            items.append(read(value))
        except InvalidArrowError as error:
            raise error.at(f"{what} {len(items)}") from None
        except (ValueError, TypeError) as error:
            message = f"{shown(value)}: {error}"
            raise InvalidArrowError(message, place=f"{what} {len(items)}") from None
    return items


def integer_codec(dtype: DType) -> Codec:
    """Integers: numbers, but strings for 64 bits; both are read."""
    limits = np.iinfo(dtype)
    low, high = int(limits.min), int(limits.max)

    def read(value: object) -> int:
        number = _integer(value)
        if not low <= number <= high:
            raise ValueError(f"does not fit {dtype.name}")
        return number

    return Codec(read, str if dtype.itemsize == 8 else int)


def _integer(value: object) -> int:
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        return int(value)
    # Python's booleans are integers, JSON's are not.
    if type(value) is int:
        return value
    raise TypeError("expected an integer")


def flag(value: object) -> bool:
    """A bit: 0, 1, false or true; raises `ValueError` for anything else."""
    if isinstance(value, int) and 0 <= value <= 1:
        return bool(value)
    raise ValueError("expected 0 or 1")


def _number_codec(type_: s.DataType) -> Codec:
    return integer_codec(layout(type_).spec(Role.DATA).dtype)


def _float_codec(type_: s.FloatingPoint) -> Codec:
    narrow = layout(type_).spec(Role.DATA).dtype.type

    def read(value: object) -> float:
        if isinstance(value, str):
            if value not in _NOT_FINITE:
                raise ValueError(f"expected a number, or one of {', '.join(_NOT_FINITE)}")
            return _NOT_FINITE[value]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError("expected a number")
        try:
            number = float(value)
        except OverflowError:
            raise ValueError(f"does not fit {type_}") from None
        with np.errstate(over="ignore"):
            if np.isinf(narrow(number)) and not np.isinf(number):
                raise ValueError(f"does not fit {type_}")
        return number

    return Codec(read, _write_float)


def _write_float(value: float) -> float | str:
    if value != value:
        return "NaN"
    return {float("inf"): "Infinity", float("-inf"): "-Infinity"}.get(value, value)


def _decimal_codec(type_: s.Decimal) -> Codec:
    width = type_.bit_width // 8
    if width <= 8:
        return Codec(_number_codec(type_).read, str)

    def read(value: object) -> bytes:
        try:
            return _integer(value).to_bytes(width, "little", signed=True)
        except OverflowError:
            raise ValueError(f"does not fit {type_.bit_width} bits") from None

    return Codec(read, lambda raw: str(int.from_bytes(raw, "little", signed=True)))


def _interval_codec(type_: s.Interval) -> Codec:
    dtype = layout(type_).spec(Role.DATA).dtype
    if dtype.names is None:
        return integer_codec(dtype)
    names = dtype.names
    codecs = [integer_codec(dtype[name]) for name in names]

    def read(value: object) -> tuple[int, ...]:
        entry = Entry(value, "interval")
        pairs = zip(names, codecs, strict=True)
        return tuple(codec.read(entry.value(name)) for name, codec in pairs)

    # Numbers, also those of 64 bits.
    return Codec(read, lambda record: dict(zip(names, record, strict=True)))


def _fixed_size_binary_codec(type_: s.FixedSizeBinary) -> Codec:
    def read(value: object) -> bytes:
        raw = _from_hex(value)
        if len(raw) != type_.byte_width:
            raise ValueError(f"{len(raw)} bytes, not {type_.byte_width}")
        return raw

    return Codec(read, to_hex)


def _from_hex(value: object) -> bytes:
    if not isinstance(value, str):
        raise TypeError("expected a string of hexadecimal digits")
    return unhexlify(value)


def to_hex(raw: bytes) -> str:
    """Bytes as upper-case hexadecimal digits."""
    return raw.hex().upper()


def _from_text(value: object) -> bytes:
    if not isinstance(value, str):
        raise TypeError("expected a string")
    return value.encode()


HEX = Codec(_from_hex, to_hex)
_TEXT = Codec(_from_text, bytes.decode)

_CODECS: Dispatch[type[s.DataType], Callable[[Any], Codec]] = by_type(
    "values in integration JSON",
    *(s.Null, s.List, s.LargeList, s.ListView, s.LargeListView, s.FixedSizeList, s.Map, s.Struct),
    *(s.Union, s.RunEndEncoded, s.Extension),
)
_CODECS |= {
    s.Bool: lambda _: Codec(flag, bool),
    s.Int: _number_codec,
    s.FloatingPoint: _float_codec,
    s.Decimal: _decimal_codec,
    s.Date: _number_codec,
    s.Time: _number_codec,
    s.Timestamp: _number_codec,
    s.Duration: _number_codec,
    s.Interval: _interval_codec,
    s.FixedSizeBinary: _fixed_size_binary_codec,
    s.Dictionary: lambda type_: _number_codec(type_.index_type),
    s.Binary: lambda _: HEX,
    s.LargeBinary: lambda _: HEX,
    s.BinaryView: lambda _: HEX,
    s.Utf8: lambda _: _TEXT,
    s.LargeUtf8: lambda _: _TEXT,
    s.Utf8View: lambda _: _TEXT,
}


def value_codec(data_type: s.DataType) -> Codec:
    """The codec of a type's values: items of its data buffer, or byte strings."""
    storage = data_type.storage
    return _CODECS[type(storage)](storage)
