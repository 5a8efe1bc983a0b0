"""The canonical extension types: what each may be stored as, and what its parameters say.

A type of a known name is looked at when its values are shown, built or validated, not when it is
read: one that breaks its own rules travels on unchanged, like one that is not known, its values are
those of its storage, and `validate` names what is wrong. No extension type runs code.

Format: "Canonical Extension Types".
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

from colkern import schema as s
from colkern.errors import ColkernError, InvalidArrowError, LimitExceededError, UnsupportedError

MAX_METADATA_BYTES = 1 << 16
"""How long serialized parameters may be; those of a type are some hundred bytes."""

MAX_DIMENSIONS = 64
"""How many dimensions a tensor may have: as many as NumPy's arrays."""

OFFSET_MINUTES = range(-779, 781)
"""The offsets of `arrow.timestamp_with_offset`: 12 hours and 59 minutes west to 13 hours east."""


@dataclass(frozen=True, slots=True)
class TensorParameters:
    """What the metadata of a tensor type says.

    Args:
        value_type: The type of a tensor's elements.
        dimensions: How many dimensions a tensor has.
        shape: The physical shape, in row-major order; None where each tensor has its own.
        uniform_shape: For tensors with shapes of their own, the sizes that all have in common, None
            for a dimension where they differ.
        dim_names: A name for each physical dimension, or None.
        permutation: For each logical dimension, the physical one that it is, or None for the same.
    """

    value_type: s.DataType
    dimensions: int
    shape: tuple[int, ...] | None = None
    uniform_shape: tuple[int | None, ...] | None = None
    dim_names: tuple[str, ...] | None = None
    permutation: tuple[int, ...] | None = None

    def logical(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The logical shape for a physical one."""
        return tuple(shape[d] for d in self.permutation or range(self.dimensions))


@dataclass(frozen=True, slots=True)
class OpaqueParameters:
    """What the metadata of `arrow.opaque` says.

    Args:
        type_name: The name of the type in the system that it is from.
        vendor_name: The name of that system.
    """

    type_name: str
    vendor_name: str


@dataclass(frozen=True, slots=True)
class NoParameters:
    """The parameters of a type that has none."""


Parameters = TensorParameters | OpaqueParameters | NoParameters


@dataclass(frozen=True, slots=True)
class Canonical:
    """What the format says of one extension type.

    Args:
        storage: The types that it may be stored as, in words.
        stores: Whether a type is one of them.
        parameters: Reads the metadata of a type whose storage is right.
        text: What stands in `extension<…>`, from the type and its parameters.
    """

    storage: str
    stores: Callable[[s.DataType], bool]
    parameters: Callable[[s.Extension], Parameters]
    text: Callable[[s.Extension, Any], str]


def parameters_of(type_: s.Extension) -> Parameters | None:
    """The parameters of a canonical extension type; None if its name is not known.

    Raises:
        InvalidArrowError: If the type breaks a rule of the format: storage or metadata.
        LimitExceededError: If the metadata is longer than `MAX_METADATA_BYTES`.
        UnsupportedError: If a tensor has more than `MAX_DIMENSIONS` dimensions.
    """
    if type_.extension_name not in CANONICAL:
        return None
    if len(type_.extension_metadata) > MAX_METADATA_BYTES:
        raise LimitExceededError(
            f"{type_.extension_name}: metadata of {len(type_.extension_metadata)} bytes is over "
            f"the limit of {MAX_METADATA_BYTES}, which cannot be raised"
        )
    return _parameters_of(type_)


@lru_cache(maxsize=256)
def _parameters_of(type_: s.Extension) -> Parameters:
    rule = CANONICAL[type_.extension_name]
    if not rule.stores(type_.storage_type):
        raise InvalidArrowError(
            f"{type_.extension_name} stored as {type_.storage_type}; it is {rule.storage}"
        )
    try:
        return rule.parameters(type_)
    except InvalidArrowError as error:
        raise InvalidArrowError(f"{type_.extension_name}: {error.message}") from None


def known_parameters(type_: s.Extension) -> Parameters | None:
    """As `parameters_of`, but also None for a type that breaks a rule or is over a limit."""
    try:
        return parameters_of(type_)
    except ColkernError:
        return None


def text_of(type_: s.Extension) -> str:
    """The type as text: its name, and what its parameters say, or its storage if it is not known."""
    parameters = known_parameters(type_)
    if parameters is None:
        return f"extension<{type_.extension_name}[{type_.storage_type}]>"
    return f"extension<{CANONICAL[type_.extension_name].text(type_, parameters)}>"


# Metadata


def _no_metadata(type_: s.Extension) -> NoParameters:
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


def _serialized(**parameters: Any) -> bytes:
    """Parameters as a JSON object, without those that are None, in the form that Arrow C++ writes."""
    import json

    given = {name: value for name, value in parameters.items() if value is not None}
    return json.dumps(given, separators=(",", ":"), ensure_ascii=False).encode()


def _json_parameters(type_: s.Extension) -> NoParameters:
    # Arrow C++ looks at none of it; the format has the empty string or an object, so far empty.
    if type_.extension_metadata:
        _object(type_.extension_metadata)
    return NoParameters()


def _opaque_parameters(type_: s.Extension) -> OpaqueParameters:
    found = _object(type_.extension_metadata)
    names = found.get("type_name"), found.get("vendor_name")
    if not all(isinstance(name, str) for name in names):
        raise InvalidArrowError(f"type_name and vendor_name {names!r:.100}; they are text")
    return OpaqueParameters(*names)  # type: ignore[arg-type]


def _sizes(value: Any, what: str, unknown: tuple[None, ...] = ()) -> tuple[Any, ...]:
    """A JSON array of sizes."""
    if not isinstance(value, list):
        raise InvalidArrowError(f"{what} {value!r:.100} is not an array")
    if len(value) > MAX_DIMENSIONS:
        raise UnsupportedError(
            f"tensors of {len(value)} dimensions; colkern has at most {MAX_DIMENSIONS}"
        )
    for size in value:
        # A bool is an int to Python, and no number to JSON.
        is_size = type(size) is int and 0 <= size < 1 << 63
        if not is_size and size not in unknown:
            raise InvalidArrowError(f"{what} {value!r:.100}: {size!r:.40} is no size")
    return tuple(value)


def _names_and_order(
    found: Mapping[str, Any], dimensions: int
) -> tuple[tuple[str, ...] | None, tuple[int, ...] | None]:
    """The names of dimensions and the permutation, where they are given."""
    names, order = found.get("dim_names"), found.get("permutation")
    if names is not None:
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise InvalidArrowError(f"dim_names {names!r:.100} is not an array of text")
        if len(names) != dimensions:
            raise InvalidArrowError(f"dim_names: {len(names)} for {dimensions} dimensions")
    if order is not None and sorted(_sizes(order, "permutation")) != list(range(dimensions)):
        raise InvalidArrowError(f"permutation {order!r:.100} of {dimensions} dimensions")
    return (
        None if names is None else tuple(names),
        None if order is None else tuple(order),
    )


def _fixed_shape_parameters(type_: s.Extension) -> TensorParameters:
    storage = type_.storage_type
    assert isinstance(storage, s.FixedSizeList)
    found = _object(type_.extension_metadata)
    shape = _sizes(found.get("shape"), "shape")
    if prod(shape) != storage.list_size:
        raise InvalidArrowError(f"shape {list(shape)} of lists of {storage.list_size} values")
    names, order = _names_and_order(found, len(shape))
    return TensorParameters(
        storage.value_type, len(shape), shape, dim_names=names, permutation=order
    )


def _variable_shape_parameters(type_: s.Extension) -> TensorParameters:
    data, shapes = tensor_fields(type_.storage_type)
    storage = shapes.type
    assert isinstance(storage, s.FixedSizeList)
    dimensions = storage.list_size
    if dimensions > MAX_DIMENSIONS:
        raise UnsupportedError(
            f"tensors of {dimensions} dimensions; colkern has at most {MAX_DIMENSIONS}"
        )
    found = _object(type_.extension_metadata) if type_.extension_metadata else {}
    uniform = found.get("uniform_shape")
    if uniform is not None:
        uniform = _sizes(uniform, "uniform_shape", (None,))
        if len(uniform) != dimensions:
            raise InvalidArrowError(f"uniform_shape {list(uniform)} of {dimensions} dimensions")
    names, order = _names_and_order(found, dimensions)
    assert isinstance(data.type, s.List)
    return TensorParameters(
        data.type.value_type,
        dimensions,
        uniform_shape=uniform,
        dim_names=names,
        permutation=order,
    )


# Storage


def tensor_fields(storage: s.DataType) -> tuple[s.Field, s.Field]:
    """The fields `data` and `shape` of variable-shape tensors, in whatever order they stand."""
    by_name = {field.name: field for field in storage.fields}
    return by_name["data"], by_name["shape"]


def _stores_variable_shapes(storage: s.DataType) -> bool:
    if not isinstance(storage, s.Struct) or sorted(_names(storage)) != ["data", "shape"]:
        return False
    data, shapes = tensor_fields(storage)
    return (
        isinstance(data.type, s.List)
        and isinstance(shapes.type, s.FixedSizeList)
        and shapes.type.value_type == s.int32()
    )


def _names(storage: s.DataType) -> list[str]:
    return [field.name for field in storage.fields]


def _unencoded(type_: s.DataType) -> s.DataType:
    """The type of the values behind a dictionary or runs."""
    return type_.value_type if isinstance(type_, s.Dictionary | s.RunEndEncoded) else type_


def _stores_offset_timestamps(storage: s.DataType) -> bool:
    if not isinstance(storage, s.Struct) or _names(storage) != ["timestamp", "offset_minutes"]:
        return False
    stamp, offset = (field.type for field in storage.fields)
    return (
        isinstance(stamp, s.Timestamp)
        and stamp.timezone == "UTC"
        and _unencoded(offset) == s.int16()
    )


_BINARY = (s.Binary, s.LargeBinary, s.BinaryView)
_TEXT = (s.Utf8, s.LargeUtf8, s.Utf8View)


def _stores_variants(storage: s.DataType) -> bool:
    if not isinstance(storage, s.Struct) or len(set(_names(storage))) != len(storage.fields):
        return False
    fields = {field.name: field for field in storage.fields}
    metadata = fields.pop("metadata", None)
    return (
        metadata is not None
        and not metadata.nullable
        and isinstance(_unencoded(metadata.type), _BINARY)
        and _is_shredded(tuple(fields.values()))
    )


def _is_shredded(fields: tuple[s.Field, ...]) -> bool:
    """Whether fields are `value`, `typed_value` or both, each of a type that it may have."""
    rules = {"value": lambda type_: isinstance(type_, _BINARY), "typed_value": _is_typed_value}
    names = [field.name for field in fields]
    return (
        bool(fields)
        and len(set(names)) == len(names)
        and all(field.name in rules and rules[field.name](field.type) for field in fields)
    )


def _is_typed_value(type_: s.DataType) -> bool:
    if isinstance(type_, s.List | s.LargeList | s.ListView):
        return _is_shredded_field(type_.value_field)
    if isinstance(type_, s.Struct):
        return all(map(_is_shredded_field, type_.fields))
    return _is_variant_primitive(type_)


def _is_shredded_field(field: s.Field) -> bool:
    return (
        not field.nullable and isinstance(field.type, s.Struct) and _is_shredded(field.type.fields)
    )


_VARIANT_PRIMITIVES: dict[type[s.DataType], Callable[[Any], bool]] = {
    s.Null: lambda _: True,
    s.Bool: lambda _: True,
    s.Int: lambda t: t != s.uint64(),
    s.FloatingPoint: lambda t: t.bit_width != 16,
    s.Decimal: lambda t: t.bit_width != 256,
    s.Date: lambda t: t.unit == "day",
    s.Time: lambda t: t.bit_width == 64,
    s.Timestamp: lambda t: t.unit in ("us", "ns") and t.timezone in (None, "UTC"),
    **dict.fromkeys((*_BINARY, *_TEXT), lambda _: True),
    s.Extension: lambda t: t.extension_name == "arrow.uuid" and known_parameters(t) is not None,
}


def _is_variant_primitive(type_: s.DataType) -> bool:
    return _VARIANT_PRIMITIVES.get(type(type_), lambda _: False)(type_)


# Text


def _array_text(values: Sequence[Any]) -> str:
    return f"[{','.join('null' if value is None else str(value) for value in values)}]"


def _bracketed(type_: s.Extension, **parts: Any) -> str:
    named = [
        f"{name}={_array_text(part) if isinstance(part, tuple) else part}"
        for name, part in parts.items()
        if part is not None
    ]
    return f"{type_.extension_name}[{', '.join(named)}]"


def _name_alone(type_: s.Extension, parameters: Any) -> str:
    return type_.extension_name


def _tensor_text(type_: s.Extension, parameters: TensorParameters) -> str:
    return _bracketed(
        type_,
        value_type=parameters.value_type,
        ndim=parameters.dimensions if parameters.shape is None else None,
        shape=parameters.shape,
        permutation=parameters.permutation,
        dim_names=parameters.dim_names,
        uniform_shape=parameters.uniform_shape,
    )


def _opaque_text(type_: s.Extension, parameters: OpaqueParameters) -> str:
    return _bracketed(
        type_,
        storage_type=type_.storage_type,
        type_name=parameters.type_name,
        vendor_name=parameters.vendor_name,
    )


def _offset_text(type_: s.Extension, parameters: Any) -> str:
    stamp = type_.fields[0].type
    assert isinstance(stamp, s.Timestamp)
    return _bracketed(type_, time_unit=stamp.unit)


def _variant_text(type_: s.Extension, parameters: Any) -> str:
    """The name; how a variant is shredded shows in its storage."""
    shredded = "typed_value" in _names(type_)
    return f"{type_.extension_name}[{type_.storage_type}]" if shredded else type_.extension_name


CANONICAL: dict[str, Canonical] = {
    "arrow.fixed_shape_tensor": Canonical(
        "a fixed-size list",
        lambda storage: isinstance(storage, s.FixedSizeList),
        _fixed_shape_parameters,
        _tensor_text,
    ),
    "arrow.variable_shape_tensor": Canonical(
        "a struct of the lists `data` and the fixed-size lists of int32 `shape`",
        _stores_variable_shapes,
        _variable_shape_parameters,
        _tensor_text,
    ),
    "arrow.json": Canonical(
        "utf8, large_utf8 or utf8_view",
        lambda storage: isinstance(storage, _TEXT),
        _json_parameters,
        _name_alone,
    ),
    "arrow.uuid": Canonical(
        "fixed_size_binary[16]",
        lambda storage: storage == s.fixed_size_binary(16),
        _no_metadata,
        _name_alone,
    ),
    "arrow.bool8": Canonical(
        "int8", lambda storage: storage == s.int8(), _no_metadata, _name_alone
    ),
    "arrow.opaque": Canonical("any type", lambda _: True, _opaque_parameters, _opaque_text),
    "arrow.timestamp_with_offset": Canonical(
        "a struct of `timestamp`, in UTC, and `offset_minutes`, int16",
        _stores_offset_timestamps,
        _no_metadata,
        _offset_text,
    ),
    "arrow.parquet.variant": Canonical(
        "a struct of `metadata`, binary and not nullable, with `value`, binary, `typed_value` or both",
        _stores_variants,
        _no_metadata,
        _variant_text,
    ),
}
"""The canonical extension types by name."""


# Types to make


def _made(name: str, storage: s.DataType, metadata: bytes = b"") -> s.Extension:
    made = s.Extension(storage, f"arrow.{name}", metadata)
    try:
        parameters_of(made)
    except InvalidArrowError as error:
        raise ValueError(error.message) from None
    return made


def _integers(values: Any, name: str) -> list[int]:
    try:
        return [operator.index(value) for value in values]
    except TypeError:
        raise TypeError(f"{name}: expected a sequence of integers, got {values!r:.60}") from None


def _order(permutation: Any) -> list[int] | None:
    return None if permutation is None else _integers(permutation, "permutation")


def _uniform(shape: Any) -> list[int | None] | None:
    if shape is None:
        return None
    try:
        return [None if size is None else operator.index(size) for size in shape]
    except TypeError:
        raise TypeError(
            f"uniform_shape: expected a sequence of integers and None, got {shape!r:.60}"
        ) from None


def _dimension_names(names: Any) -> list[str] | None:
    if names is None:
        return None
    is_sequence = isinstance(names, Iterable) and not isinstance(names, str | bytes)
    listed: list[Any] = list(names) if is_sequence else [None]
    if not all(isinstance(name, str) for name in listed):
        raise TypeError(f"dim_names: expected a sequence of str, got {names!r:.60}")
    return listed


def fixed_shape_tensor(
    value_type: s.DataType,
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
    metadata = _serialized(
        shape=sizes, permutation=_order(permutation), dim_names=_dimension_names(dim_names)
    )
    if any(size < 0 for size in sizes):
        raise ValueError(f"shape: {sizes} has a negative size")
    if prod(sizes) > s.INT32_MAX:
        raise ValueError(f"shape: {sizes!r:.100} has over {s.INT32_MAX} elements")
    return _made("fixed_shape_tensor", s.fixed_size_list(value_type, prod(sizes)), metadata)


def variable_shape_tensor(
    value_type: s.DataType,
    ndim: int,
    dim_names: Sequence[str] | None = None,
    permutation: Sequence[int] | None = None,
    uniform_shape: Sequence[int | None] | None = None,
) -> s.Extension:
    """Tensors with shapes of their own, `arrow.variable_shape_tensor`, stored as lists and shapes.

    Args:
        value_type: The type of the elements.
        ndim: How many dimensions each tensor has.
        dim_names: A name for each physical dimension.
        permutation: For each logical dimension, the physical one that it is.
        uniform_shape: The sizes that all tensors have in common, None where they differ.

    Raises:
        TypeError: If `ndim` is no integer, `permutation` or `uniform_shape` no sequence of integers,
            `dim_names` none of text.
        ValueError: If names, permutation or uniform shape do not fit `ndim`, or it is negative.
        UnsupportedError: If there are more than 64 dimensions.
    """
    try:
        dimensions = operator.index(ndim)
    except TypeError:
        raise TypeError(f"ndim: expected an integer, got {ndim!r:.60}") from None
    if dimensions < 0:
        raise ValueError(f"ndim: must not be negative, got {dimensions}")
    # The format allows no metadata at all where nothing is said; Arrow C++ reads an object only.
    metadata = _serialized(
        permutation=_order(permutation),
        dim_names=_dimension_names(dim_names),
        uniform_shape=_uniform(uniform_shape),
    )
    storage = s.struct(
        [("data", s.list_(value_type)), ("shape", s.fixed_size_list(s.int32(), dimensions))]
    )
    return _made("variable_shape_tensor", storage, metadata)


def json_(storage_type: s.DataType | None = None) -> s.Extension:
    """JSON text, `arrow.json`, stored as `utf8` unless another string type is given.

    Raises:
        ValueError: If `storage_type` is no string type.
    """
    return _made("json", storage_type or s.utf8())


def uuid() -> s.Extension:
    """Universally unique identifiers, `arrow.uuid`, stored as 16 bytes."""
    return _made("uuid", s.fixed_size_binary(16))


def bool8() -> s.Extension:
    """Booleans of a byte each, `arrow.bool8`, stored as `int8`: 0 is false."""
    return _made("bool8", s.int8())


def opaque(storage_type: s.DataType, type_name: str, vendor_name: str) -> s.Extension:
    """Values of another system's type, `arrow.opaque`, that Arrow has no type for.

    Args:
        storage_type: What they are stored as; `null()` if there is no data.
        type_name: The name of the type in that system.
        vendor_name: The name of that system.

    Raises:
        ValueError: If a name is not text.
    """
    metadata = _serialized(type_name=type_name, vendor_name=vendor_name)
    return _made("opaque", storage_type, metadata)


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
    return _made("timestamp_with_offset", storage)


def variant(storage_type: s.DataType | None = None) -> s.Extension:
    """Parquet's variants, `arrow.parquet.variant`, stored as two binary fields unless shredded.

    Args:
        storage_type: The struct of a shredded variant: `metadata`, `value` and `typed_value`.

    Raises:
        ValueError: If it breaks the rules of the format.
    """
    plain = s.struct([s.field("metadata", s.binary(), nullable=False), ("value", s.binary())])
    return _made("parquet.variant", storage_type or plain)
