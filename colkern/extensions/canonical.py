"""The one table of canonical extension types: storage, parameters and text of each.

Format: "Canonical Extension Types".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from colkern import schema as s
from colkern.errors import ColkernError, InvalidArrowError, LimitExceededError
from colkern.extensions.metadata import (
    OpaqueParameters,
    Parameters,
    TensorParameters,
    fixed_shape_parameters,
    json_parameters,
    no_metadata,
    opaque_parameters,
    variable_shape_parameters,
)
from colkern.extensions.storage import (
    TEXT,
    stores_offset_timestamps,
    stores_variable_shapes,
    stores_variants,
)
from colkern.type_trees import Spell


def _array_text(values: Sequence[object]) -> str:
    return f"[{','.join('null' if value is None else str(value) for value in values)}]"


def _bracketed(type_: s.Extension, **parts: object) -> str:
    named = [
        f"{name}={_array_text(part) if isinstance(part, tuple) else part}"
        for name, part in parts.items()
        if part is not None
    ]
    return f"{type_.extension_name}[{', '.join(named)}]"


def name_alone(type_: s.Extension, parameters: object, of: Spell) -> str:
    """The name of a type without parameters."""
    return type_.extension_name


def tensor_text(type_: s.Extension, parameters: TensorParameters, of: Spell) -> str:
    """The name of a tensor type with its parameters."""
    return _bracketed(
        type_,
        value_type=parameters.value_type,
        ndim=parameters.dimensions if parameters.shape is None else None,
        shape=parameters.shape,
        permutation=parameters.permutation,
        dim_names=parameters.dim_names,
        uniform_shape=parameters.uniform_shape,
    )


def opaque_text(type_: s.Extension, parameters: OpaqueParameters, of: Spell) -> str:
    """The name of `arrow.opaque` with storage and parameters."""
    return _bracketed(
        type_,
        storage_type=of(type_.storage_type),
        type_name=parameters.type_name,
        vendor_name=parameters.vendor_name,
    )


def offset_text(type_: s.Extension, parameters: object, of: Spell) -> str:
    """The name of `arrow.timestamp_with_offset` with the unit."""
    stamp = type_.fields[0].type
    assert isinstance(stamp, s.Timestamp)
    return _bracketed(type_, time_unit=stamp.unit)


def variant_text(type_: s.Extension, parameters: object, of: Spell) -> str:
    """The name; the storage shows how a variant is shredded."""
    shredded = any(field.name == "typed_value" for field in type_.fields)
    return f"{type_.extension_name}[{of(type_.storage_type)}]" if shredded else type_.extension_name


MAX_METADATA_BYTES = 1 << 16
"""The size limit of serialized parameters; those of a type are some hundred bytes."""


@dataclass(frozen=True, slots=True)
class Canonical:
    """The rules of the format for one extension type."""

    storage: str  #: The allowed storage types, in words.
    stores: Callable[[s.DataType], bool]  #: Whether a type is an allowed storage type.
    #: Reads the metadata of a type with an allowed storage type.
    parameters: Callable[[s.Extension], Parameters]
    #: The text within `extension<…>`, from the type and its parameters.
    text: Callable[[s.Extension, Any, Spell], str]


CANONICAL: dict[str, Canonical] = {
    "arrow.fixed_shape_tensor": Canonical(
        "a fixed-size list",
        lambda storage: isinstance(storage, s.FixedSizeList),
        fixed_shape_parameters,
        tensor_text,
    ),
    "arrow.variable_shape_tensor": Canonical(
        "a struct of the lists `data` and the fixed-size lists of int32 `shape`",
        stores_variable_shapes,
        variable_shape_parameters,
        tensor_text,
    ),
    "arrow.json": Canonical(
        "utf8, large_utf8 or utf8_view",
        lambda storage: isinstance(storage, TEXT),
        json_parameters,
        name_alone,
    ),
    "arrow.uuid": Canonical(
        "fixed_size_binary[16]",
        lambda storage: storage == s.fixed_size_binary(16),
        no_metadata,
        name_alone,
    ),
    "arrow.bool8": Canonical("int8", lambda storage: storage == s.int8(), no_metadata, name_alone),
    "arrow.opaque": Canonical("any type", lambda _: True, opaque_parameters, opaque_text),
    "arrow.timestamp_with_offset": Canonical(
        "a struct of `timestamp`, in UTC, and `offset_minutes`, int16",
        stores_offset_timestamps,
        no_metadata,
        offset_text,
    ),
    "arrow.parquet.variant": Canonical(
        "a struct of `metadata`, binary and not nullable, with `value`, binary, `typed_value` or both",
        stores_variants,
        no_metadata,
        variant_text,
    ),
}
"""The canonical extension types by name."""


def parameters_of(type_: s.Extension) -> Parameters | None:
    """The parameters of a canonical extension type; None if its name is not known."""
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
    """Like `parameters_of`, but also None for a type that breaks a rule or exceeds a limit."""
    try:
        return parameters_of(type_)
    except ColkernError:
        return None


def text_of(type_: s.Extension, of: Spell = str) -> str:
    """Returns the type as text: its name and parameters, or storage; `of` formats nested types."""
    parameters = known_parameters(type_)
    if parameters is None:
        return f"extension<{type_.extension_name}[{of(type_.storage_type)}]>"
    return f"extension<{CANONICAL[type_.extension_name].text(type_, parameters, of)}>"
