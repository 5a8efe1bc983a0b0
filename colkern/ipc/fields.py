"""Fields and schemas as batches carry them: with dictionary ids, which data types do not have.

Columnar format 1.5: "Schema message", "Dictionary messages".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from colkern.schema import DataType, Field, Schema


class WireField(NamedTuple):
    """A field as batches carry it."""

    field: Field
    #: The fields of the children of the type, or of the type of the dictionary's values.
    children: tuple[WireField, ...]
    dictionary: int | None
    values: DataType  #: The type of the dictionary's values, or the field's type.


@dataclass(frozen=True, slots=True)
class WireSchema:
    """A schema as batches carry it."""

    schema: Schema
    fields: Sequence[WireField]
    big_endian: bool


def dictionary_ids(fields: Iterable[WireField]) -> dict[str, int]:
    """The path of each dictionary field (names joined by dots) → its id, if only one has that path."""
    ids_of: dict[str, set[int]] = {}
    for path, id_ in _dictionary_fields(fields, ""):
        ids_of.setdefault(path, set()).add(id_)
    return {path: ids.pop() for path, ids in ids_of.items() if len(ids) == 1}


def _dictionary_fields(fields: Iterable[WireField], parent: str) -> Iterator[tuple[str, int]]:
    for field in fields:
        path = f"{parent}{field.field.name}"
        if field.dictionary is not None:
            yield path, field.dictionary
        yield from _dictionary_fields(field.children, f"{path}.")
