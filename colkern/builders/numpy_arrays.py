"""Arrays over the memory of NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import packed
from colkern.builders.extension import tensors_from_numpy
from colkern.builders.infer import array_of, from_dtype
from colkern.builders.parts import BadValue
from colkern.layouts import Role, layout
from colkern.memory import Buffer

_AS_OBJECTS = "OUST"
"""The kinds of dtypes that hold text, bytes or objects: their values are taken one by one."""

_STORED_INTEGERS = (s.Date, s.Time, s.Timestamp, s.Duration)


def from_numpy(values: NDArray[Any], type_: s.DataType | None) -> Array:
    """An array of a one-dimensional NumPy array: the same memory if the bytes can stay as they are.

    They can for contiguous little-endian integers, floats, `datetime64`/`timedelta64` in `s` to `ns`
    and void, if `type_` is None or stores the same bytes: integers under a date, time, timestamp or
    duration; `datetime64` under a timestamp with a timezone. The memory must not be changed from
    then on. Bools are packed. Masked values and NaT become nulls. Further dimensions are taken for
    those of tensors of one shape, if that is the type.
    """
    if type_ is not None and values.dtype.kind not in _AS_OBJECTS:
        tensors = tensors_from_numpy(values, type_, from_numpy)
        if tensors is not None:
            return tensors
    if values.ndim != 1:
        raise ValueError(f"values: expected one dimension, got shape {values.shape}")
    masked = isinstance(values, np.ma.MaskedArray)
    nulls = np.ma.getmaskarray(values) if masked else None
    plain = np.asarray(values)
    if plain.dtype.kind in _AS_OBJECTS:
        return _from_objects(plain, nulls, type_)
    if plain.dtype.kind in "mM":
        not_a_time = np.isnat(plain)
        nulls = not_a_time if nulls is None else nulls | not_a_time
    natural = from_dtype(plain.dtype)
    target = natural if type_ is None else type_
    plain = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
    if isinstance(natural, s.Bool) and isinstance(target, s.Bool):
        return _array(target, len(plain), Buffer(packed(plain)), nulls)
    if not _stores_the_same(plain, natural, target):
        converted = _converted(plain, nulls, target)
        if converted is None:
            return _from_objects(plain, nulls, target)
        plain = converted
    bytes_ = np.ascontiguousarray(plain)
    width = bytes_.dtype.itemsize
    data = Buffer(bytes_.view(np.uint8) if width else np.empty(0, np.uint8))
    return _array(target, len(plain), data, nulls)


def _array(type_: s.DataType, length: int, data: Buffer, nulls: NDArray[np.bool_] | None) -> Array:
    count = 0 if nulls is None else int(np.count_nonzero(nulls))
    valid = Buffer(packed(~nulls)) if nulls is not None and count else None
    return Array(type_, length, [valid, data], null_count=count)


def _stores_the_same(plain: NDArray[Any], natural: s.DataType, target: s.DataType) -> bool:
    if isinstance(natural, s.Date):
        # NumPy's days have 64 bits.
        return False
    if natural == target:
        return True
    if isinstance(natural, s.Timestamp) and isinstance(target, s.Timestamp):
        return natural.unit == target.unit
    if not isinstance(natural, s.Int) or not isinstance(target, _STORED_INTEGERS):
        return False
    return layout(target).spec(Role.DATA).dtype == plain.dtype


def _converted(
    plain: NDArray[Any], nulls: NDArray[np.bool_] | None, target: s.DataType
) -> NDArray[Any] | None:
    """Numbers as other numbers, days as date32; None where NumPy has no say."""
    if isinstance(target, s.Date) and plain.dtype.kind == "M" and target.unit == "day":
        if plain.dtype != np.dtype("<M8[D]"):
            return None
        plain = plain.view("<i8")
    elif plain.dtype.kind not in "iuf" or not isinstance(target, s.Int | s.FloatingPoint):
        return None
    dtype = layout(target).spec(Role.DATA).dtype
    if plain.dtype.kind == "f" and dtype.kind != "f":
        raise TypeError(f"values: NumPy's {plain.dtype} is not converted to {target}")
    with np.errstate(over="ignore", invalid="ignore"):
        converted = plain.astype(dtype)
        back = converted.astype(plain.dtype)
    if plain.dtype.kind == "f":
        return converted
    changed = (back != plain) | ((plain < 0) != (converted < 0))
    if nulls is not None:
        changed &= ~nulls
    if changed.any():
        index = int(np.flatnonzero(changed)[0])
        raise BadValue(ValueError, f"{target} does not hold {plain[index]} exactly", index)
    return converted


def _from_objects(
    plain: NDArray[Any], nulls: NDArray[np.bool_] | None, type_: s.DataType | None
) -> Array:
    values: list[Any] = plain.tolist() if plain.dtype.kind in _AS_OBJECTS else list(plain)
    if nulls is not None:
        for index in np.flatnonzero(nulls).tolist():
            values[index] = None
    return array_of(values, type_)
