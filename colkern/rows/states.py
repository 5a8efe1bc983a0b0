"""The states of a reducer: values of a fixed size, in consecutive words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.layouts import Role
from colkern.memory import Buffer
from colkern.rows import kinds as k
from colkern.rows.arguments import Argument
from colkern.rows.constants import constant_block, kind_of, value_of_words
from colkern.rows.kinds import Kind
from colkern.rows.values import loaded, of_parts

Words = NDArray[np.int64]
"""States, one after the other: [states, words]."""


class Outgrown(Exception):
    """A state does not fit its kind any more, such as an integer of more than 64 bits."""


class States:
    """The arguments of a function that takes states of one kind.

    Args:
        kind: The kind.
        count: The number of states that it takes.
    """

    def __init__(self, kind: Kind, count: int = 1) -> None:
        self.kind = kind
        self.arguments: list[Argument] = [_StateArgument(kind, f"a{n}") for n in range(count)]

    def called(self, given: Sequence[Words]) -> tuple[Buffer | None, int]:
        """Returns no bitmap, as no state is null."""
        return None, 0

    def passed(self, given: Sequence[Words]) -> list[Any]:
        """Returns the objects that are passed for the parameters of the arguments."""
        return [words.ctypes.data for words in given]

    def rows(self, given: Sequence[Words], places: Array) -> Iterable[Sequence[Any]]:
        """Returns the states at places as Python values."""
        rows = places.items(Role.DATA)
        return zip(*(self.values(words[rows]) for words in given), strict=True)

    def none(self) -> list[Words]:
        """Returns no states."""
        return [np.empty((0, self.kind.words), np.int64) for _ in self.arguments]

    def lacks_nulls(self, given: Sequence[Words]) -> bool:
        """Returns False: the kind of a state already tells where None may be."""
        return False

    def values(self, words: Words) -> list[Any]:
        """Returns states as Python values."""
        return [value_of_words(iter(state), self.kind) for state in words.tolist()]

    def words(self, value: Any) -> Words:
        """Returns a Python value as the words of a state.

        Raises:
            Outgrown: If it does not fit the kind, or would change.
        """
        try:
            joined = k.joined(self.kind, kind_of(value))
        except UnsupportedError:
            raise Outgrown from None
        if joined != self.kind:
            raise Outgrown
        words = words_of(self.kind, value)
        if self.values(words[None]) != [value]:
            raise Outgrown
        return words


def words_of(kind: Kind, value: Any) -> Words:
    """Returns the words of a value, converted to a kind."""
    return np.frombuffer(constant_block(_converted(kind, value), kind).words, np.int64)


def require_state(kind: Kind) -> None:
    """Refuse kinds that a state cannot have.

    Raises:
        UnsupportedError: If it is one.
    """
    if not kind.words or not _is_fixed(kind):
        raise UnsupportedError(
            f"a state that is {kind}; it is a number, a bool, a date or time, None, or a tuple of these"
        )


def _is_fixed(kind: Kind) -> bool:
    if isinstance(kind, k.Optional):
        return _is_fixed(kind.of)
    if isinstance(kind, k.Tuple):
        return kind.form is not dict and all(map(_is_fixed, kind.items))
    if isinstance(kind, k.Aware):
        return True
    return kind.name in k.PLAIN and kind not in (k.TEXT, k.BYTES)


def settled(kind: Kind, returned: Kind) -> Kind | None:
    """Returns the kind of a state if `update` returns another kind; None if there is none.

    An integer that begins a sum of floats becomes a float.
    """
    joined = k.joined(kind, returned)
    if joined is None or joined == kind:
        return joined
    # The text of a kind does not tell whether its numbers are loose.
    return returned if str(joined) == str(returned) else joined


def _converted(kind: Kind, value: Any) -> Any:
    """Returns a value converted to a wider kind."""
    if isinstance(kind, k.Optional):
        return value if value is None else _converted(kind.of, value)
    if isinstance(kind, k.Tuple):
        return tuple(_converted(*pair) for pair in zip(kind.items, value, strict=True))
    return float(value) if kind.name == "float" else value


class _StateArgument(Argument):
    """The reader of a state."""

    def __init__(self, kind: Kind, name: str) -> None:
        self.value = of_parts(kind, loaded(kind, f"{name} + i8(i) * {8 * kind.words}"))
        self.parameters = [name]
        self.lines, self.lists, self.checks, self.functions = [], [], [], {}
