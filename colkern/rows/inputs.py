"""The inputs of a function of a row: the slots of columns, or the states of a reducer."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, Self

from colkern import schema as s
from colkern.arrays import Array
from colkern.dispatch import TEXT
from colkern.errors import CompileError, UnsupportedError
from colkern.forks import cached_property
from colkern.memory import Buffer
from colkern.operations import combine_validity, nulls, require_valid, take
from colkern.operations.moving import to_host
from colkern.operations.text import require_utf8
from colkern.rows.arguments import Argument, Nulls, has_inner_nulls
from colkern.rows.columns import reader_of
from colkern.rows.encoded import decoded, decoded_type
from colkern.rows.values import Value, of_parts, zeros


class Inputs(Protocol):
    """The inputs of a function for each row.

    Attributes:
        arguments: How each of its arguments is read.
    """

    arguments: list[Argument]

    def called(self, given: Sequence[Any]) -> tuple[Buffer | None, int]:
        """The bitmap of the rows that the function is called for, and how many others there are."""

    def passed(self, given: Sequence[Any]) -> list[Any]:
        """The objects that are passed for the parameters of the arguments."""

    def rows(self, given: Sequence[Any], places: Array) -> Iterable[Sequence[Any]]:
        """The arguments of rows as Python values."""

    def none(self) -> Sequence[Any]:
        """Inputs that have no rows."""

    def lacks_nulls(self, given: Sequence[Any]) -> bool:
        """Whether there are nulls in lists or structs that the function does not get as None."""


class Replanned:
    """A plan for columns, which is made again once they have None in lists or structs.

    Args:
        inputs: What the function gets.
        given: What the plan is made of, but for `inner_nulls`.
    """

    returns: s.DataType

    def __init__(self, inputs: Inputs, *given: Any) -> None:
        self.inputs = inputs
        self._given = given
        self._with_nulls: Self | None = None

    def for_arrays(self, arrays: Sequence[Any]) -> Self:
        """This plan, or that which knows of None in lists and structs, if there may be one."""
        if not self.inputs.lacks_nulls(arrays):
            return self
        if self._with_nulls is None:
            plan = self
            with contextlib.suppress(CompileError, UnsupportedError):
                knowing = type(self)(*self._given, inner_nulls=True)  # type: ignore[call-arg]
                plan = knowing if knowing.returns == self.returns else self
            # Not before: another thread would take this plan for the other.
            self._with_nulls = plan
        return self._with_nulls


def values_of(names: Sequence[str], inputs: Inputs) -> dict[str, Value]:
    """The arguments of a function by name, each of its kind."""
    return {
        name: of_parts(argument.kind, tuple("_" for _ in zeros(argument.kind)))
        for name, argument in zip(names, inputs.arguments, strict=True)
    }


class Columns:
    """The slots of columns.

    Args:
        names: The parameters that the columns stand for.
        types: The types of the columns, none of them encoded.
        nullable: Which parameters get None where a column is null.
        inner_nulls: Whether the function gets None for what is null in a list or struct. Else rows with
            such nulls are left to Python.

    Raises:
        UnsupportedError: If a column is no argument of a row function.
    """

    def __init__(
        self,
        names: Sequence[str],
        types: Sequence[s.DataType],
        nullable: Sequence[bool],
        inner_nulls: bool = False,
    ) -> None:
        self._names = tuple(names)
        self._types = tuple(types)
        self.nullable = list(nullable)
        # An array may be asked for ten rows at a time: what its type says is looked up before.
        self._with_text = list(map(_has_text, types))
        self._may_lack = not inner_nulls and any(type_.fields for type_ in types)
        inside = Nulls.NONE if inner_nulls else Nulls.LEFT
        self.arguments = [
            Argument(reader_of(column), f"a{n}", Nulls.NONE if may else Nulls.ABSENT, inside)
            for n, (column, may) in enumerate(zip(types, nullable, strict=True))
        ]

    @cached_property
    def _passing(self) -> list[Callable[[Array], Iterable[Any]]]:
        return [argument.passing for argument in self.arguments]

    def called(self, given: Sequence[Array]) -> tuple[Buffer | None, int]:
        """As of `Inputs`.

        Raises:
            InvalidArrowError: If a position in a column leads outside its memory, or text is not
                UTF-8.
        """
        required = []
        for name, array, has_text, may in zip(
            self._names, given, self._with_text, self.nullable, strict=True
        ):
            if not array._checked:
                require_valid(array, name)
            if has_text:
                _require_text(array, name)
            if array._null_count and not may:
                required.append(array)
        return combine_validity(required) if required else (None, 0)

    def passed(self, given: Sequence[Array]) -> list[Any]:
        """As of `Inputs`."""
        passed: list[Any] = []
        for passing, array in zip(self._passing, given, strict=True):
            passed += passing(array)
        return passed

    def rows(self, given: Sequence[Array], places: Array) -> Iterable[Sequence[Any]]:
        """As of `Inputs`."""
        columns = [to_host(take(array, places)).to_pylist() for array in given]
        return zip(*columns, strict=True)

    def none(self) -> list[Array]:
        """As of `Inputs`."""
        return [nulls(0, type_) for type_ in self._types]

    def lacks_nulls(self, given: Sequence[Array]) -> bool:
        """As of `Inputs`."""
        return self._may_lack and any(map(has_inner_nulls, given))


def _has_text(type_: s.DataType) -> bool:
    """Whether there is text in slots of a type."""
    plain = decoded_type(type_)
    return isinstance(plain.storage, TEXT) or any(_has_text(field.type) for field in plain.fields)


def _require_text(array: Array, place: str) -> None:
    """Refuse text that is not UTF-8: bodies go from character to character by their first bytes."""
    if isinstance(array.type.storage, TEXT):
        require_utf8(array, place)
    for child in array.children:
        _require_text(decoded(child), place)
