"""Timestamps of a type with a time zone that `datetime` cannot hold: printed with a `Z`.

`to_pylist` gives them as `numpy.datetime64`, which is in UTC and does not say so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.extensions import TensorParameters, known_parameters

Mark = Callable[[Any], Any]
"""A value as `colkern.arrays.values` gives it, its timestamps in UTC as `UtcStamp`."""


@dataclass(frozen=True, slots=True)
class UtcStamp:
    """An instant.

    Args:
        stamp: It, in UTC.
    """

    stamp: np.datetime64

    def __str__(self) -> str:
        return "NaT" if np.isnat(self.stamp) else f"{self.stamp}Z"


def marked(values: list[Any], type_: s.DataType) -> list[Any]:
    """Values of `to_pylist` with a `UtcStamp` for every `numpy.datetime64` in UTC, at any depth.

    A value of a union does not say which child it is of: it is marked if every child that gives
    scalars of its unit has a time zone.
    """
    mark = _mark_of(type_)
    return values if mark is None else [mark(value) for value in values]


def _mark_of(type_: s.DataType) -> Mark | None:
    """What marks a value of a type; None where there is nothing to mark."""
    make = _MARKS.get(type(type_))
    return None if make is None else make(type_)


def _stamp(value: Any) -> Any:
    return UtcStamp(value) if isinstance(value, np.datetime64) else value


def _of_members(mark: Mark | None) -> Mark | None:
    """The mark of lists, or of NumPy's arrays, of what the mark given is for."""
    if mark is None:
        return None

    def members(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return np.frompyfunc(mark, 1, 1)(value)
        return [mark(member) for member in value] if isinstance(value, list) else value

    return members


def _of_list(type_: Any) -> Mark | None:
    return _of_members(_mark_of(type_.value_type))


def _of_struct(type_: s.DataType) -> Mark | None:
    marks = [_mark_of(field.type) for field in type_.fields]
    if not any(marks):
        return None
    by_name = {field.name: mark for field, mark in zip(type_.fields, marks, strict=True)}

    def struct(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: _applied(by_name[name], member) for name, member in value.items()}
        if not isinstance(value, list):
            return value
        # Fields that share a name; of a long struct perhaps only the first.
        pairs = zip(marks, value, strict=False)
        return [(name, _applied(mark, member)) for mark, (name, member) in pairs]

    return struct


def _applied(mark: Mark | None, value: Any) -> Any:
    return value if mark is None else mark(value)


def _of_map(type_: s.Map) -> Mark | None:
    key, item = _mark_of(type_.key_field.type), _mark_of(type_.item_field.type)
    if key is None and item is None:
        return None
    return _of_members(lambda pair: (_applied(key, pair[0]), _applied(item, pair[1])))


def _of_union(type_: s.DataType) -> Mark | None:
    members = [field.type for field in type_.fields]
    in_utc = {_scalar_unit(member) for member in members if _mark_of(member) is _stamp}
    in_utc -= {_scalar_unit(member) for member in members if _mark_of(member) is not _stamp}
    if not in_utc:
        return None

    def member(value: Any) -> Any:
        is_scalar = isinstance(value, np.datetime64)
        return UtcStamp(value) if is_scalar and np.datetime_data(value)[0] in in_utc else value

    return member


def _scalar_unit(type_: s.DataType) -> str | None:
    """The unit of the `numpy.datetime64` that stand for values of a type; None if none do."""
    if isinstance(type_, s.Date):
        return "D" if type_.unit == "day" else "ms"
    return type_.unit if isinstance(type_, s.Timestamp) else None


def _of_extension(type_: s.Extension) -> Mark | None:
    parameters = known_parameters(type_)
    stored = _mark_of(type_.storage_type)
    if not isinstance(parameters, TensorParameters):
        return stored
    # Tensors are arrays, but those of no numbers that are shown cut are the values of the storage.
    tensor = _of_members(_mark_of(parameters.value_type))
    if tensor is None or stored is None:
        return None
    return lambda value: (tensor if isinstance(value, np.ndarray) else stored)(value)


_MARKS: dict[type[s.DataType], Callable[[Any], Mark | None]] = {
    s.Timestamp: lambda type_: _stamp if type_.timezone else None,
    s.Struct: _of_struct,
    s.Map: _of_map,
    s.Union: _of_union,
    s.Dictionary: lambda type_: _mark_of(type_.value_type),
    s.RunEndEncoded: lambda type_: _mark_of(type_.value_type),
    s.Extension: _of_extension,
    **dict.fromkeys((s.List, s.LargeList, s.ListView, s.LargeListView, s.FixedSizeList), _of_list),
}
