"""Casts between text and numbers, dates and times, in pyarrow's forms, for `colkern.cast`; and those
from floats to decimals, which are row functions, too.

For Python's own forms, use `str(x)` and `float(s)` in a row function.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_EVEN, Decimal
from functools import lru_cache
from typing import Any

import numpy as np

from colkern import operations
from colkern import schema as s
from colkern.arrays import Array
from colkern.builders import array as build_array
from colkern.functions.dates import strftime
from colkern.functions.row_functions import over_rows
from colkern.operations.encodings import decoded
from colkern.operations.moving import to_device, to_host
from colkern.rows.encoded import decoded_type
from colkern.schema import PER_SECOND


def _of_exact_number(values: int | Decimal) -> str:
    return str(values)


def _of_bool(values: bool) -> str:
    return "true" if values else "false"


def _of_float(values: float) -> str:
    if values != values:
        return "nan"
    size = abs(values)
    if size < 1e10 and (size >= 1e-4 or size == 0.0):
        return str(values).removesuffix(".0")
    raise ValueError(values)


def _of_any_float(values: float | np.floating[Any]) -> str:
    """A float as pyarrow writes it: positional from 1e-6 to 1e10, else with an exponent without zeros."""
    shortest = str(values)
    if not np.isfinite(values):
        return shortest
    sign, digits, exponent = Decimal(shortest).normalize().as_tuple()
    assert isinstance(exponent, int)
    places = exponent + len(digits) - 1
    head = "-" if sign else ""
    if -7 < places < 10:
        return head + format(abs(Decimal(shortest).normalize()), "f")
    first, *others = map(str, digits)
    mantissa = first + ("." + "".join(others) if others else "")
    return f"{head}{mantissa}e{places:+d}"


def to_text(array: Array, type: s.DataType) -> Array:
    """Numbers, booleans, dates or times, encoded or not, as text of a type."""
    storage = decoded_type(array.type).storage
    if isinstance(storage, s.Duration):
        array = operations.cast(array, s.int64())
    elif isinstance(storage, s.Time):
        numbers = operations.cast(array, s.int32() if storage.bit_width == 32 else s.int64())
        moments = operations.cast(operations.cast(numbers, s.int64()), s.timestamp(storage.unit))
        return operations.cast(strftime(moments, "%T"), type)
    elif isinstance(storage, s.Date | s.Timestamp):
        return operations.cast(strftime(array, _form_of(storage)), type)
    elif storage == s.float16():
        array = operations.cast(array, s.float64())
    elif storage == s.float32():
        # Their shortest digits are fewer than those of the float64, and NumPy's.
        plain = to_host(decoded(array))
        digits = [
            None if value is None else _of_any_float(np.float32(value))
            for value in plain.to_pylist()
        ]
        return to_device(build_array(digits, type), array.device)
    function = _FORMS[decoded_type(array.type).storage.__class__]
    otherwise = _of_any_float if function is _of_float else None
    return over_rows(function, [decoded(array)], lambda *_: type, otherwise=otherwise)


_FORMS: dict[type[s.DataType], Callable[..., str]] = {
    s.Int: _of_exact_number,
    s.Bool: _of_bool,
    s.Decimal: _of_exact_number,
    s.FloatingPoint: _of_float,
}


def _form_of(type_: s.Date | s.Timestamp) -> str:
    """The format in which pyarrow writes dates and timestamps."""
    if isinstance(type_, s.Date):
        return "%Y-%m-%d"
    zone = type_.timezone
    return "%Y-%m-%d %H:%M:%S" + ("Z" if zone == "UTC" else "%z" if zone else "")


def _to_integer(strings: str) -> int:
    digits = strings.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        raise ValueError(f"{strings!r} is not an integer")
    return int(strings)


@lru_cache(maxsize=8)
def _any_integer(type_: s.Int) -> Callable[..., object]:
    """A function that also takes the digits of a word in hexadecimal, as pyarrow: `0xff` is -1 of int8."""
    bits = type_.bit_width
    word_digits = re.compile(f"0[xX][0-9a-fA-F]{{1,{bits // 4}}}")

    def any_integer(strings: str) -> int:
        if not word_digits.fullmatch(strings):
            return _to_integer(strings)
        word = int(strings, 16)
        return word - (1 << bits) if type_.signed and word >> (bits - 1) else word

    return any_integer


def _require_plain(strings: str) -> None:
    if "_" in strings or strings != strings.strip():
        raise ValueError(f"{strings!r} is not a number")


def _to_float(strings: str) -> float:
    _require_plain(strings)
    return float(strings)


def _to_bool(strings: str) -> bool:
    word = strings.lower()
    if word in ("true", "1"):
        return True
    if word in ("false", "0"):
        return False
    raise ValueError(f"{strings!r} is not a boolean")


def _to_decimal(strings: str) -> Decimal:
    _require_plain(strings)
    return Decimal(strings)


def _to_date(strings: str) -> date:
    if len(strings) != 10:
        raise ValueError(f"{strings!r} is not a date")
    return date.fromisoformat(strings)


def _to_moment(strings: str) -> datetime:
    # Other forms, which are rarer, and those of Python that pyarrow refuses, are left to the function
    # below.
    if len(strings) > 26 or strings[4:5] != "-" or strings[7:8] != "-":
        raise ValueError(strings)
    if len(strings) != 10 and (strings[10] not in " T" or strings[13:14] != ":" or "," in strings):
        raise ValueError(strings)
    return datetime.fromisoformat(strings)


def _to_instant(strings: str) -> datetime:
    if not strings.endswith("Z"):
        raise ValueError(strings)
    return _to_moment(strings[:-1])


_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d(?:[ T]\d\d(?::\d\d(?::\d\d)?)?)?)(?:(?<=:\d\d:\d\d)\.(\d{1,9}))?"
    r"(Z|[+-]\d\d(?::?\d\d)?)?",
    re.ASCII,
)
"""A date, perhaps with a time of day, the digits of a fraction of its second, and an offset from UTC."""


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=2 * len(PER_SECOND))
def _any_moment(unit: str, has_zone: bool) -> Callable[..., object]:
    """A function of text with any number of digits of a second, and with an offset from UTC, or without."""
    places = len(str(PER_SECOND[unit])) - 1

    def any_moment(strings: str) -> object:
        match = _MOMENT.fullmatch(strings)
        if match is None or (match[3] is not None) != has_zone:
            words = "with an offset from UTC" if has_zone else "without one from UTC"
            raise ValueError(f"{strings!r} is not a date and time {words}")
        digits = match[2] or ""
        if len(digits) > places:
            raise ValueError(f"{strings!r} has more digits than a timestamp in {unit}")
        moment = datetime.fromisoformat(match[1] + (match[3] or ""))
        since = (moment if has_zone else moment.replace(tzinfo=UTC)) - _EPOCH
        seconds = since.days * s.SECONDS_A_DAY + since.seconds
        count = seconds * 10**places + int(digits.ljust(places, "0") or "0")
        return np.int64(count).view(f"datetime64[{unit}]")

    return any_moment


_PARSERS: dict[type[s.DataType], Callable[..., object]] = {
    s.Int: _to_integer,
    s.FloatingPoint: _to_float,
    s.Bool: _to_bool,
    s.Decimal: _to_decimal,
    s.Date: _to_date,
    s.Timestamp: _to_moment,
}


def to_decimals(array: Array, type: s.DataType) -> Array:
    """Floats as decimals of a type, rounded exactly, halves to even; raises `ValueError` for others."""
    storage = type.storage
    assert isinstance(storage, s.Decimal)
    last = Decimal(1).scaleb(-storage.scale)
    return over_rows(_rounded, [array, last], lambda *_: type, name="cast")


def _rounded(values: float, last: Decimal) -> Decimal:
    if values - values != 0:
        raise ValueError(f"{values} is not a decimal")
    return Decimal(values).quantize(last, ROUND_HALF_EVEN)


def from_text(array: Array, type: s.DataType) -> Array:
    """Text, encoded or not, as numbers, booleans, dates or timestamps of a type."""
    storage, result = type.storage, type
    parser, otherwise = _PARSERS[storage.__class__], None
    if isinstance(storage, s.Int):
        otherwise = _any_integer(storage)
    elif isinstance(storage, s.Timestamp):
        otherwise = _any_moment(storage.unit, bool(storage.timezone))
        if storage.timezone:
            parser, result = _to_instant, s.timestamp(storage.unit)
    try:
        parsed = over_rows(parser, [array], lambda *_: result, otherwise=otherwise, name="cast")
    except (ArithmeticError, TypeError) as error:
        raise ValueError(f"a text is no {type}: {error}") from error
    return operations.cast(parsed, type)
