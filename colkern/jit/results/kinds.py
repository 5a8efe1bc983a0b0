"""What a compiled function returns, in the words that results are chosen by."""

from __future__ import annotations

from dataclasses import dataclass

from colkern import schema as s


@dataclass(frozen=True, slots=True)
class RowKind:
    """A tuple, a row of a column of structs, or a slot of a union.

    Args:
        names: The names of its fields; None if it has none.
        kinds: What its fields are.
        type: Its type, if it is a slot of a column.
    """

    names: tuple[str, ...] | None
    kinds: tuple[Kind, ...]
    type: s.DataType | None = None


@dataclass(frozen=True, slots=True)
class ListKind:
    """A column, list or array.

    Args:
        item: What its items are.
        type: The type of its items, if it is a column.
    """

    item: Kind
    type: s.DataType | None = None


@dataclass(frozen=True, slots=True)
class MapKind:
    """A dictionary, or a slot of a column of maps.

    Args:
        key: What its keys are.
        item: What its items are.
        type: Its type, if it is a slot of a column.
    """

    key: Kind
    item: Kind
    type: s.DataType | None = None


Kind = str | s.DataType | RowKind | ListKind | MapKind
"""A name as in `Reader.value`, or `none`; the widest type of a decimal's scale; something of parts."""
