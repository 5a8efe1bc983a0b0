"""Hints for error messages: what to do with types that an operation does not support."""

from __future__ import annotations

from colkern import schema as s
from colkern.dispatch import ENCODED, LISTS, TEXT, TIMES

_IN_PARTS: dict[type[s.DataType], str] = {
    **dict.fromkeys(LISTS, "colkern.list_flatten(array) has the elements"),
    s.Struct: "colkern.struct_field(array, name) has the values of a field",
    s.Union: "colkern.select_child(array, child)[1] has the values of a child",
}

_AS_NUMBERS: dict[type[s.DataType], str] = {
    **dict.fromkeys(TEXT, "colkern.cast(array, colkern.float64()) reads numbers"),
    **dict.fromkeys(TIMES, "colkern.cast(array, colkern.int64()) has them as numbers"),
}

_IN_PYTHON = "array.to_pylist() has the values for Python"


def instead_of_sum(type_: s.DataType) -> str:
    """The hint for values without a sum."""
    return {**_AS_NUMBERS, **_IN_PARTS}.get(type(type_.storage), _IN_PYTHON)


def instead_of_order(type_: s.DataType) -> str:
    """The hint for values without an order."""
    return _IN_PARTS.get(type(type_.storage), _IN_PYTHON)


def instead_of_encoded_booleans(type_: s.DataType) -> str:
    """The hint for an encoded array where a plain one is expected; there is none for other types."""
    is_encoded = isinstance(type_.storage, ENCODED)
    return "; colkern.cast(array, colkern.bool_()) decodes it" * is_encoded
