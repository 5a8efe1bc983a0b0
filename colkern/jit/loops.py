"""Functions for compiled loops, written by the writer of kernels (`colkern.jit.device`).

The meaning of columns and decimals is written once there, as code over numbers and addresses. Here that
code becomes functions that Numba compiles for the CPU.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np
from numba import types
from numba.core.errors import TypingError
from numba.np.numpy_support import as_dtype

from colkern.arrays.values import DayTime, MonthDayNano
from colkern.cpu.compiler import compiled
from colkern.generated import function_of_text
from colkern.jit.device.emitter import (
    CONSTANTS,
    Emitter,
    Like,
    Program,
    Value,
    items,
    name_of,
    present,
)
from colkern.jit.device.kinds import (
    BYTES,
    TEXT,
    Decimal,
    Element,
    Literal,
    Nullable,
    Number,
    Record,
)
from colkern.kernels.row_values import Bytes, Text

INTERVALS: dict[tuple[str, ...], Any] = {kind._fields: kind for kind in (DayTime, MonthDayNano)}

_CLASSES = {kind.__name__: kind for kind in (*INTERVALS.values(), Bytes, Text)}


def _like(code: str) -> Any:
    """An array whose dtype gives the type of items."""
    return np.zeros(1, code)


class Loop(Emitter):
    """Writes one function.

    Args:
        parameters: The names of its parameters.
        names: Other names that its code may use, and their meanings.
        checked: Whether values that do not fit raise.
    """

    def __init__(
        self, parameters: Sequence[str], names: Mapping[str, Any], checked: bool = False
    ) -> None:
        assert isinstance(_like, FunctionType)
        super().__init__(Program(checked), _like)
        self.parameters = parameters
        self.namespace = {**CONSTANTS, **_CLASSES, **names}
        self.sources: list[str] = []
        """The values that may own the bytes of texts, where these are not of a column."""

    def call(self, function: Callable[..., Any], *arguments: str) -> str:
        """A call of a function of `colkern.kernels`."""
        name = f"_ck_{function.__name__}"
        self.namespace[name] = compiled(function)
        return f"{name}({', '.join(arguments)})"

    def like(self, code: str) -> str:
        """An array of items of a type."""
        name = name_of(Like(code))
        self.namespace.setdefault(name, _like(code))
        return name

    def note_unless(self, right: str, exception: type[Exception], message: str) -> None:
        """Raise an exception if a condition fails."""
        self.namespace[exception.__name__] = exception
        self.emit(f"if not ({right}): raise {exception.__name__}({message!r})")

    def failure(self, message: str) -> TypingError:
        """The error of a construct that has no compiled form, as Numba expects it."""
        return TypingError(message)

    def prelude(self) -> list[str]:
        """The statements that the function begins with."""
        return []

    def ending(self, returned: str) -> list[str]:
        """The statements that return a value."""
        return [f"return {returned}"]

    def written(self, value: Value, title: str) -> FunctionType:
        """The function, which returns a value."""
        # The result may need more of the arrays.
        ending = self.ending(self.value_of(value))
        statements = ast.unparse(ast.Module(self.block, [])).splitlines()
        lines = [*self.prelude(), *statements, *ending]
        body = textwrap.indent("\n".join(lines), "    ")
        source = f"def written({', '.join(self.parameters)}):\n{body}\n"
        return function_of_text("written", source, self.namespace, title)

    def value_of(self, value: Value) -> str:
        """The code of a value as compiled loops have it."""
        kind, parts = value.kind, ", ".join(value.parts)
        if isinstance(kind, Nullable):
            inner = self.value_of(present(value))
            return f"({inner} if {value.parts[0]} else None)"
        if isinstance(kind, Literal):
            # Of no type of its own for each literal.
            return f"str({kind.value!r})"
        if isinstance(kind, Decimal):
            return f"decimal_of(({parts},), {kind.scale})"
        if isinstance(kind, Record):
            name = INTERVALS[kind.names].__name__ if kind.names in INTERVALS else ""
            return f"{name}({', '.join(map(self.value_of, items(value)))},)"
        if kind in (TEXT, BYTES):
            plain = f"{'Text' if kind == TEXT else 'Bytes'}({parts})"
            return f"element({', '.join([plain, *self.sources])})"
        return f"new_{kind.of}({parts})" if isinstance(kind, Element) else parts or "None"


def number_named(name: str, kind: types.Integer) -> Value:
    """A number of compiled loops, by its code."""
    return Value(Number(as_dtype(types.unliteral(kind)).str[1:]), (name,))
