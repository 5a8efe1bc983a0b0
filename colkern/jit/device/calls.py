"""Calls in a user's function: of methods, of what is built in, and of other functions of the user's."""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Callable, Sequence
from typing import Any

from colkern.jit.column_function import ColumnFunction
from colkern.jit.device import builders, columns, decimals, methods
from colkern.jit.device.builder_kinds import Builder
from colkern.jit.device.conversions import truth
from colkern.jit.device.emitter import Emitter, Value, record
from colkern.jit.device.kinds import (
    PLAIN,
    UNSIGNED,
    Column,
    Decimal,
    Element,
    Kind,
    Literal,
    Nullable,
    Record,
    Row,
    is_plain,
)
from colkern.jit.device.operators import Operators
from colkern.jit.table_calls import FUNCTIONS, MODULES


class Calls(Operators):
    """Translates the calls of one function."""

    # Calls

    def _call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Attribute):
            found = self._method(node, node.func)
            if found is not None:
                return found
        meaning = self.meaning(node.func)
        if isinstance(meaning, type) and issubclass(meaning, tuple):
            return self._named_tuple(node, meaning)
        if isinstance(meaning, type | types.BuiltinFunctionType | types.FunctionType):
            name = _NAMES.get(meaning)
            if name is not None and not any(isinstance(a, ast.Starred) for a in node.args):
                return self._of_table(node, meaning, name)
        function = specialised_from(meaning)
        if function is not None:
            return self.call_function(function, *self._arguments(node))
        return self._generic(node)

    def _named_tuple(self, node: ast.Call, made: type) -> Value:
        names: tuple[str, ...] = getattr(made, "_fields", ())
        defaults = getattr(made, "_field_defaults", {})
        if not names or any(isinstance(a, ast.Starred) for a in node.args):
            return self._generic(node)
        values = self.operands([*node.args, *(keyword.value for keyword in node.keywords)])
        passed = [*names[: len(node.args)], *(keyword.arg for keyword in node.keywords)]
        given = dict(zip(passed, values, strict=False))
        for name in names:
            if name not in given and name in defaults:
                given[name] = self._constant(ast.Constant(defaults[name]))
        if set(given) != set(names):
            raise self.failure(f"{made.__name__} has the fields {', '.join(names)}")
        found = [given[name] for name in names]
        return Value(Record(tuple(value.kind for value in found), names), record(found).parts)

    def _of_table(self, node: ast.Call, function: Any, name: str) -> Value:
        """A call of a function that is in the table of methods, of elements or of others."""
        values, names = self._arguments(node)
        positional = [v for v, word in zip(values, names, strict=True) if word is None]
        named = {word: v for v, word in zip(values, names, strict=True) if word is not None}
        inner = [self.inner(value) for value in values]
        if name.startswith(MODULES) or any(map(methods.is_element, inner)) or name in _TEXTS:
            return methods.call(self, name, positional, named)
        found = (
            _BUILTINS[function](self, inner[0])
            if len(values) == 1 and function in _BUILTINS
            else None
        )
        if found is None and function is builtins.divmod and len(positional) == 2:
            sides = [self.plain(value) for value in positional]
            found = Value(PLAIN, (self.primitive("quotient_and_rest", *sides),))
        return found or self._rebuilt(node, [self.value(node.func), *values])

    def _method(self, node: ast.Call, func: ast.Attribute) -> Value | None:
        if self.meaning(func) is not None:
            return None
        with self.within([]) as block:
            base = self.value(func.value)
            inner = base.kind.inner if isinstance(base.kind, Nullable) else base.kind
            chosen = _METHODS.get(type(inner))
            if chosen is None and not isinstance(inner, Element | Literal):
                return None
            base = self.inner(base)
        self.block += block
        values, names = self._arguments(node)
        if chosen is None:
            count = names.count(None)
            named = {word: v for word, v in zip(names, values, strict=True) if word is not None}
            return methods.method(self, base, func.attr, values[:count], named)
        if node.keywords:
            raise self.failure(f"{func.attr} takes no named arguments in a kernel")
        return chosen(self, base, func.attr, values)

    def _arguments(self, node: ast.Call) -> tuple[list[Value], list[str | None]]:
        if any(isinstance(a, ast.Starred) for a in node.args):
            raise self.failure("arguments with * cannot be followed to columns")
        names = [keyword.arg for keyword in node.keywords]
        values = self.operands([*node.args, *(keyword.value for keyword in node.keywords)])
        return values, [*(None for _ in node.args), *names]

    def call_function(
        self, function: types.FunctionType, values: list[Value], names: list[str | None]
    ) -> Value:
        """A call of a function of the user's own."""
        raise NotImplementedError


# Functions that are built in


def _len(e: Emitter, value: Value) -> Value | None:
    if isinstance(value.kind, Column):
        return Value(PLAIN, (value.parts[1],))
    return None


def _int(e: Emitter, value: Value) -> Value | None:
    return decimals.whole(e, value) if isinstance(value.kind, Decimal) else None


def _float(e: Emitter, value: Value) -> Value | None:
    return decimals.as_float(e, value) if isinstance(value.kind, Decimal) else None


def _bool(e: Emitter, value: Value) -> Value | None:
    return None if is_plain(value.kind) else Value(PLAIN, (f"({truth(e, value)})",))


def _abs(e: Emitter, value: Value) -> Value | None:
    if value.kind == UNSIGNED:
        return value
    return decimals.absolute(e, value) if isinstance(value.kind, Decimal) else None


_BUILTINS: dict[Any, Callable[[Emitter, Value], Value | None]] = {
    builtins.len: _len,
    builtins.int: _int,
    builtins.float: _float,
    builtins.bool: _bool,
    builtins.abs: _abs,
}

_METHODS: dict[type[Kind], Callable[[Emitter, Value, str, Sequence[Value]], Value]] = {
    Column: columns.column_method,
    Row: columns.row_method,
    Decimal: decimals.method,
    Builder: builders.method,
}


_TEXTS = ("str", "repr")
_NAMES = {function: name for name, function in FUNCTIONS.items()} | {str: "str", repr: "repr"}
"""The names of the table that functions have."""


_LIBRARIES = ("numba", "numba_cuda", "numba_cuda_mlir", "numpy", "cupy", "math", "llvmlite")


def specialised_from(meaning: Any) -> types.FunctionType | None:
    """The plain function that a call is of, if it is one of the user's own."""
    if isinstance(meaning, ColumnFunction):
        meaning = getattr(meaning, "__wrapped__", None)
    function = getattr(meaning, "py_func", meaning)
    if not isinstance(function, types.FunctionType):
        return None
    return None if function.__module__.split(".")[0] in _LIBRARIES else function
