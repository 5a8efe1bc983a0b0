"""From a row of the table of methods to a function that Numba compiles: it calls the row's body.

It calls the same body as a kernel (`colkern.jit.device.methods`). The function converts the operands for
the body (`memory.raw`), allocates an arena if the body needs one, and a larger one as long as it is full,
raises the exception of the body's code, and converts the result to elements, tuples and lists.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types

from colkern.cpu import primitives as cpu_primitives
from colkern.cpu.compiler import compiled
from colkern.jit.device import methods
from colkern.jit.device.emitter import Value, constant, record
from colkern.jit.device.kinds import NOTHING, Element
from colkern.jit.elements import memory
from colkern.jit.elements.conversions import as_text, listed_bytes, listed_texts
from colkern.jit.elements.types import ElementType
from colkern.jit.loops import Loop
from colkern.kernels import row_values
from colkern.rows import kinds as k
from colkern.rows.kinds import Kind

_KINDS: tuple[tuple[type[types.Type], Kind], ...] = (
    (types.Boolean, k.BOOL),
    (types.Integer, k.INT),
    (types.Float, k.FLOAT),
    (types.UnicodeType, k.TEXT),
    (types.Bytes, k.BYTES),
    (types.NoneType, k.NONE),
)


def kind_of(operand: Any) -> Kind | None:
    """The kind of an operand, from its Numba type; None if rows have none."""
    if isinstance(operand, types.Optional):
        # Which is raised for where it is None.
        return kind_of(operand.type)
    if isinstance(operand, ElementType):
        return operand.kind
    if isinstance(operand, types.List):
        item = kind_of(operand.dtype)
        return k.list_of(item) if item in _LISTED else None
    plain = types.unliteral(operand)
    return next((kind for numba_type, kind in _KINDS if isinstance(plain, numba_type)), None)


_LISTED = {k.TEXT: listed_texts, k.BYTES: listed_bytes}
"""The lists that bodies are given, and what makes them of Numba's."""


_PRIMITIVES = {
    plain.__name__: getattr(cpu_primitives, plain.__name__) for plain in methods.PRIMITIVES
}

_NAMES: dict[str, Any] = {
    "__name__": __name__,
    "math": math,
    "int64": np.int64,
    "NO_ROOM": row_values.NO_ROOM,
    "as_text": as_text,
    "get_word": cpu_primitives.get_word,
    "get_text": compiled(row_values.get_text),
    "get_bytes": compiled(row_values.get_bytes),
    **{
        name: getattr(memory, name)
        for name in ("arena_in", "element", "keep", "new_arena", "raw", "require_done")
    },
    **{f"new_{kind.name}": maker for kind, maker in memory.MOMENT_MAKERS.items()},
    "list_of_texts": listed_texts,
    "list_of_byte_strings": listed_bytes,
}
"""The names that the source of every adapter may use."""


@dataclass(frozen=True)
class Operand:
    """An operand of a method.

    Args:
        code: Its name in the adapter.
    """

    code: str
    type: Any


def adapter(
    name: str, parameters: str, operands: Sequence[Operand], named: Mapping[str, Operand]
) -> Callable[..., Any] | None:
    """The function for a method of the table; None if no row takes the operands.

    Args:
        name: The method's name in the table.
        parameters: Those of the function, as text.
        operands: The positional arguments of the method.
        named: Of these, those that are called by name.
    """
    adapting = _Adapter(parameters)
    values = [adapting.operand(one) for one in operands]
    by_name = {word: adapting.operand(one) for word, one in named.items()}
    if None in values or None in by_name.values():
        return None
    result = methods.result_of(adapting, name, values, by_name)  # type: ignore[arg-type]
    return None if result is None else adapting.written(result, f"adapter of {name}")


