"""The canonical extension types: their storage and their parameters.

A type with a known name is checked when its values are shown, built or validated, not when it is read.
A type that breaks its own rules passes through unchanged, like an unknown type: its values are those of
its storage, and `validate` says what is wrong. No extension type runs code.

`storage` and `metadata` have the rules, `text` the reprs, `canonical` the table of all types, `making` the
constructors.

Format: "Canonical Extension Types".
"""

from colkern.extensions.canonical import (
    CANONICAL,
    MAX_METADATA_BYTES,
    Canonical,
    known_parameters,
    parameters_of,
    text_of,
)
from colkern.extensions.making import (
    bool8,
    fixed_shape_tensor,
    json_,
    opaque,
    timestamp_with_offset,
    uuid,
    variable_shape_tensor,
    variant,
)
from colkern.extensions.metadata import (
    MAX_DIMENSIONS,
    NoParameters,
    OpaqueParameters,
    Parameters,
    TensorParameters,
)
from colkern.extensions.storage import OFFSET_MINUTES, tensor_fields

__all__ = [
    "CANONICAL",
    "MAX_DIMENSIONS",
    "MAX_METADATA_BYTES",
    "OFFSET_MINUTES",
    "Canonical",
    "NoParameters",
    "OpaqueParameters",
    "Parameters",
    "TensorParameters",
    "bool8",
    "fixed_shape_tensor",
    "json_",
    "known_parameters",
    "opaque",
    "parameters_of",
    "tensor_fields",
    "text_of",
    "timestamp_with_offset",
    "uuid",
    "variable_shape_tensor",
    "variant",
]


def __dir__() -> list[str]:
    """The public names."""
    return __all__
