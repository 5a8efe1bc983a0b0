"""Makes canonical extension types.

Format: "Canonical Extension Types".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

from colkern import schema as s
from colkern.errors import InvalidArrowError, shown
from colkern.extensions.canonical import parameters_of
from colkern.extensions.metadata import serialized
from colkern.integers import integer


def fixed_shape_tensor(
    value_type: s.TypeLike,
    shape: Sequence[int],
    dim_names: Sequence[str] | None = None,
    permutation: Sequence[int] | None = None,
) -> s.Extension:
    """Tensors of one shape, `arrow.fixed_shape_tensor`, stored as fixed-size lists in row-major order.

    Args:
        value_type: The type of the elements.
        shape: The physical shape.
        dim_names: A name for each physical dimension.
        permutation: For each logical dimension, the physical one that it is.

    Raises:
        TypeError: If `shape` or `permutation` is no sequence of integers, `dim_names` none of text.
        ValueError: If names or permutation do not fit the shape, a size is negative, or a tensor has
            more than 2**31 - 1 elements.
        UnsupportedError: If there are more than 64 dimensions.
    """
    sizes = _integers(shape, "shape")
    metadata = serialized(
        shape=sizes, permutation=_order(permutation), dim_names=dimension_names(dim_names)
    )
    if any(size < 0 for size in sizes):
        raise ValueError(f"shape: {sizes} has a negative size")
    if prod(sizes) > s.INT32_MAX:
        raise ValueError(f"shape: {sizes!r:.100} has over {s.INT32_MAX} elements")
    return _checked("fixed_shape_tensor", s.fixed_size_list(value_type, prod(sizes)), metadata)


def variable_shape_tensor(
    value_type: s.TypeLike,
    ndim: int,
    dim_names: Sequence[str] | None = None,
    permutation: Sequence[int] | None = None,
    uniform_shape: Sequence[int | None] | None = None,
) -> s.Extension:
    """Tensors with individual shapes, `arrow.variable_shape_tensor`, stored as lists and shapes.

    Args:
        value_type, dim_names, permutation: As for `fixed_shape_tensor`, as are errors.
        ndim: The number of dimensions of each tensor.
        uniform_shape: The sizes that all tensors share; None for dimensions in which they differ.
    """
    dimensions = integer(ndim, "ndim")
    if dimensions < 0:
        raise ValueError(f"ndim: must not be negative, got {dimensions}")
    # The format allows empty metadata if there are no parameters; Arrow C++ only reads an object.
    metadata = serialized(
        permutation=_order(permutation),
        dim_names=dimension_names(dim_names),
        uniform_shape=_uniform(uniform_shape),
    )
    storage = s.struct(
        [("data", s.list_(value_type)), ("shape", s.fixed_size_list(s.int32(), dimensions))]
    )
    return _checked("variable_shape_tensor", storage, metadata)


def json_(storage_type: s.DataType | None = None) -> s.Extension:
    """JSON text, `arrow.json`, stored as `utf8` unless another string type is given.

    Raises:
        ValueError: If `storage_type` is no string type.
    """
    return _checked("json", storage_type or s.utf8())


def uuid() -> s.Extension:
    """Universally unique identifiers, `arrow.uuid`, stored as 16 bytes."""
    return _checked("uuid", s.fixed_size_binary(16))


def bool8() -> s.Extension:
    """Booleans of a byte each, `arrow.bool8`, stored as `int8`: 0 is false."""
    return _checked("bool8", s.int8())


def opaque(storage_type: s.DataType, type_name: str, vendor_name: str) -> s.Extension:
    """Values of another system's type, `arrow.opaque`, for which Arrow has no type.

    Args:
        storage_type: The type in which they are stored; `null()` if there is no data.
        type_name: The name of the type in that system.
        vendor_name: The name of that system.

    Raises:
        ValueError: If a name is not text.
    """
    metadata = serialized(type_name=type_name, vendor_name=vendor_name)
    return _checked("opaque", storage_type, metadata)


def timestamp_with_offset(unit: str) -> s.Extension:
    """Instants with an offset from UTC each, `arrow.timestamp_with_offset`.

    Args:
        unit: `s`, `ms`, `us` or `ns`.

    Raises:
        ValueError: If it is none of these.
    """
    storage = s.struct(
        [
            s.field("timestamp", s.timestamp(unit, "UTC"), nullable=False),
            s.field("offset_minutes", s.int16(), nullable=False),
        ]
    )
    return _checked("timestamp_with_offset", storage)


def variant(storage_type: s.DataType | None = None) -> s.Extension:
    """Parquet's variants, `arrow.parquet.variant`, stored as two binary fields unless shredded.

    Args:
        storage_type: The struct of a shredded variant: `metadata`, `value` and `typed_value`.

    Raises:
        ValueError: If it breaks the rules of the format.
    """
    plain = s.struct([s.field("metadata", s.binary(), nullable=False), ("value", s.binary())])
    return _checked("parquet.variant", storage_type or plain)


def _checked(name: str, storage: s.DataType, metadata: bytes = b"") -> s.Extension:
    extension = s.Extension(storage, f"arrow.{name}", metadata)
    try:
        parameters_of(extension)
    except InvalidArrowError as error:
        raise ValueError(error.message) from None
    return extension


def _integers(values: Any, name: str) -> list[int]:
    try:
        return [integer(value, name) for value in values]
    except TypeError:
        raise TypeError(f"{name}: expected a sequence of integers, got {shown(values)}") from None


def _order(permutation: object) -> list[int] | None:
    return None if permutation is None else _integers(permutation, "permutation")


def _uniform(shape: Any) -> list[int | None] | None:
    if shape is None:
        return None
    try:
        return [None if size is None else integer(size, "uniform_shape") for size in shape]
    except TypeError:
        raise TypeError(
            f"uniform_shape: expected a sequence of integers and None, got {shown(shape)}"
        ) from None


def dimension_names(names: Any) -> tuple[str, ...] | None:
    """Returns names that a caller gives, or None; raises TypeError unless they are a sequence of str."""
    if names is None:
        return None
    is_sequence = isinstance(names, Iterable) and not isinstance(names, str | bytes)
    listed: tuple[Any, ...] = tuple(names) if is_sequence else (None,)
    if not all(isinstance(name, str) for name in listed):
        raise TypeError(f"dim_names: expected a sequence of str, got {shown(names)}")
    return listed