class _Adapter(Loop):
    """Writes an adapter.

    Args:
        parameters: Its parameters, as text.
    """

    def __init__(self, parameters: str) -> None:
        super().__init__([parameters], _NAMES)
        self._sizes: list[str] = []
        self._lists: list[str] = []

    def operand(self, operand: Operand) -> Value | None:
        """An operand as a value of kernels; None if rows do not have its kind."""
        code, kind = operand.code, operand.type
        if isinstance(kind, types.Literal) and not isinstance(kind, types.SliceLiteral):
            return constant(kind.literal_value)
        if isinstance(kind, types.BaseTuple):
            parts = [self.operand(Operand(f"{code}[{n}]", part)) for n, part in enumerate(kind)]
            there = [part for part in parts if part is not None]
            return record(there) if len(there) == len(parts) else None
        of = k.NONE if kind is None else kind_of(kind)
        if of is None or of == k.NONE:
            return None if of is None else Value(NOTHING, ())
        if isinstance(of, k.Container):
            name, maker = self.fresh(), "texts" if of.items[0] == k.TEXT else "byte_strings"
            self._lists.append(f"{name} = list_of_{maker}(arena, {code})")
            self._sizes.append(f"24 + 16 * len({code})")
            self.sources.append(code)
            return Value(Element(of), (name,))
        if isinstance(kind, types.UnicodeType):
            code = self.bind(f"as_text({code})")
        return self._raw(code, of)

    def _raw(self, code: str, kind: Kind) -> Value:
        plain = self.bind(f"raw({code})")
        if kind in methods.NUMBERS:
            return Value(methods.NUMBERS[kind], (plain,))
        element = Element(kind)
        if len(element.parts) == 1:
            return Value(element, (plain,))
        self._sizes.append(f"{plain}.size")
        self.sources.append(code)
        return Value(element, tuple(f"{plain}.{part}" for part in element.parts))

    def literal(self, value: str | bytes) -> tuple[str, str]:
        """Address and length of a string of the source."""
        plain = self.bind(f"raw({value!r})")
        self._sizes.append(f"{plain}.size")
        self.sources.append(repr(value))
        return f"{plain}.address", f"{plain}.size"

    def constant_bytes(self, data: bytes) -> str:
        """The address of bytes that a method reads."""
        self.namespace["_ck_bytes"] = data
        return f"{self.bind('raw(_ck_bytes)')}.address"

    def use(self, function: Callable[..., Any]) -> str:
        """The name of a body of row functions, of a primitive of theirs, or of a class of their values."""
        name = f"_ck_row_{function.__name__}"
        is_type = isinstance(function, type)
        body = function if is_type else _PRIMITIVES.get(function.__name__) or compiled(function)
        self.namespace[name] = body
        return name

    def arena(self, name: str) -> str:
        """The arena of the call."""
        self.sources.insert(0, "memory")
        return "arena"

    def called(self, name: str, text: str) -> str:
        """The result of a body; a failure is raised, or the body is called again with more room."""
        if "memory" not in self.sources:
            value, code = self.bind_each(text, 2)
        else:
            value, code = "value", "code"
            room = " + ".join(["64", *(f"2 * ({size})" for size in self._sizes)])
            again = [
                "memory = new_arena(room)",
                "arena = arena_in(memory)",
                *self._lists,
                f"value, code = {text}",
            ]
            body = "\n    ".join(["    room *= 8", *again])
            self.emit(
                "\n".join([f"room = int64({room})", *again, f"while code == NO_ROOM:\n{body}"])
            )
        self.emit(f"require_done({code}, {name!r})")
        return value

    def ending(self, returned: str) -> list[str]:
        """The statements that return; until then, the owners of bytes are not freed."""
        kept = [f"keep({source})" for source in self.sources]
        return [f"result = {returned}", *kept, "return result"]

    def value_of(self, value: Value) -> str:
        """The code of a value as compiled loops have it."""
        kind = value.kind
        if not (isinstance(kind, Element) and isinstance(kind.of, k.Container)):
            return super().value_of(value)
        (place,) = value.parts
        read = "get_text" if kind.of.items[0] == k.TEXT else "get_bytes"
        item = ", ".join([f"{read}(place + 16 * n)", *self.sources])
        self.emit(f"place = get_word({place})")
        return f"[element({item}) for n in range(get_word({place} + 8))]"
