"""The variables of a user's function: their kinds, and assignments to them."""

from __future__ import annotations

import ast
import types
from typing import Any

from colkern.jit.device import decimals, methods
from colkern.jit.device.emitter import Emitter, Program, Value, items, present
from colkern.jit.device.kinds import (
    UNKNOWN,
    UNSIGNED,
    Column,
    Conflict,
    Decimal,
    Element,
    Integer,
    Kind,
    Nothing,
    Nullable,
    Record,
    Row,
    Unknown,
    is_plain,
    joined,
    zeros,
)


def converted(e: Emitter, value: Value, kind: Kind) -> tuple[str, ...]:
    """The parts of a value, converted to a kind that it was joined with."""
    if value.kind == kind:
        return value.parts
    if isinstance(value.kind, Unknown):
        return zeros(kind)
    if isinstance(kind, Nullable):
        if isinstance(value.kind, Nothing):
            return zeros(kind)
        if isinstance(value.kind, Nullable):
            return (value.parts[0], *converted(e, present(value), kind.inner))
        return ("True", *converted(e, value, kind.inner))
    if isinstance(kind, Element):
        return methods.as_element(e, value).parts
    if isinstance(kind, Decimal):
        return decimals.at_scale(e, value, kind)
    if isinstance(kind, Record) and isinstance(value.kind, Record):
        return tuple(
            part
            for inner, item in zip(kind.kinds, items(value), strict=True)
            for part in converted(e, item, inner)
        )
    if kind == UNSIGNED and isinstance(value.kind, Integer):
        return (f"_ck_u8({value.parts[0]})",)
    if is_plain(kind):
        return (e.plain(value),)
    return value.parts


def truth(e: Emitter, value: Value) -> str:
    """The code of whether a value is true."""
    kind = value.kind
    if isinstance(kind, Nullable):
        inner = truth(e, present(value))
        return value.parts[0] if inner == "True" else f"({value.parts[0]} and {inner})"
    if isinstance(kind, Nothing):
        return "False"
    if methods.has_operations(value):
        return methods.truth(e, value)
    if is_plain(kind):
        return value.parts[0]
    if isinstance(kind, Row | Record):
        return "True"
    return f"{value.parts[-1]} != 0"


class Assignments(Emitter):
    """Writes one function, and knows the kinds of its variables.

    Args:
        program, function: See `Emitter`.
        local: The names that it assigns to, and its parameters.
        around: The meanings of other names.
    """

    def __init__(
        self,
        program: Program,
        function: types.FunctionType,
        local: set[str],
        around: dict[str, Any],
    ) -> None:
        super().__init__(program, function)
        self.local = local
        self.around = around
        self.kinds: dict[str, Kind] = {}
        """The variables' values in all of the function, as far as they are known."""
        self.kinds_so_far: dict[str, Kind] = {}
        """Their values up to here."""

    def meaning(self, node: ast.expr) -> Any:
        """The value of a name, or of an attribute of a module; None if that is not known."""
        if isinstance(node, ast.Name) and node.id not in self.local:
            return self.around.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self.meaning(node.value)
            if isinstance(owner, types.ModuleType):
                return getattr(owner, node.attr, None)
        return None

    # Variables

    def assign(self, pairs: list[tuple[str, Value]]) -> None:
        """Assign values to variables, all at once."""
        targets: list[str] = []
        parts: list[str] = []
        for name, value in pairs:
            kind = self.join(self.kinds_so_far.get(name, UNKNOWN), value.kind, name)
            self.kinds_so_far[name] = kind
            settled = self.kinds.get(name, kind)
            targets += variables(name, settled)
            parts += (
                converted(self, value, settled)
                if self.fits(value.kind, settled)
                else ["0"] * len(settled.parts)
            )
        if targets:
            self.emit(f"{', '.join(targets)} = {', '.join(parts)}")

    def fits(self, kind: Kind, settled: Kind) -> bool:
        """Whether a variable of a settled kind can hold a value; not always, while kinds become known."""
        try:
            return joined(kind, settled) == settled
        except Conflict:
            return False

    def join(self, a: Kind, b: Kind, what: str) -> Kind:
        """The kind of a variable that has values of two kinds; `what` names it in the error."""
        try:
            return joined(a, b)
        except Conflict:
            kinds = f"{_described(a)} in one place and {_described(b)} in another"
            raise self.failure(f"{what} is {kinds}; give each a name of its own") from None


def variables(name: str, kind: Kind) -> tuple[str, ...]:
    """The variables that hold the parts of a variable."""
    return tuple(f"_ck_{name}_{part}" if part else name for part in kind.parts)


def _described(kind: Kind) -> str:
    if isinstance(kind, Column | Row):
        steps = "".join(f"[{step}]" for step in kind.path.steps)
        return f"{kind.words} ({kind.path.root}{steps})"
    return kind.words
