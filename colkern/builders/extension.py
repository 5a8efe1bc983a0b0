"""Builders of extension types: convert the values of canonical types to values of their storage."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.arrays.extension_values import OffsetTimestamp
from colkern.arrays.slots import Values
from colkern.builders.parts import each, with_validity, within_field, wrong
from colkern.extensions.canonical import known_parameters
from colkern.extensions.metadata import TensorParameters
from colkern.memory import Items
from colkern.missing import is_null

Build = Callable[[s.DataType, Values], Array]


def build_extension(type_: s.Extension, values: Values, build: Build) -> Array:
    """Build an extension array from values in the form of `to_pylist`, or from values of its storage."""
    make = _BUILDERS.get(type_.extension_name)
    if make is None or known_parameters(type_) is None:
        return with_type(build(type_.storage_type, values), type_)
    return with_type(make(type_, values, build), type_)


def with_type(stored: Array, type_: s.Extension) -> Array:
    """Returns an array of the storage type as one of the extension type; nothing is copied."""
    return Array(
        type_,
        stored.length,
        stored.buffers,
        stored.children,
        stored.dictionary,
        null_count=stored.known_null_count,
    )


def _build_uuid(type_: s.Extension, values: Values, build: Build) -> Array:
    """`uuid.UUID`, or 16 bytes."""
    from uuid import UUID

    def convert(value: object) -> object:
        return value.bytes if isinstance(value, UUID) else value

    return build(type_.storage_type, each(values, convert, None))


def _build_bool8(type_: s.Extension, values: Values, build: Build) -> Array:
    """Bools, or the stored integers."""

    def convert(value: object) -> object:
        return int(value) if isinstance(value, bool | np.bool_) else value

    return build(type_.storage_type, each(values, convert, None))


def _build_timestamp_with_offset(type_: s.Extension, values: Values, build: Build) -> Array:
    """Aware `datetime.datetime` of whole minutes' offset, `OffsetTimestamp` or a storage value."""
    pairs = each(values, _stamp_and_minutes, None)
    # Null structs contain zeros, so that neither field needs a bitmap of its own.
    columns = zip(*(pair or (0, 0) for pair in pairs), strict=True) if pairs else ((), ())
    children = [
        within_field(field.name, lambda f=field, c=column: build(f.type, list(c)))  # type: ignore[misc]
        for field, column in zip(type_.fields, columns, strict=True)
    ]
    return with_validity(type_.storage_type, pairs, [], children)


def _stamp_and_minutes(value: object) -> tuple[object, int] | None:
    if isinstance(value, datetime):
        offset = value.utcoffset()
        if offset is None:
            raise ValueError(f"{value} has no timezone")
        minutes, rest = divmod(offset, timedelta(minutes=1))
        if rest:
            raise ValueError(f"{value} is no whole number of minutes away from UTC")
        return value, minutes
    if isinstance(value, dict) and value.keys() <= {"timestamp", "offset_minutes"}:
        value = OffsetTimestamp(value.get("timestamp"), value.get("offset_minutes", 0))
    if not isinstance(value, tuple) or len(value) != 2:
        raise wrong("an aware datetime.datetime or an OffsetTimestamp", value)
    stamp, minutes = value
    return None if is_null(stamp) else (stamp, 0 if is_null(minutes) else minutes)


# Tensors


def _build_fixed_shape_tensor(type_: s.Extension, values: Values, build: Build) -> Array:
    """NumPy arrays of the logical shape, or a list of all elements in row-major physical order."""
    parameters = known_parameters(type_)
    assert isinstance(parameters, TensorParameters)
    assert parameters.shape is not None
    shape = parameters.logical(parameters.shape)

    def convert(value: object) -> object:
        if not isinstance(value, np.ndarray):
            return value
        if value.shape != shape:
            raise ValueError(f"expected shape {shape}, got {value.shape}")
        return _physical(value, parameters).reshape(-1).tolist()

    return build(type_.storage_type, each(values, convert, None))


def _build_variable_shape_tensor(type_: s.Extension, values: Values, build: Build) -> Array:
    """NumPy arrays, or mappings of `data`, in row-major physical order, and `shape`."""
    parameters = known_parameters(type_)
    assert isinstance(parameters, TensorParameters)

    def convert(value: object) -> object:
        if not isinstance(value, np.ndarray):
            return value
        if value.ndim != parameters.dimensions:
            raise ValueError(f"expected {parameters.dimensions} dimensions, got {value.ndim}")
        physical = _physical(value, parameters)
        uniform = parameters.uniform_shape or physical.shape
        if any(size not in (None, own) for size, own in zip(uniform, physical.shape, strict=True)):
            raise ValueError(f"physical shape {physical.shape} is not {uniform}, which all have")
        return {"data": physical.reshape(-1).tolist(), "shape": list(physical.shape)}

    return build(type_.storage_type, each(values, convert, None))


def _physical(tensor: Items, parameters: TensorParameters) -> Items:
    """Returns a tensor with its dimensions in storage order."""
    return tensor.transpose(_inverse(parameters))


def _inverse(parameters: TensorParameters) -> list[int]:
    order = parameters.permutation or range(parameters.dimensions)
    return sorted(range(parameters.dimensions), key=order.__getitem__)


def tensors_from_numpy(
    values: Items, type_: s.DataType, from_numpy: Callable[[Items, s.DataType], Array]
) -> Array | None:
    """Builds tensors from an array with one dimension more, copied if necessary; None for other types."""
    parameters = known_parameters(type_) if isinstance(type_, s.Extension) else None
    if not isinstance(parameters, TensorParameters) or parameters.shape is None:
        return None
    assert isinstance(type_, s.Extension)
    shape = parameters.logical(parameters.shape)
    if values.shape[1:] != shape:
        raise ValueError(f"values: expected tensors of shape {shape}, got {values.shape[1:]}")
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError("values: tensors of a masked array; mask none, or give a list of arrays")
    physical = values.transpose([0, *(axis + 1 for axis in _inverse(parameters))])
    elements = from_numpy(physical.reshape(-1), parameters.value_type)
    return Array(type_, len(values), [None], [elements], null_count=0)


_BUILDERS: dict[str, Callable[[s.Extension, Values, Build], Array]] = {
    "arrow.uuid": _build_uuid,
    "arrow.bool8": _build_bool8,
    "arrow.timestamp_with_offset": _build_timestamp_with_offset,
    "arrow.fixed_shape_tensor": _build_fixed_shape_tensor,
    "arrow.variable_shape_tensor": _build_variable_shape_tensor,
}
