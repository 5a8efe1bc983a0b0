"""Values of columns, as `to_pylist` gives them, in JSON."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np

from colkern.arrays.extension_values import OffsetTimestamp
from colkern.arrays.values import DayTime, MonthDayNano, Months
from colkern.commands.utc_stamps import UtcStamp
from colkern.schema import PER_SECOND


def json_value(value: Any) -> Any:
    """A value of `colkern.arrays.values.to_pylist` for JSON; nothing is rounded.

    Numbers, text, booleans and nulls are themselves; NaN and infinities the text `NaN`, `Infinity`,
    `-Infinity`; decimals their digits as text; bytes hexadecimal text; dates, times and timestamps ISO
    8601; durations, and times in nanoseconds, seconds as text (`1.5s`); intervals objects; lists
    arrays; maps arrays of `[key, value]`; structs objects (or pairs, where fields share a name);
    UUIDs text; tensors arrays in arrays.
    """
    convert = _CONVERSIONS.get(type(value))
    return value if convert is None else convert(value)


def _float(value: float) -> float | str:
    if math.isfinite(value):
        return value
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _members(value: Any) -> list[Any]:
    return [json_value(member) for member in value]


def _struct(value: dict[str, Any]) -> dict[str, Any]:
    return {name: json_value(member) for name, member in value.items()}


def _seconds(count: int, per_second: int) -> str:
    sign = "-" if count < 0 else ""
    whole, part = divmod(abs(count), per_second)
    digits = str(part).zfill(len(str(per_second)) - 1).rstrip("0") if part else ""
    return f"{sign}{whole}{f'.{digits}' if digits else ''}s"


def _numpy_duration(value: Any) -> str | None:
    if np.isnat(value):
        return "NaT"
    return _seconds(int(value.astype(np.int64)), PER_SECOND[np.datetime_data(value.dtype)[0]])


_CONVERSIONS: dict[type, Callable[[Any], Any]] = {
    float: _float,
    bytes: bytes.hex,
    Decimal: lambda value: format(value, "f"),
    date: date.isoformat,
    datetime: datetime.isoformat,
    time: time.isoformat,
    timedelta: lambda value: _seconds(value // timedelta(microseconds=1), 10**6),
    np.datetime64: str,
    UtcStamp: str,
    OffsetTimestamp: str,
    UUID: str,
    np.ndarray: lambda value: json_value(value.tolist()),
    np.timedelta64: _numpy_duration,
    Months: Months._asdict,
    DayTime: DayTime._asdict,
    MonthDayNano: MonthDayNano._asdict,
    list: _members,
    tuple: _members,
    dict: _struct,
}
