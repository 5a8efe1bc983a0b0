"""Casts between text and numbers, dates and times, in pyarrow's forms, for `colkern.cast`.

For Python's own forms, use `str(x)` and `float(s)` in a row function.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal

from colkern import operations
from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.functions.dates import strftime
from colkern.functions.row_functions import over_rows
from colkern.operations.encodings import decoded
from colkern.rows.encoded import decoded_type


def _of_integer(values: int) -> str:
    return str(values)


def _of_bool(values: bool) -> str:
    return "true" if values else "false"


def _of_decimal(values: Decimal) -> str:
    return str(values)


def _of_float(values: float) -> str:
    if values != values:
        return "nan"
    size = abs(values)
    if size < 1e10 and (size >= 1e-4 or size == 0.0):
        return str(values).removesuffix(".0")
    raise ValueError(values)


def _of_any_float(values: float) -> str:
    """A float as pyarrow writes it: positional from 1e-6 to 1e10, else with an exponent without zeros."""
    if abs(values) == float("inf"):
        return str(values)
    sign, digits, exponent = Decimal(repr(values)).normalize().as_tuple()
    assert isinstance(exponent, int)
    places = exponent + len(digits) - 1
    head = "-" if sign else ""
    if -7 < places < 10:
        return head + format(abs(Decimal(repr(values)).normalize()), "f")
    first, *others = map(str, digits)
    mantissa = first + ("." + "".join(others) if others else "")
    return f"{head}{mantissa}e{places:+d}"


def to_text(array: Array, type: s.DataType) -> Array:
    """Numbers, booleans, dates or timestamps, encoded or not, as text of a type."""
    storage = decoded_type(array.type).storage
    if isinstance(storage, s.Date | s.Timestamp):
        return operations.cast(strftime(array, _form_of(storage)), type)
    if isinstance(storage, s.FloatingPoint) and storage.bit_width < 64:
        # Their shortest digits are fewer than those of the float64.
        raise UnsupportedError(f"no cast from {array.type} to {type}; cast to double first")
    function = _FORMS[storage.__class__]
    otherwise = _of_any_float if function is _of_float else None
    return over_rows(function, [decoded(array)], lambda *_: type, otherwise=otherwise)


_FORMS: dict[type[s.DataType], Callable[..., str]] = {
    s.Int: _of_integer,
    s.Bool: _of_bool,
    s.Decimal: _of_decimal,
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


def _to_float(strings: str) -> float:
    if "_" in strings or strings != strings.strip():
        raise ValueError(f"{strings!r} is not a number")
    return float(strings)


def _to_bool(strings: str) -> bool:
    word = strings.lower()
    if word in ("true", "1"):
        return True
    if word in ("false", "0"):
        return False
    raise ValueError(f"{strings!r} is not a boolean")


def _to_decimal(strings: str) -> Decimal:
    return Decimal(strings)


def _to_date(strings: str) -> date:
    if len(strings) != 10:
        raise ValueError(f"{strings!r} is not a date")
    return date.fromisoformat(strings)


def _to_moment(strings: str) -> datetime:
    return datetime.fromisoformat(strings)


_PARSERS: dict[type[s.DataType], Callable[..., object]] = {
    s.Int: _to_integer,
    s.FloatingPoint: _to_float,
    s.Bool: _to_bool,
    s.Decimal: _to_decimal,
    s.Date: _to_date,
    s.Timestamp: _to_moment,
}


def from_text(array: Array, type: s.DataType) -> Array:
    """Text, encoded or not, as numbers, booleans, dates or timestamps of a type."""
    if isinstance(type.storage, s.Timestamp) and type.storage.timezone:
        raise UnsupportedError(
            f"no cast from {array.type} to {type}; cast to one without a zone, and assume_timezone"
        )
    try:
        return over_rows(_PARSERS[type.storage.__class__], [array], lambda *_: type)
    except (ArithmeticError, TypeError) as error:
        raise ValueError(f"a text is no {type}: {error}") from error
