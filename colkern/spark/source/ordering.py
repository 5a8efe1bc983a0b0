"""Values by what Spark orders them by: numbers, or the bytes of strings."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np

from colkern import schema as s

Key = int | float | bytes | bool
"""What values of one type are compared by."""

_EPOCH = datetime.datetime(1970, 1, 1)
_EPOCH_DAY = datetime.date(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)


def key_of(value: Any, type_: s.DataType) -> Key | None:
    """What values of a type are ordered by; None if it has no order here, or no such value.

    A number is rounded to the bits of the type.

    Args:
        value: As Spark passes it in a filter.
        type_: One of the types in which Spark takes columns.

    A NaN has no key: for Spark it equals itself and is the greatest number, for others it does not. Nor has
    what the type cannot hold.
    """
    make = _KEYS.get(type(type_))
    return None if make is None else make(value, type_)


def _bool(value: Any, _: Any) -> Key | None:
    return value if isinstance(value, bool) else None


def _int(value: Any, type_: s.Int) -> Key | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    end = 1 << type_.bit_width - type_.signed
    return value if value in range(-end if type_.signed else 0, end) else None


def _float(value: Any, type_: s.FloatingPoint) -> Key | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        with np.errstate(over="ignore"):
            number = float(np.dtype(f"f{type_.bit_width // 8}").type(value))
    except OverflowError:
        return None
    is_lost = math.isinf(number) and not math.isinf(value)
    return None if is_lost or math.isnan(number) else number


def _decimal(value: Any, type_: s.Decimal) -> Key | None:
    if not isinstance(value, int | Decimal) or isinstance(value, bool):
        return None
    sign, digits, exponent = Decimal(value).as_tuple()
    if not isinstance(exponent, int) or exponent + type_.scale < 0:
        return None
    if len(digits) + exponent + type_.scale > type_.precision and any(digits):
        return None
    number: int = int("".join(map(str, digits)) or "0") * 10 ** (exponent + type_.scale)
    return -number if sign else number


def _date(value: Any, _: Any) -> int | None:
    if not isinstance(value, datetime.date) or isinstance(value, datetime.datetime):
        return None
    return int((value - _EPOCH_DAY).days)


def _timestamp(value: Any, type_: s.Timestamp) -> Key | None:
    if not isinstance(value, datetime.datetime):
        return None
    if (value.tzinfo is None) != (type_.timezone is None):
        return None
    if value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return int((value - _EPOCH) // _MICROSECOND)


def _duration(value: Any, _: Any) -> Key | None:
    return int(value // _MICROSECOND) if isinstance(value, datetime.timedelta) else None


def _string(value: Any, _: Any) -> Key | None:
    return value.encode() if isinstance(value, str) else None


def _binary(value: Any, _: Any) -> Key | None:
    return bytes(value) if isinstance(value, bytes | bytearray) else None


_KEYS: dict[type[s.DataType], Callable[[Any, Any], Key | None]] = {
    s.Bool: _bool,
    s.Int: _int,
    s.FloatingPoint: _float,
    s.Decimal: _decimal,
    s.Date: _date,
    s.Timestamp: _timestamp,
    s.Duration: _duration,
    s.Utf8: _string,
    s.Binary: _binary,
}
