"""`ByteString`: what a string argument of a `udf` is, as plain Python.

Compiled code has the same operations on a view of the column's bytes, see
`colkern.jit.values.strings`; this class says what they mean, and runs where the function runs as plain
Python.
"""

from __future__ import annotations

import re
from typing import Any, SupportsIndex

_SPACE = rb"[ \t\n\r\v\f]*"
_INT = re.compile(_SPACE + rb"([+-]?[0-9]+)" + _SPACE)
_FLOAT = re.compile(
    _SPACE
    + rb"([+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?|nan))"
    + _SPACE,
    re.IGNORECASE,
)
_INT64 = range(-(2**63), 2**63)


class ByteString(bytes):
    """The bytes of one value of a utf8 or binary column.

    - `len(s)`, `s[i]`, `s[a:b]`, iteration: in bytes; a byte is an `int`. UTF-8 text of ASCII
      characters has one byte a character, others have two to four.
    - `==`, `<` …, `in`, `startswith`, `endswith`, `find`, `rfind`, `count`: with another byte string,
      `bytes`, or `str`, which stands for its UTF-8 bytes. Order is that of the bytes, which for
      UTF-8 is that of the characters.
    - `int(s)`, `float(s)`: Python's grammar in ASCII, without underscores; `int` has 64 bits.
    - `strip`, `lstrip`, `rstrip`, `isdigit`: ASCII's white space and digits, as for `bytes`.
    - `str(s)`: the text, decoded, with all that `str` can do.
    """

    __slots__ = ()

    def __new__(cls, value: bytes | str = b"") -> ByteString:
        """From bytes, or from text as its UTF-8."""
        return super().__new__(cls, _bytes(value))

    def __getitem__(self, key: SupportsIndex | slice) -> Any:
        if not isinstance(key, slice):
            return super().__getitem__(key)
        if key.step not in (None, 1):
            raise ValueError("byte strings are sliced with a step of 1")
        return ByteString(super().__getitem__(key))

    def __eq__(self, other: object) -> bool:
        return super().__eq__(_bytes(other))

    def __ne__(self, other: object) -> bool:
        return super().__ne__(_bytes(other))

    __hash__ = bytes.__hash__

    def __lt__(self, other: Any) -> bool:
        return super().__lt__(_bytes(other))

    def __le__(self, other: Any) -> bool:
        return super().__le__(_bytes(other))

    def __gt__(self, other: Any) -> bool:
        return super().__gt__(_bytes(other))

    def __ge__(self, other: Any) -> bool:
        return super().__ge__(_bytes(other))

    def __contains__(self, item: Any) -> bool:
        return super().__contains__(_bytes(item))

    def startswith(self, prefix: Any, *where: Any) -> bool:
        """Whether the bytes start with `prefix`, or with one of a tuple of them."""
        return super().startswith(_each_as_bytes(prefix), *where)

    def endswith(self, suffix: Any, *where: Any) -> bool:
        """Whether the bytes end with `suffix`, or with one of a tuple of them."""
        return super().endswith(_each_as_bytes(suffix), *where)

    def find(self, sub: Any, *where: Any) -> int:
        """Where `sub` first stands, counted in bytes; -1 if it does not."""
        return super().find(_bytes(sub), *where)

    def rfind(self, sub: Any, *where: Any) -> int:
        """Where `sub` last stands, counted in bytes; -1 if it does not."""
        return super().rfind(_bytes(sub), *where)

    def count(self, sub: Any, *where: Any) -> int:
        """How often `sub` stands in the bytes without overlap."""
        return super().count(_bytes(sub), *where)

    def strip(self, chars: Any = None) -> ByteString:
        """Without white space (or the bytes `chars`) at both ends."""
        return ByteString(super().strip(_bytes(chars)))

    def lstrip(self, chars: Any = None) -> ByteString:
        """Without white space (or the bytes `chars`) at the start."""
        return ByteString(super().lstrip(_bytes(chars)))

    def rstrip(self, chars: Any = None) -> ByteString:
        """Without white space (or the bytes `chars`) at the end."""
        return ByteString(super().rstrip(_bytes(chars)))

    def __int__(self) -> int:
        match = _INT.fullmatch(self)
        if match is None:
            raise ValueError("the byte string is no integer")
        value = int(match[1])
        if value not in _INT64:
            raise OverflowError("the integer does not fit 64 bits")
        return value

    def __float__(self) -> float:
        match = _FLOAT.fullmatch(self)
        if match is None:
            raise ValueError("the byte string is no number")
        return float(match[1])

    def __str__(self) -> str:
        return self.decode()

    def __repr__(self) -> str:
        return f"ByteString({bytes(self)!r})"


def _bytes(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value


def _each_as_bytes(value: Any) -> Any:
    return tuple(map(_bytes, value)) if isinstance(value, tuple) else _bytes(value)
