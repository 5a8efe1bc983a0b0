"""What a function of a row gets: the slots of columns, or the states of a reducer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.dispatch import TEXT
from colkern.layouts import Role
from colkern.memory import EMPTY, Buffer
from colkern.operations import combine_validity, nulls, require_valid, take
from colkern.operations.moving import to_host
from colkern.operations.text import require_utf8
from colkern.rows import kinds as k
from colkern.rows.columns import Reader, reader_of
from colkern.rows.values import Value, of_parts, zeros


class Inputs(Protocol):
    """What a function gets for each row.

    Attributes:
        readers: How each of its arguments is read.
        nullable: Which of them it also gets as None.
    """

    readers: list[Reader]
    nullable: list[bool]

    def called(self, given: Sequence[Any]) -> tuple[Buffer | None, int]:
        """The bitmap of the rows that the function is called for, and how many others there are."""

    def passed(self, given: Sequence[Any]) -> list[Any]:
        """What is passed to a loop for the parameters of the readers."""

    def rows(self, given: Sequence[Any], places: Array) -> Iterable[Sequence[Any]]:
        """The arguments of rows as Python values."""

    def none(self) -> Sequence[Any]:
        """What has no rows."""


def arguments_of(names: Sequence[str], inputs: Inputs) -> dict[str, Value]:
    """The arguments of a function by name, each of its kind."""
    arguments = {}
    for name, reader, may in zip(names, inputs.readers, inputs.nullable, strict=True):
        kind = k.optional(reader.kind) if may else reader.kind
        arguments[name] = of_parts(kind, tuple("_" for _ in zeros(kind)))
    return arguments


class Columns:
    """The slots of columns.

    Args:
        names: The parameters that the columns stand for.
        types: The types of the columns, none of them encoded.
        nullable: Which parameters get None where a column is null.

    Raises:
        UnsupportedError: If a column is no argument of a row function.
    """

    def __init__(
        self, names: Sequence[str], types: Sequence[s.DataType], nullable: Sequence[bool]
    ) -> None:
        self._names = tuple(names)
        self._types = tuple(types)
        self.readers = [reader_of(type_) for type_ in types]
        self.nullable = list(nullable)

    def called(self, given: Sequence[Array]) -> tuple[Buffer | None, int]:
        """As of `Inputs`.

        Raises:
            InvalidArrowError: If a position in a column leads outside its memory, or text is not
                UTF-8.
        """
        for name, array in zip(self._names, given, strict=True):
            require_valid(array, name)
            _require_text(array, name)
        return combine_validity(
            [array for array, may in zip(given, self.nullable, strict=True) if not may]
        )

    def passed(self, given: Sequence[Array]) -> list[Any]:
        """As of `Inputs`."""
        passed: list[Any] = []
        for array, reader, may in zip(given, self.readers, self.nullable, strict=True):
            if may:
                has_nulls = array.layout.has_validity and array.null_count != 0
                bitmap = (array.buffer(Role.VALIDITY) if has_nulls else None) or EMPTY
                passed += [bitmap.array, np.uint64(array.offset)]
            passed.extend(reader.prepare(array))
        return passed

    def rows(self, given: Sequence[Array], places: Array) -> Iterable[Sequence[Any]]:
        """As of `Inputs`."""
        columns = [to_host(take(array, places)).to_pylist() for array in given]
        return zip(*columns, strict=True)

    def none(self) -> list[Array]:
        """As of `Inputs`."""
        return [nulls(0, type_) for type_ in self._types]


def _require_text(array: Array, place: str) -> None:
    """Refuse text that is not UTF-8: bodies go from character to character by their first bytes."""
    if isinstance(array.type.storage, TEXT):
        require_utf8(array, place)
    for child in array.children:
        _require_text(child, place)
