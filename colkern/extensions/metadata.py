"""Reads and writes the parameters of canonical extension types as metadata (JSON).

Format: "Canonical Extension Types".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from colkern import schema as s
from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.extensions.storage import tensor_fields

MAX_DIMENSIONS = 64
"""The limit on the dimensions of a tensor: that of NumPy's arrays."""


@dataclass(frozen=True, slots=True)
class TensorParameters:
    """The parameters of a tensor type."""

    value_type: s.DataType
    dimensions: int
    #: The physical shape, in row-major order; None if each tensor has its own.
    shape: tuple[int, ...] | None = None
    #: For tensors with individual shapes, the sizes that all share; None for a dimension in which they
    #: differ.
    uniform_shape: tuple[int | None, ...] | None = None
    dim_names: tuple[str, ...] | None = None  #: A name for each physical dimension, or None.
    #: For each logical dimension, the physical dimension, or None if they are the same.
    permutation: tuple[int, ...] | None = None

    def logical(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The logical shape for a physical one."""
        return tuple(shape[d] for d in self.permutation or range(self.dimensions))


@dataclass(frozen=True, slots=True)
class OpaqueParameters:
    """The parameters of `arrow.opaque`."""

    type_name: str  #: The name of the type in the system of its origin.
    vendor_name: str  #: The name of that system.


@dataclass(frozen=True, slots=True)
class NoParameters:
    """The parameters of a type that has none."""


Parameters = TensorParameters | OpaqueParameters | NoParameters


def no_metadata(type_: s.Extension) -> NoParameters:
    """The parameters of a type that has no metadata."""
    if type_.extension_metadata:
        raise InvalidArrowError(f"metadata {type_.extension_metadata[:40]!r}; it has none")
    return NoParameters()


def _object(metadata: bytes) -> Mapping[str, Any]:
    """Metadata that is a JSON object."""
    import json

    try:
        value = json.loads(metadata.decode())
    except (ValueError, RecursionError):
        raise InvalidArrowError(f"metadata {metadata[:40]!r} is not JSON") from None
    if not isinstance(value, dict):
        raise InvalidArrowError(f"metadata {metadata[:40]!r} is not a JSON object")
    return value


def serialized(**parameters: object) -> bytes:
    """Returns parameters, except those that are None, as a JSON object as Arrow C++ writes it."""
    import json

    present = {name: value for name, value in parameters.items() if value is not None}
    return json.dumps(present, separators=(",", ":"), ensure_ascii=False).encode()


def json_parameters(type_: s.Extension) -> NoParameters:
    """The parameters of `arrow.json`: an empty object."""
    # Arrow C++ ignores it; the format allows the empty string or an object, which is empty so far.
    if type_.extension_metadata:
        _object(type_.extension_metadata)
    return NoParameters()


def opaque_parameters(type_: s.Extension) -> OpaqueParameters:
    """The parameters of `arrow.opaque`."""
    members = _object(type_.extension_metadata)
    names = members.get("type_name"), members.get("vendor_name")
    if not all(isinstance(name, str) for name in names):
        raise InvalidArrowError(f"type_name and vendor_name {names!r:.100}; they are text")
    return OpaqueParameters(*names)  # type: ignore[arg-type]


def _sizes(value: object, what: str, unknown: tuple[None, ...] = ()) -> tuple[Any, ...]:
    """A JSON array of sizes."""
    if not isinstance(value, list):
        raise InvalidArrowError(f"{what} {value!r:.100} is not an array")
    if len(value) > MAX_DIMENSIONS:
        raise UnsupportedError(
            f"tensors of {len(value)} dimensions; colkern has at most {MAX_DIMENSIONS}"
        )
    for size in value:
        # In Python a bool is an int; in JSON it is not a number.
        is_size = type(size) is int and 0 <= size < 1 << 63
        if not is_size and size not in unknown:
            raise InvalidArrowError(f"{what} {value!r:.100}: {size!r:.40} is no size")
    return tuple(value)


def _names_and_order(
    members: Mapping[str, object], dimensions: int
) -> tuple[tuple[str, ...] | None, tuple[int, ...] | None]:
    """Returns the names of dimensions and the permutation, if they are given."""
    names, order = members.get("dim_names"), members.get("permutation")
    if names is not None:
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise InvalidArrowError(f"dim_names {names!r:.100} is not an array of text")
        if len(names) != dimensions:
            raise InvalidArrowError(f"dim_names: {len(names)} for {dimensions} dimensions")
    permutation = None if order is None else _sizes(order, "permutation")
    if permutation is not None and sorted(permutation) != list(range(dimensions)):
        raise InvalidArrowError(f"permutation {order!r:.100} of {dimensions} dimensions")
    return None if names is None else tuple(names), permutation


def fixed_shape_parameters(type_: s.Extension) -> TensorParameters:
    """The parameters of `arrow.fixed_shape_tensor`."""
    storage = type_.storage_type
    assert isinstance(storage, s.FixedSizeList)
    members = _object(type_.extension_metadata)
    shape = _sizes(members.get("shape"), "shape")
    if prod(shape) != storage.list_size:
        raise InvalidArrowError(f"shape {list(shape)} of lists of {storage.list_size} values")
    names, order = _names_and_order(members, len(shape))
    return TensorParameters(
        storage.value_type, len(shape), shape, dim_names=names, permutation=order
    )


def variable_shape_parameters(type_: s.Extension) -> TensorParameters:
    """The parameters of `arrow.variable_shape_tensor`."""
    data, shapes = tensor_fields(type_.storage_type)
    storage = shapes.type
    assert isinstance(storage, s.FixedSizeList)
    dimensions = storage.list_size
    if dimensions > MAX_DIMENSIONS:
        raise UnsupportedError(
            f"tensors of {dimensions} dimensions; colkern has at most {MAX_DIMENSIONS}"
        )
    members = _object(type_.extension_metadata) if type_.extension_metadata else {}
    uniform = members.get("uniform_shape")
    if uniform is not None:
        uniform = _sizes(uniform, "uniform_shape", (None,))
        if len(uniform) != dimensions:
            raise InvalidArrowError(f"uniform_shape {list(uniform)} of {dimensions} dimensions")
    names, order = _names_and_order(members, dimensions)
    assert isinstance(data.type, s.List)
    return TensorParameters(
        data.type.value_type,
        dimensions,
        uniform_shape=uniform,
        dim_names=names,
        permutation=order,
    )
