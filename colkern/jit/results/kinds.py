"""What a compiled function returns, in the words that results are chosen by."""

from __future__ import annotations

from dataclasses import dataclass

from colkern import schema as s


@dataclass(frozen=True, slots=True)
class RowKind:
    """A tuple.

    Args:
        names: The names of its fields; None if it has none.
        kinds: What its fields are.
    """

    names: tuple[str, ...] | None
    kinds: tuple[Kind, ...]


@dataclass(frozen=True, slots=True)
class ListKind:
    """A column, list or array.

    Args:
        item: What its items are.
        type: The type of its items, if it is a column.
    """

    item: Kind
    type: s.DataType | None = None


Kind = str | s.DataType | RowKind | ListKind
"""A name as in `Reader.value`, or `none`; the widest type of a decimal's scale; a tuple; a list."""
