"""Keys of values: numbers or bytes that compare as Spark compares the values."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from decimal import Decimal

import numpy as np

from colkern import schema as s
from colkern.dispatch import Dispatch
from colkern.spark.types import PASSED

Key = int | float | bytes | bool
"""Values of one type are compared by their keys."""

_EPOCH = datetime.datetime(1970, 1, 1)
_EPOCH_DAY = datetime.date(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)


def key_of(value: object, type_: s.DataType) -> Key | None:
    """Returns the key of a filter's value; None if the type has no keys, or cannot hold the value."""
    # A number is rounded to the bits of the type. NaN has no key: in Spark it equals itself and is greater
    # than any number, elsewhere it is not.
    make = _KEYS.get(type(type_))
    # In Python, a bool is an int.
    if make is None or isinstance(value, bool) is not isinstance(type_, s.Bool):
        return None
    return make(value, type_)


_KEYS: Dispatch[type[s.DataType], Callable[..., Key | None]] = Dispatch(
    "the keys of values", PASSED, (s.Null, s.Time, s.List, s.Map, s.Struct)
)


@_KEYS.of(s.Bool)
def _bool(value: bool, _: s.Bool) -> Key:
    return value


@_KEYS.of(s.Int)
def _int(value: object, type_: s.Int) -> Key | None:
    if not isinstance(value, int):
        return None
    end = 1 << type_.bit_width - type_.signed
    return value if value in range(-end if type_.signed else 0, end) else None


@_KEYS.of(s.FloatingPoint)
def _float(value: object, type_: s.FloatingPoint) -> Key | None:
    if not isinstance(value, int | float):
        return None
    try:
        with np.errstate(over="ignore"):
            number = float(np.dtype(f"f{type_.bit_width // 8}").type(value))
    except OverflowError:
        return None
    is_lost = math.isinf(number) and not math.isinf(value)
    return None if is_lost or math.isnan(number) else number


@_KEYS.of(s.Decimal)
def _decimal(value: object, type_: s.Decimal) -> Key | None:
    if not isinstance(value, int | Decimal):
        return None
    sign, digits, exponent = Decimal(value).as_tuple()
    if not isinstance(exponent, int) or exponent + type_.scale < 0:
        return None
    if len(digits) + exponent + type_.scale > type_.precision and any(digits):
        return None
    number: int = int("".join(map(str, digits)) or "0") * 10 ** (exponent + type_.scale)
    return -number if sign else number


@_KEYS.of(s.Date)
def _date(value: object, _: s.Date) -> Key | None:
    if not isinstance(value, datetime.date) or isinstance(value, datetime.datetime):
        return None
    return (value - _EPOCH_DAY).days


@_KEYS.of(s.Timestamp)
def _timestamp(value: object, type_: s.Timestamp) -> Key | None:
    if not isinstance(value, datetime.datetime):
        return None
    if (value.tzinfo is None) != (type_.timezone is None):
        return None
    if value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return (value - _EPOCH) // _MICROSECOND


@_KEYS.of(s.Duration)
def _duration(value: object, _: s.Duration) -> Key | None:
    return value // _MICROSECOND if isinstance(value, datetime.timedelta) else None


@_KEYS.of(s.Utf8)
def _string(value: object, _: s.Utf8) -> Key | None:
    return value.encode() if isinstance(value, str) else None


@_KEYS.of(s.Binary)
def _binary(value: object, _: s.Binary) -> Key | None:
    return bytes(value) if isinstance(value, bytes | bytearray) else None
