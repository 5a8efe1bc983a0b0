"""Values of row functions, as the bodies of Python's methods see them.

Every integer is an int64, also an address. A text or byte string is an address and a size, so a part of
one is another without a copy. What a body makes lies in the row's arena: a piece of memory that is used
anew for each row. `arena` is the address of two words: where the next allocation begins, and where the
memory ends. The first one says also whether the last allocation is a text (`LAST_IS_TEXT`).

A body that can fail returns `(value, code)`: `DONE`, or why there is no value. `LEFT` leaves the row to
Python: the body does not cover its case. `NO_ROOM` says that the arena is full: the row is run again with
a larger one. All other codes are exceptions that Python would raise, which a `try` can handle.
"""

from __future__ import annotations

import decimal
import json
from typing import Any, NamedTuple, TypeAlias

from numpy import int64

from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_word, set_word

LEAST = -(1 << 63)
GREATEST = (1 << 63) - 1
"""The bounds of an int64; the least has no opposite."""

Code: TypeAlias = int

DONE = 0
LEFT = 1
NO_ROOM = 2
ARITHMETIC_ERROR = 3
OVERFLOW_ERROR = 4
ZERO_DIVISION_ERROR = 5
ASSERTION_ERROR = 6
ATTRIBUTE_ERROR = 7
LOOKUP_ERROR = 8
INDEX_ERROR = 9
KEY_ERROR = 10
STOP_ITERATION = 11
TYPE_ERROR = 12
VALUE_ERROR = 13
UNICODE_DECODE_ERROR = 14
UNICODE_ENCODE_ERROR = 15
OTHER_ERROR = 16
INVALID_OPERATION = 17
JSON_DECODE_ERROR = 18

CODES: dict[Any, int] = {
    ArithmeticError: ARITHMETIC_ERROR,
    OverflowError: OVERFLOW_ERROR,
    ZeroDivisionError: ZERO_DIVISION_ERROR,
    AssertionError: ASSERTION_ERROR,
    AttributeError: ATTRIBUTE_ERROR,
    LookupError: LOOKUP_ERROR,
    IndexError: INDEX_ERROR,
    KeyError: KEY_ERROR,
    StopIteration: STOP_ITERATION,
    TypeError: TYPE_ERROR,
    ValueError: VALUE_ERROR,
    UnicodeDecodeError: UNICODE_DECODE_ERROR,
    UnicodeEncodeError: UNICODE_ENCODE_ERROR,
    decimal.InvalidOperation: INVALID_OPERATION,
    json.JSONDecodeError: JSON_DECODE_ERROR,
}
"""The codes of exceptions that compiled code knows by name."""

Arena: TypeAlias = int64

RAISED = 24
"""The position in an arena's header of the text of an exception that left a function: two words."""

RAISED_FIELDS = 40
"""The position in an arena's header of the address of the fields of the last exception that has some."""

LAST_IS_TEXT = 1 << 62
"""Added to where the next allocation begins if a text may be continued there: no address has this bit."""


class Text(NamedTuple):
    """A text, as UTF-8."""

    address: int64  #: Of its first byte.
    size: int64  #: In bytes.
    ascii: bool  #: Whether all its characters are known to be ASCII. If false, some may be.


class Bytes(NamedTuple):
    """A byte string."""

    address: int64  #: Of its first byte.
    size: int64  #: In bytes.


class Decimal(NamedTuple):
    """A decimal: a number times ten to a power."""

    coefficient: int64  #: The number, with its sign.
    exponent: int64  #: The power.


@helper
def free_place(arena: Arena) -> int64:
    """Where the next allocation begins, a multiple of 8."""
    return (get_word(arena) + int64(7)) & int64(~(LAST_IS_TEXT | 7))


@helper
def allocate(arena: Arena, size: int64) -> int64:
    """The address of `size` bytes in the arena, a multiple of 8; 0 if there is no room."""
    address = free_place(arena)
    end = address + ((size + int64(7)) & int64(-8))
    if size < 0 or end > get_word(arena + int64(8)) or end < address:
        return int64(0)
    set_word(arena, end)
    return address


# Items of containers: words of eight bytes.


@helper
def set_text(place: int64, text: Text) -> None:
    """Write a text as an item of two words: its address; twice its size, plus 1 if it is ASCII."""
    set_word(place, text.address)
    set_word(place + int64(8), text.size * int64(2) + int64(text.ascii))


@helper
def get_text(place: int64) -> Text:
    """The text that `set_text` wrote."""
    size = get_word(place + int64(8))
    return Text(get_word(place), size >> 1, size & 1 != 0)


@helper
def set_bytes(place: int64, value: Bytes) -> None:
    """Write a byte string as an item of two words: its address, its size."""
    set_word(place, value.address)
    set_word(place + int64(8), value.size)


@helper
def get_bytes(place: int64) -> Bytes:
    """The byte string that `set_bytes` wrote."""
    return Bytes(get_word(place), get_word(place + int64(8)))
