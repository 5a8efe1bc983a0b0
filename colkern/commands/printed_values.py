"""Values of columns, as `to_pylist` gives them, in JSON and on terminals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np

from colkern import schema as s
from colkern.arrays.extension_values import OffsetTimestamp
from colkern.arrays.slots import Values
from colkern.arrays.values import DayTime, MonthDayNano, Months
from colkern.extensions.canonical import known_parameters
from colkern.extensions.metadata import TensorParameters
from colkern.memory import Items


@dataclass(frozen=True, slots=True)
class UtcStamp:
    """An instant in UTC."""

    stamp: np.datetime64

    def __str__(self) -> str:
        return "NaT" if np.isnat(self.stamp) else f"{self.stamp}Z"


def marked(values: Values, data_type: s.DataType) -> Values:
    """Returns values of `to_pylist` with a `UtcStamp` for every `numpy.datetime64` in UTC, at any depth."""
    # A value of a union does not say which child it belongs to: it is marked if every child that has
    # scalars of its unit has a time zone.
    return [_marked(value, data_type) for value in values] if _has_utc(data_type) else values


def _has_utc(data_type: s.DataType) -> bool:
    match data_type:
        case s.Timestamp():
            return bool(data_type.timezone)
        case s.Dictionary():
            return _has_utc(data_type.value_type)
        case s.Extension():
            return _has_utc(data_type.storage_type)
    return any(_has_utc(field.type) for field in data_type.fields)


def _marked(value: object, data_type: s.DataType) -> Any:
    match data_type:
        case s.Dictionary() | s.RunEndEncoded():
            return _marked(value, data_type.value_type)
        case s.Extension() if isinstance(value, np.ndarray):
            return _marked_tensor(value, data_type)
        case s.Extension():
            return _marked(value, data_type.storage_type)
        case _ if isinstance(value, np.datetime64):
            return UtcStamp(value) if _is_utc(value, data_type) else value
        case s.Struct() if isinstance(value, dict):
            types = {field.name: field.type for field in data_type.fields}
            return {name: _marked(member, types[name]) for name, member in value.items()}
        case s.Struct() if isinstance(value, list):
            # Structs with repeated field names are pairs; a long struct may have been cut.
            pairs = zip(data_type.fields, value, strict=False)
            return [(name, _marked(member, field.type)) for field, (name, member) in pairs]
        case s.Map() if isinstance(value, list):
            key, item = data_type.key_field.type, data_type.item_field.type
            return [(_marked(pair[0], key), _marked(pair[1], item)) for pair in value]
        case s.List() | s.LargeList() | s.ListView() | s.LargeListView() | s.FixedSizeList():
            if isinstance(value, list):
                return [_marked(member, data_type.value_type) for member in value]
    return value


def _marked_tensor(value: Items, data_type: s.Extension) -> Any:
    parameters = known_parameters(data_type)
    if not isinstance(parameters, TensorParameters) or not _has_utc(parameters.value_type):
        return value
    item_type = parameters.value_type
    return np.frompyfunc(lambda item: _marked(item, item_type), 1, 1)(value)


def _is_utc(value: np.datetime64, data_type: s.DataType) -> bool:
    if isinstance(data_type, s.Timestamp):
        return bool(data_type.timezone)
    if not isinstance(data_type, s.Union):
        return False
    unit = np.datetime_data(value)[0]
    members = [field.type for field in data_type.fields if _scalar_unit(field.type) == unit]
    return bool(members) and all(map(_has_utc, members))


def _scalar_unit(data_type: s.DataType) -> str | None:
    """Returns the unit of the `numpy.datetime64` values of a type; None if it has none."""
    if isinstance(data_type, s.Date):
        return "D" if data_type.unit == "day" else "ms"
    return data_type.unit if isinstance(data_type, s.Timestamp) else None


def json_value(value: object) -> Any:
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


def _struct(value: dict[str, object]) -> dict[str, object]:
    return {name: json_value(member) for name, member in value.items()}


def _seconds(count: int, per_second: int) -> str:
    sign = "-" if count < 0 else ""
    whole, part = divmod(abs(count), per_second)
    digits = str(part).zfill(len(str(per_second)) - 1).rstrip("0") if part else ""
    return f"{sign}{whole}{f'.{digits}' if digits else ''}s"


def _numpy_duration(value: Any) -> str | None:
    if np.isnat(value):
        return "NaT"
    return _seconds(int(value.astype(np.int64)), s.PER_SECOND[np.datetime_data(value.dtype)[0]])


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
