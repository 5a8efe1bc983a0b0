"""From a row of the table of methods to a function that Numba compiles: it calls the row's body.

The function turns the operands into what bodies take (`memory.raw`), makes an arena where the body wants
one, makes it anew and larger as long as it is full, raises what the body's code stands for, and makes
elements, tuples and lists of the result.
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
from colkern.generated import function_of_text
from colkern.jit.elements import memory
from colkern.jit.elements.conversions import as_text, listed_bytes, listed_texts
from colkern.jit.elements.types import ElementType
from colkern.jit.table_calls import Called, called
from colkern.kernels import row_values
from colkern.rows import kinds as k
from colkern.rows.calls import constant_kind
from colkern.rows.kinds import Kind
from colkern.rows.table import call_of
from colkern.rows.values import Value

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


def _value(code: str, operand: Any) -> Value | None:
    """An operand for the search for its row."""
    if operand is None:
        return Value(k.NONE, constant=None)
    if isinstance(operand, types.Literal) and not isinstance(operand, types.SliceLiteral):
        return Value(constant_kind(operand.literal_value), code, constant=operand.literal_value)
    kind = kind_of(operand)
    return None if kind is None else Value(kind, code)


NAMESPACE: dict[str, Any] = {
    "__name__": __name__,
    "math": math,
    "int64": np.int64,
    "NO_ROOM": row_values.NO_ROOM,
    "LEFT": row_values.LEFT,
    "DONE": row_values.DONE,
    "as_text": as_text,
    "get_word": cpu_primitives.get_word,
    "set_word": cpu_primitives.set_word,
    **{
        name: getattr(memory, name)
        for name in ("arena_in", "element", "keep", "new_arena", "raw", "require_done")
    },
    **{
        name: getattr(cpu_primitives, name)
        for name in ("sum_overflows", "difference_overflows", "product_overflows")
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
        code: What it is called in the adapter.
        type: Its Numba type.
    """

    code: str
    type: Any


def adapter(
    name: str,
    parameters: str,
    operands: Sequence[Operand],
    named: Mapping[str, Operand],
) -> Callable[..., Any] | None:
    """The function that does what a method of the table does; None if no row takes the operands.

    Args:
        name: The method's name in the table.
        parameters: Those of the function, as text.
        operands: What the method is called with.
        named: Of these, those that are called by name.
    """
    chosen = called(
        name,
        [_value(one.code, one.type) for one in operands],
        {word: _value(one.code, one.type) for word, one in named.items()},
    )
    if chosen is None or chosen.bindings:
        # Lists are Numba's own.
        return None
    types_of = {one.code: one.type for one in (*operands, *named.values())}
    source, namespace = _Source(chosen).text(parameters, types_of)
    return function_of_text("adapter", source, namespace, f"adapter of {name}")


class _Source:
    """The source of an adapter."""

    def __init__(self, of: Called) -> None:
        self.name = of.name
        self.body = of.body
        self.check = of.check
        self.taken = of.arguments
        self.result = of.result
        self.sources: list[str] = []
        self.makes = False

    def text(self, parameters: str, types_of: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """The source, and what its names stand for."""
        lines: list[str] = []
        codes: list[str] = []
        lists: list[str] = []
        sizes: list[str] = []
        for place, (value, wanted) in enumerate(self.taken):
            code = value.code or repr(value.constant)
            operand = types_of.get(value.code)
            if isinstance(operand, types.UnicodeType):
                lines.append(f"o{place} = as_text({code})")
                code = f"o{place}"
            elif isinstance(value.constant, str) and not value.code:
                code = repr(value.constant)
            if isinstance(value.kind, k.Container):
                maker = "list_of_texts" if value.kind.items[0] == k.TEXT else "list_of_byte_strings"
                lists.append(f"v{place} = {maker}(arena, {code})")
                codes.append(f"v{place}")
                sizes.append(f"24 + 16 * len({code})")
                self.sources.append(code)
                continue
            read = f"raw({code})"
            if wanted == "float" and value.kind != k.FLOAT:
                read = f"float({read})"
            elif wanted == "int" and value.kind == k.BOOL:
                read = f"int64({read})"
            lines.append(f"v{place} = {read}")
            codes.append(f"v{place}")
            if value.kind in (k.TEXT, k.BYTES):
                sizes.append(f"v{place}.size")
                self.sources.append(code)
        namespace = dict(NAMESPACE)
        if isinstance(self.body, str):
            if self.check:
                lines.append(f"if {self.check.format(*codes)}:")
                lines.append(f"    require_done(int64(LEFT), {self.name!r})")
            lines.append(f"value = {self.body.format(*codes)}")
        else:
            namespace["body"] = compiled(self.body)
            lines += self._called(codes, lists, sizes)
        lines += self._returned()
        body = "\n".join(f"    {line}" for line in lines)
        return f"def adapter({parameters}):\n{body}\n", namespace

    def _called(self, codes: list[str], lists: list[str], sizes: list[str]) -> list[str]:
        form = call_of(self.body)
        if set(form.leading) - {"arena"}:
            raise AssertionError(self.name)
        self.makes = bool(form.leading)
        result = "value, code" if form.fails else "value"
        call = f"{result} = body({', '.join([*form.leading, *codes])})"
        if not self.makes:
            done = [f"require_done(code, {self.name!r})"] if form.fails else []
            return [call, *done]
        lines = [
            f"room = int64({' + '.join(['64', *(f'2 * ({size})' for size in sizes)])})",
            "memory = new_arena(room)",
            "arena = arena_in(memory)",
            *lists,
            call,
            "while code == NO_ROOM:",
            "    room *= 8",
            "    memory = new_arena(room)",
            "    arena = arena_in(memory)",
            *(f"    {line}" for line in lists),
            f"    {call}",
            f"require_done(code, {self.name!r})",
        ]
        self.sources.insert(0, "memory")
        return lines

    def _returned(self) -> list[str]:
        lines = [f"result = {self._wrapped(self.result, 'value')}"]
        if isinstance(self.result, k.Container):
            lines = self._listed(self.result.items[0])
        kept = [f"keep({source})" for source in self.sources]
        return [*lines, *kept, "return result"]

    def _wrapped(self, kind: Kind, code: str) -> str:
        if isinstance(kind, k.Tuple):
            parts = [self._wrapped(item, f"{code}[{n}]") for n, item in enumerate(kind.items)]
            return f"({', '.join(parts)},)"
        if kind in (k.TEXT, k.BYTES):
            return f"element({', '.join([code, *self.sources])})"
        return f"new_{kind.name}({code})" if kind in memory.MOMENT_MAKERS else code

    def _listed(self, item: Kind) -> list[str]:
        """A list of Numba's with the items of one in the arena."""
        reader = "get_text" if item == k.TEXT else "get_bytes"
        read = self._wrapped(item, f"{reader}(place + 16 * n)")
        return ["place = get_word(value)", f"result = [{read} for n in range(get_word(value + 8))]"]


for _body in (row_values.get_text, row_values.get_bytes):
    NAMESPACE[_body.__name__] = compiled(_body)
