"""Canonical extension types as text: what stands in `extension<…>`.

`of` gives the text of a type inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from colkern import schema as s
from colkern.extensions.metadata import OpaqueParameters, TensorParameters
from colkern.type_trees import Spell


def _array_text(values: Sequence[Any]) -> str:
    return f"[{','.join('null' if value is None else str(value) for value in values)}]"


def _bracketed(type_: s.Extension, **parts: Any) -> str:
    named = [
        f"{name}={_array_text(part) if isinstance(part, tuple) else part}"
        for name, part in parts.items()
        if part is not None
    ]
    return f"{type_.extension_name}[{', '.join(named)}]"


def name_alone(type_: s.Extension, parameters: Any, of: Spell) -> str:
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


def offset_text(type_: s.Extension, parameters: Any, of: Spell) -> str:
    """The name of `arrow.timestamp_with_offset` with the unit."""
    stamp = type_.fields[0].type
    assert isinstance(stamp, s.Timestamp)
    return _bracketed(type_, time_unit=stamp.unit)


def variant_text(type_: s.Extension, parameters: Any, of: Spell) -> str:
    """The name; how a variant is shredded shows in its storage."""
    shredded = any(field.name == "typed_value" for field in type_.fields)
    return f"{type_.extension_name}[{of(type_.storage_type)}]" if shredded else type_.extension_name
