"""Cases of the corpus: a row function as an ordinary user writes it, and columns for it.

@case(rows=[words(1), floats(2)], covers="str.strip float.round")
def label(name: str, value: float) -> str:
    return f"{name.strip()}: {round(value, 1)}"
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import colkern as ck

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


@dataclass(frozen=True)
class Column:
    """Python values and their Arrow type.

    Args:
        type: The type.
        values: The values: ordinary ones, odd ones, and None.
        ordinary: As many values, where each odd one is replaced by an ordinary one: its text is ASCII,
            and its numbers are those of every day.
    """

    type: ck.DataType
    values: list[Any]
    ordinary: list[Any]

    def taking(self, rows: Sequence[int]) -> Column:
        """The column of some rows."""
        return Column(
            self.type, [self.values[row] for row in rows], [self.ordinary[row] for row in rows]
        )


@dataclass(frozen=True)
class Case:
    """A row function, its columns, what of Python it is there for, whether some rows raise, its name."""

    function: Callable[..., Any]
    columns: tuple[Column, ...]
    covers: str
    raises: bool
    name: str

    def ascii_only(self) -> Case:
        """The same function over ordinary values: compiled code should leave none of them to Python."""
        columns = tuple(
            Column(column.type, column.ordinary, column.ordinary) for column in self.columns
        )
        return replace(self, columns=columns)

    def taking(self, rows: Sequence[int]) -> Case:
        """The case of some rows."""
        columns = tuple(column.taking(rows) for column in self.columns)
        return replace(self, columns=columns)


CASES: dict[str, Case] = {}
"""By name, in the order of their definition. `corpus.cases` imports all files that define some."""


def case(
    *, rows: Sequence[Column], covers: str, raises: bool = False, name: str = ""
) -> Callable[[FunctionT], FunctionT]:
    """A decorator that registers a function, and returns it as it is.

    Args:
        rows: A column for each of its parameters.
        covers: What of Python the function uses.
        raises: Whether it raises for some of the rows.
        name: What to call a function without a name.
    """

    def register(function: FunctionT) -> FunctionT:
        named = f"{function.__module__.rpartition('.')[2]}.{name or function.__name__}"
        result = Case(function, tuple(rows), covers, raises, named)
        if result.name in CASES:
            raise ValueError(f"two cases are named {result.name}")
        CASES[result.name] = result
        return function

    return register
