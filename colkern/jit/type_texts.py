"""Data types as text: `"decimal128(12, 2)"`, `"list<utf8>"`, `"struct<key: utf8, size: int64>"`.

A type is a name of `colkern.schema`, of pyarrow's (`double`, `string`) or of Spark's (`bigint`,
`array<string>`), with its parameters in brackets, and with the types of its parts in angle brackets.
Parts of structs and unions have names. The text of a data type is read, too: `timestamp[us, tz=UTC]`,
`list<item: int8 not null>`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from colkern import schema as s


def _of_unit(make: Callable[[], s.DataType], unit: str) -> Callable[..., s.DataType]:
    """A type that has one unit, which may be named."""

    def type_of_unit(named: str = unit) -> s.DataType:
        if named != unit:
            raise ValueError(f"expected {unit}, got {named}")
        return make()

    return type_of_unit


_WITHOUT_PARTS = (
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "decimal32", "decimal64", "decimal128", "decimal256"),
    *("time32", "time64", "timestamp", "duration", "utf8", "large_utf8", "utf8_view"),
    *("binary", "large_binary", "binary_view", "fixed_size_binary"),
)

_PLAIN: dict[str, Callable[..., s.DataType]] = {
    "bool": s.bool_,
    "date32": _of_unit(s.date32, "day"),
    "date64": _of_unit(s.date64, "ms"),
    **{name: getattr(s, name) for name in _WITHOUT_PARTS},
}
"""Types by the parameters in brackets."""

_NAMES_ELSEWHERE: dict[str, str] = s.ALIASES | {
    # pyarrow's.
    "bool_": "bool",
    "halffloat": "float16",
    "float": "float32",
    "double": "float64",
    "list_": "list",
    # Spark's
    "tinyint": "int8",
    "byte": "int8",
    "smallint": "int16",
    "short": "int16",
    "int": "int32",
    "integer": "int32",
    "bigint": "int64",
    "long": "int64",
    "real": "float32",
    "decimal": "decimal128",
    "date": "date32",
    "array": "list",
}
"""Other names of types."""

_EXAMPLES = {
    "timestamp": "timestamp(us) or timestamp(us, UTC)",
    "duration": "duration(us)",
    "time32": "time32(s)",
    "time64": "time64(us)",
    "decimal128": "decimal128(12, 2)",
    "fixed_size_binary": "fixed_size_binary(16)",
}
"""Types that need parameters, as they are written."""

_OF_TYPES: dict[str, Callable[..., s.DataType]] = {
    "list": s.list_,
    "large_list": s.large_list,
    "list_view": s.list_view,
    "large_list_view": s.large_list_view,
    "fixed_size_list": s.fixed_size_list,
    "map": s.map_,
    "dictionary": s.dictionary,
    "run_end_encoded": s.run_end_encoded,
}
"""Types by the parts in angle brackets: types, and the size of a list."""

_OF_FIELDS: dict[str, Callable[..., s.DataType]] = {
    "struct": s.struct,
    "dense_union": s.dense_union,
    "sparse_union": s.sparse_union,
}
"""Types by the named parts in angle brackets."""

_TOKEN = (
    r"\s*(?:(?P<word>\w+)|\((?P<brackets>[^()]*)\)|\[(?P<square>[^][]*)\]|(?P<sign>[<>,:?]))\s*"
)


def parsed_type(text: str) -> s.DataType:
    """The data type that a text stands for.

    Raises:
        TypeError: If it stands for none.
    """
    reader = _Reader(text, f"{text.strip()!r} is no type")
    data_type = reader.type()
    reader.require_end()
    return data_type


def parsed_types(text: str) -> list[tuple[s.DataType, bool]]:
    """The data types of a list such as `"float64, utf8?"`, and whether a `?` follows each.

    Raises:
        TypeError: If one is none.
    """
    reader = _Reader(text, f"{text.strip()!r} is no list of types")
    types: list[tuple[s.DataType, bool]] = []
    while not reader.is_at_end:
        if types:
            reader.require(",")
        types.append((reader.type(), reader.takes("?")))
    return types


@dataclass(slots=True)
class _Reader:
    """A place in a text.

    Args:
        text: The text.
        mistake: The message where it makes no sense.
    """

    text: str
    mistake: str
    at: int = 0

    @property
    def is_at_end(self) -> bool:
        """Whether nothing is left but space."""
        return not self.text[self.at :].strip()

    def type(self) -> s.DataType:
        """The type that comes next."""
        start = self.at
        written = self._word()
        name = _NAMES_ELSEWHERE.get(written, written)
        known = _PLAIN | _OF_TYPES | _OF_FIELDS
        if name not in known:
            close = difflib.get_close_matches(written, [*known, *_NAMES_ELSEWHERE], 1)
            meant = f"did you mean {close[0]!r}? Known" if close else "known"
            raise TypeError(f"signature: unknown type {written!r}; {meant} are {', '.join(known)}")
        if name in _PLAIN:
            parameters: list[Any] = [*self._parameters()]
            if not parameters and name in _EXAMPLES:
                raise TypeError(f"signature: {written} has parameters, as in {_EXAMPLES[name]}")
        else:
            # The size of a list may stand behind, as types print it.
            parameters = [*self._parts(name), *self._parameters()]
        try:
            return known[name](*parameters)
        except (TypeError, ValueError) as error:
            raise TypeError(f"signature: {self.text[start : self.at].strip()}: {error}") from None

    def takes(self, sign: str) -> bool:
        """Whether a sign comes next, which is passed then."""
        match = self._next()
        if match is None or match["sign"] != sign:
            return False
        self.at = match.end()
        return True

    def require(self, sign: str) -> None:
        """Pass a sign."""
        if not self.takes(sign):
            raise TypeError(f"signature: {self.mistake}")

    def require_end(self) -> None:
        """TypeError if anything is left."""
        if not self.is_at_end:
            raise TypeError(f"signature: {self.mistake}")

    def _next(self) -> re.Match[str] | None:
        return re.compile(_TOKEN).match(self.text, self.at)

    def _word(self) -> str:
        match = self._next()
        if match is None or match["word"] is None:
            raise TypeError(f"signature: {self.mistake}")
        self.at = match.end()
        return match["word"]

    def _parameters(self) -> list[int | str]:
        """Numbers and words in brackets, if there are any."""
        match = self._next()
        inner = None if match is None else match["brackets"] or match["square"]
        if match is None or inner is None:
            return []
        self.at = match.end()
        words = [
            word.strip(" '\"").removeprefix("tz=") for word in inner.split(",") if word.strip()
        ]
        return [int(word) if word.lstrip("-").isdigit() else word for word in words]

    def _parts(self, name: str) -> list[s.DataType | s.Field | int | list[s.Field]]:
        """The parts in angle brackets, or in square ones, in which no others stand."""
        match = self._next()
        square = None if match is None else match["square"]
        reader = self if square is None else _Reader(square, self.mistake)
        if match is None or square is None:
            self.require("<")
        else:
            self.at = match.end()
        parts: list[Any] = []
        while not (self.takes(">") if square is None else reader.is_at_end):
            if parts:
                reader.require(",")
            parts.append(reader._field() if name in _OF_FIELDS else reader._part())
        return [parts] if name in _OF_FIELDS else parts

    def _field(self) -> s.Field:
        name = self._word()
        self.require(":")
        data_type = self.type()
        return s.field(name, data_type, nullable=not self._is_required())

    def _is_required(self) -> bool:
        """Whether `not null` comes next, which is passed then."""
        match = re.compile(r"\s*not null\b\s*", re.IGNORECASE).match(self.text, self.at)
        if match is None:
            return False
        self.at = match.end()
        return True

    def _part(self) -> s.DataType | s.Field | int:
        match = self._next()
        if match is not None and (match["word"] or "").isdigit():
            return int(self._word())
        following = re.compile(r"\s*(\w+)\s*:").match(self.text, self.at)
        return self.type() if following is None else self._field()
