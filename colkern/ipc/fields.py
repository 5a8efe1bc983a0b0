"""Fields and schemas as batches carry them: with the ids of dictionaries, which types do not have.

Columnar format 1.5: "Schema message", "Dictionary messages".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from colkern.schema import DataType, Field, Schema


@dataclass(frozen=True, slots=True)
class WireField:
    """A field as batches carry it.

    Args:
        field: The field.
        children: The fields of the children: of the type, or of the dictionary's values.
        dictionary: The id of the dictionary, or None.
        values: The type of the dictionary's values, or the field's type.
    """

    field: Field
    children: tuple[WireField, ...]
    dictionary: int | None
    values: DataType


@dataclass(frozen=True, slots=True)
class WireSchema:
    """A schema as batches carry it."""

    schema: Schema
    fields: Sequence[WireField]
    big_endian: bool
