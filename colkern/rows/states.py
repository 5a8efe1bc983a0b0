"""The states of a reducer: values in consecutive words, which texts and containers are addresses in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.layouts import Role
from colkern.memory import Buffer
from colkern.rows import kinds as k
from colkern.rows.arguments import Argument
from colkern.rows.constants import (
    Block,
    constant_block,
    empty_container,
    is_data,
    items_of,
    kind_of,
    value_of_words,
)
from colkern.rows.kinds import Kind
from colkern.rows.state_memory import StateMemory
from colkern.rows.values import loaded, of_parts

Words = NDArray[np.int64]
"""States, one after the other: [states, words]."""


OUTGROWN = "a state that does not fit its kind"
"""The reason to leave all rows to Python if no other is known."""


class Outgrown(Exception):
    """Compiled code cannot go on.

    A state does not fit its kind any more, such as an integer of more than 64 bits, or a row that may have
    changed its state must be left to Python.
    """

    def __init__(self, reason: str = OUTGROWN) -> None:
        super().__init__(reason)
        self.reason = reason


class States:
    """The arguments of a function that takes states of one kind.

    Args:
        count: The number of states that it takes.
        change: Whether rows change containers in states, which then must not be changed otherwise.

    Attributes:
        are_fixed: Whether states consist of their words alone, without texts and containers elsewhere.
    """

    may_lack = False

    def __init__(self, kind: Kind, count: int = 1, change: bool = False) -> None:
        self.kind = kind
        self.change = change
        self.are_fixed = not any(
            isinstance(part, k.Container) or part in (k.TEXT, k.BYTES) for part in k.parts_of(kind)
        )
        self.arguments: list[Argument] = [_StateArgument(kind, f"a{n}") for n in range(count)]

    def called(self, states: Sequence[Words]) -> tuple[Buffer | None, int]:
        """Returns no bitmap, as no state is null."""
        return None, 0

    def passed(self, states: Sequence[Words]) -> list[Any]:
        """Returns the objects that are passed for the parameters of the arguments."""
        return [words.ctypes.data for words in states]

    def rows(self, states: Sequence[Words], places: Array) -> Iterable[Sequence[Any]]:
        """Returns the states at places as Python values."""
        rows = places.items(Role.DATA)
        return zip(*(self.values(words[rows]) for words in states), strict=True)

    def none(self) -> list[Words]:
        """Returns no states."""
        return [np.empty((0, self.kind.words), np.int64) for _ in self.arguments]

    def lacks_nulls(self, states: Sequence[Words]) -> bool:
        """Returns False: the kind of a state already tells where None may be."""
        return False

    def values(self, words: Words) -> list[Any]:
        """Returns states as Python values."""
        return [value_of_words(iter(state), self.kind) for state in words.tolist()]

    def begun(self, block: Block, count: int, memory: StateMemory) -> Words:
        """Returns states that are copies of a constant, with what it holds if rows change that."""
        states = memory.placed(block, count if self.change else 1)[:, : self.kind.words]
        return states.copy() if self.change else np.tile(states, (count, 1))

    def copy(self, states: Words, memory: StateMemory) -> None:
        """Copies what states hold to new memory, and frees what no state holds any more."""
        new = StateMemory()
        for state, value in zip(states, self.values(states), strict=True):
            state[:] = self.words(value, new)
        memory.take_over(new)

    def words(self, value: Any, memory: StateMemory) -> Words:
        """Returns a Python value as the words of a state.

        Raises:
            Outgrown: If it does not fit the kind, or would change.
        """
        if not _fits(self.kind, value):
            raise Outgrown
        words = memory.placed(constant_block(value, self.kind))[0, : self.kind.words]
        if _parted(self.kind, *self.values(words[None])) != _parted(self.kind, value):
            raise Outgrown
        return words

    def parted(self, states: Sequence[Any]) -> list[Any] | None:
        """Returns the parts of states that are Python values, in new containers, to be compared; None if a
        state does not fit the kind."""
        if not all(_fits(self.kind, state) for state in states):
            return None
        return [_parted(self.kind, state) for state in states]


def _parted(kind: Kind, value: Any) -> Any:
    """Returns the parts of a value; a class may compare its instances in a way of its own."""
    if isinstance(kind, k.Optional):
        return None if value is None else _parted(kind.of, value)
    if isinstance(kind, k.Compound):
        return list(map(_parted, kind.items, items_of(value, kind)))
    if not isinstance(kind, k.Container):
        return value
    if isinstance(value, dict):
        return {key: _parted(kind.items[1], item) for key, item in value.items()}
    return set(value) if kind.name == "set" else [_parted(kind.items[0], item) for item in value]


def _fits(kind: Kind, value: Any) -> bool:
    """Whether a value has a kind, or one that a value of that kind may have."""
    if isinstance(kind, k.Optional):
        return value is None or _fits(kind.of, value)
    if isinstance(kind, k.Compound):
        if isinstance(kind, k.Record):
            is_one = type(value) is kind.form and is_data(value)
        elif kind.form is dict:
            is_one = type(value) is dict and tuple(value) == kind.names
        else:
            is_one = type(value) is kind.form and len(cast(Any, value)) == len(kind.items)
        return is_one and all(map(_fits, kind.items, items_of(value, kind)))
    if isinstance(kind, k.Container):
        empty = empty_container(kind)
        is_one = type(value) is type(empty)
        is_one &= getattr(value, "maxlen", None) == getattr(empty, "maxlen", None)
        parts: list[Any] = [value, value.values() if isinstance(value, dict) else ()]
        return is_one and all(
            _fits(of, item) for of, part in zip(kind.items, parts, strict=False) for item in part
        )
    try:
        is_one = k.joined(kind, kind_of(value)) == kind
        return is_one and not (kind == k.UNSIGNED and value < 0)
    except UnsupportedError:
        return False


def require_state(kind: Kind) -> None:
    """Refuse kinds that a state cannot have.

    Raises:
        UnsupportedError: If it is one.
    """
    if not kind.words or not _may_be_state(kind):
        raise UnsupportedError(
            f"a state that is {kind}; it is a number, a bool, text, bytes, a date or time, None, or a "
            "tuple, list, set, dictionary or instance of these"
        )


def _may_be_state(kind: Kind) -> bool:
    if isinstance(kind, k.Optional):
        return _may_be_state(kind.of)
    if isinstance(kind, k.Container):
        # Numbers side by side that are of several types in Python are of one type in memory.
        is_plain = not any(part.loose for part in k.parts_of(kind))
        is_plain &= kind.default not in k.SEQUENCES
        return is_plain and all(map(_may_be_state, kind.items))
    if isinstance(kind, k.Tuple | k.Record):
        return all(map(_may_be_state, kind.items))
    # A container that stays empty has no items.
    return kind == k.NEVER or isinstance(kind, k.Aware) or kind.name in k.PLAIN


def settled(kind: Kind, returned: Kind) -> Kind | None:
    """Returns the kind of a state if `update` returns another kind; None if there is none.

    An integer that begins a sum of floats becomes a float.
    """
    joined = k.joined(kind, returned)
    if joined is None or joined == kind:
        return joined
    # The text of a kind does not tell whether its numbers are loose.
    return returned if str(joined) == str(returned) else joined


class _StateArgument(Argument):
    """The reader of a state."""

    def __init__(self, kind: Kind, name: str) -> None:
        self.value = of_parts(kind, loaded(kind, f"{name} + i8(i) * {8 * kind.words}"))
        self.parameters = [name]
        self.lines, self.lists, self.checks, self.functions = [], [], [], {}
