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
from colkern.rows.arguments import Argument, Nulls, Passed, has_inner_nulls
from colkern.rows.columns import reader_of
from colkern.rows.encoded import decoded, decoded_type
from colkern.rows.forms import Form
from colkern.rows.program import Program, are_true
from colkern.rows.values import Value, of_parts, zeros


class Inputs(Protocol):
    """The inputs of a function for each row.

    Attributes:
        arguments: The reader of each argument.
        may_lack: Whether `lacks_nulls` may be true.
    """

    arguments: list[Argument]
    may_lack: bool

    def called(self, columns: Sequence[Any]) -> tuple[Buffer | None, int]:
        """Returns the bitmap of the rows for which the function is called, and the number of other rows."""

    def passed(self, columns: Sequence[Any]) -> list[Any]:
        """Returns the objects that are passed for the parameters of the arguments.

        The list is kept, not only its items, as long as anything refers to memory of the inputs.
        """

    def rows(self, columns: Sequence[Any], places: Array) -> Iterable[Sequence[Any]]:
        """Returns the arguments of rows as Python values."""

    def none(self) -> Sequence[Any]:
        """Returns inputs without rows."""

    def lacks_nulls(self, columns: Sequence[Any]) -> bool:
        """Whether there are nulls in lists or structs that the function does not get as None."""


class Replanned:
    """A plan for columns, which is made again when columns have nulls within lists or structs.

    Args:
        arguments: The arguments of the plan's class, without `inner_nulls`.
    """

    returns: s.DataType
    programs: Sequence[Program]

    def __init__(self, inputs: Inputs, *arguments: Any) -> None:
        self.inputs = inputs
        self._arguments = arguments
        self._with_nulls: Self | None = None

    def for_arrays(self, arrays: Sequence[Any]) -> Self:
        """Returns this plan, or one with None in lists and structs if arrays may have such nulls."""
        if not self.inputs.lacks_nulls(arrays):
            return self
        known = self._with_nulls
        if known is None or not all(are_true(program.assumptions) for program in known.programs):
            plan = self
            with contextlib.suppress(CompileError, UnsupportedError):
                knowing = type(self)(*self._arguments, inner_nulls=True)  # type: ignore[call-arg]
                plan = knowing if knowing.returns == self.returns else self
            # Assigned last: another thread must not see an unfinished plan.
            self._with_nulls = known = plan
        return known


def values_of(names: Sequence[str], inputs: Inputs) -> dict[str, Value]:
    """Returns the arguments of a function by name, each with its kind."""
    return {
        name: of_parts(argument.kind, tuple("_" for _ in zeros(argument.kind)))
        for name, argument in zip(names, inputs.arguments, strict=True)
    }


class Columns:
    """The slots of columns.

    Args:
        names: The parameters for which the columns stand.
        forms: The forms in which the function gets their values.
        inner_nulls: As for `colkern.rows.plan.Plan`.

    Raises:
        UnsupportedError: If a row function cannot take a column.

    Attributes:
        is_uniform: Whether what is passed has the same types at each call.
    """

    is_uniform = True

    def __init__(
        self,
        names: Sequence[str],
        types: Sequence[s.DataType],
        forms: Sequence[Form],
        inner_nulls: bool = False,
    ) -> None:
        self._types = tuple(types)
        self.forms = list(forms)
        # Looked up in advance, since a call may be for only ten rows.
        nullable = [form.nullable for form in forms]
        self._checks = [*zip(names, map(_has_text, types), nullable, strict=True)]
        self.may_lack = not inner_nulls and any(type_.fields for type_ in types)
        inside = Nulls.NONE if inner_nulls else Nulls.LEFT
        self.arguments = [
            Argument(
                reader_of(column, form),
                f"a{n}",
                Nulls.NONE if form.nullable else Nulls.ABSENT,
                inside,
            )
            for n, (column, form) in enumerate(zip(types, forms, strict=True))
        ]

    @cached_property
    def _prepares(self) -> list[Callable[[Array], Iterable[Any]] | None]:
        return [argument.prepare for argument in self.arguments]

    def called(self, columns: Sequence[Array]) -> tuple[Buffer | None, int]:
        """See `Inputs`.

        Raises:
            InvalidArrowError: If an offset in a column leads outside its memory, or text is not UTF-8.
        """
        required = []
        for array, (name, has_text, nullable) in zip(columns, self._checks, strict=True):
            if not array._checked:
                require_valid(array, name)
            if has_text:
                _require_text(array, name)
            if array._null_count and not nullable:
                required.append(array)
        return combine_validity(required) if required else (None, 0)

    def passed(self, columns: Sequence[Array]) -> list[Any]:
        """See `Inputs`."""
        passed = Passed()
        for argument, prepare, array in zip(self.arguments, self._prepares, columns, strict=True):
            if prepare is None:
                argument.add(passed, array)
            else:
                passed += prepare(array)
        return passed

    def rows(self, arrays: Sequence[Array], places: Array) -> Iterable[Sequence[Any]]:
        """See `Inputs`."""
        columns = [self._values(place, array, places) for place, array in enumerate(arrays)]
        return zip(*columns, strict=True)

    def _values(self, place: int, array: Array, rows: Array) -> list[Any]:
        """Returns the values of a column in some rows as Python objects."""
        return self.forms[place].values(to_host(take(array, rows)))

    def none(self) -> list[Array]:
        """See `Inputs`."""
        return [nulls(0, type_) for type_ in self._types]

    def lacks_nulls(self, columns: Sequence[Array]) -> bool:
        """See `Inputs`."""
        return self.may_lack and any(map(has_inner_nulls, columns))


def _has_text(type_: s.DataType) -> bool:
    """Whether slots of a type contain text."""
    plain = decoded_type(type_)
    return isinstance(plain.storage, TEXT) or any(_has_text(field.type) for field in plain.fields)


def _require_text(array: Array, place: str) -> None:
    """Refuse text that is not UTF-8: bodies find characters by their first bytes."""
    if isinstance(array.type.storage, TEXT):
        require_utf8(array, place)
    for child in array.children:
        _require_text(decoded(child), place)
