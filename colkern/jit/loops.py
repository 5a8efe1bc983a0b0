"""Functions for compiled loops, written by what writes kernels (`colkern.jit.device`).

What columns and decimals mean is said once there, as code over numbers and addresses. Here that code
becomes functions that Numba compiles for the CPU.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np
from numba import types
from numba.np.numpy_support import as_dtype

from colkern.cpu.compiler import compiled
from colkern.generated import function_of_text
from colkern.jit.device.emitter import CONSTANTS, Emitter, Like, Program, Value, items, name_of
from colkern.jit.device.kinds import Number, Record


def _like(code: str) -> Any:
    """An array that says the type of items."""
    return np.zeros(1, code)


class Loop(Emitter):
    """Writes one function.

    Args:
        parameters: The names of its parameters.
        names: What its code may name besides.
        checked: Whether what does not fit raises.
    """

    def __init__(
        self, parameters: Sequence[str], names: Mapping[str, Any], checked: bool = False
    ) -> None:
        assert isinstance(_like, FunctionType)
        super().__init__(Program(checked), _like)
        self.parameters = parameters
        self.namespace = {**CONSTANTS, **names}

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
        """Raise where a condition fails."""
        self.namespace[exception.__name__] = exception
        self.emit(f"if not ({right}): raise {exception.__name__}({message!r})")

    def prelude(self) -> list[str]:
        """The statements that the function begins with."""
        return []

    def ending(self, returned: str) -> list[str]:
        """The statements that return a value."""
        return [f"return {returned}"]

    def written(self, value: Value, title: str) -> FunctionType:
        """The function, which returns a value."""
        # What it names may need something more.
        ending = self.ending(self.value_of(value))
        statements = ast.unparse(ast.Module(self.block, [])).splitlines()
        lines = [*self.prelude(), *statements, *ending]
        body = textwrap.indent("\n".join(lines), "    ")
        source = f"def written({', '.join(self.parameters)}):\n{body}\n"
        return function_of_text("written", source, self.namespace, title)

    def value_of(self, value: Value) -> str:
        """The code of a value as compiled loops have it."""
        if isinstance(value.kind, Record):
            return f"({', '.join(map(self.value_of, items(value)))},)"
        return ", ".join(value.parts) or "None"


def number_named(name: str, kind: types.Integer) -> Value:
    """A number of compiled loops, by its code."""
    return Value(Number(as_dtype(types.unliteral(kind)).str[1:]), (name,))
