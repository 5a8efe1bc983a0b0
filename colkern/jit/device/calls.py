"""Calls in a user's function: of methods, of what is built in, and of other functions of the user's."""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from colkern.jit.column_function import ColumnFunction
from colkern.jit.device import builders, columns, decimals, strings
from colkern.jit.device.builder_kinds import Builder
from colkern.jit.device.conversions import truth
from colkern.jit.device.emitter import Emitter, Value, record
from colkern.jit.device.kinds import (
    PLAIN,
    UNSIGNED,
    Bytes,
    Column,
    Decimal,
    Kind,
    Literal,
    Nullable,
    Record,
    Row,
    is_plain,
)
from colkern.jit.device.operators import Operators


@dataclass(frozen=True)
class Emitted:
    """A function that generated kernels call, and that writes its own code.

    Args:
        write: From what writes the code, and the arguments, to what it returns.
    """

    write: Callable[[Any, Sequence[Value]], Value]


class Calls(Operators):
    """Translates the calls of one function."""

    # Calls

    def _call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Attribute):
            found = self._method(node, node.func)
            if found is not None:
                return found
        meaning = self.meaning(node.func)
        if isinstance(meaning, Emitted):
            return meaning.write(self, self.operands(node.args))
        if isinstance(meaning, type) and issubclass(meaning, tuple):
            return self._named_tuple(node, meaning)
        builtin = (
            _BUILTINS.get(meaning)
            if isinstance(meaning, type | types.BuiltinFunctionType)
            else None
        )
        if builtin is not None and len(node.args) == 1 and not node.keywords:
            value = self.value(node.args[0])
            found = builtin(self, self.inner(value))
            return found if found is not None else self._rebuilt(node, [self._callee(node), value])
        if meaning is builtins.divmod and len(node.args) == 2 and not node.keywords:
            sides = [self.plain(value) for value in self.operands(node.args)]
            return Value(PLAIN, (self.primitive("quotient_and_rest", *sides),))
        function = specialised_from(meaning)
        if function is not None:
            arguments = self._arguments(node, function)
            if arguments is not None:
                return self.call_function(function, *arguments)
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

    def _callee(self, node: ast.Call) -> Value:
        return self.value(node.func)

    def _method(self, node: ast.Call, func: ast.Attribute) -> Value | None:
        if self.meaning(func) is not None:
            return None
        with self.within([]) as block:
            base = self.value(func.value)
            inner = base.kind.inner if isinstance(base.kind, Nullable) else base.kind
            chosen = _METHODS.get(type(inner))
            if chosen is None:
                return None
            base = self.inner(base)
            if node.keywords:
                raise self.failure(f"{func.attr} takes no named arguments in a kernel")
        self.block += block
        return chosen(self, base, func.attr, self.operands(node.args))

    def _arguments(
        self, node: ast.Call, function: types.FunctionType
    ) -> tuple[list[Value], list[str | None]] | None:
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
    return strings.length(e, value) if strings.is_string(value) else None


def _int(e: Emitter, value: Value) -> Value | None:
    if isinstance(value.kind, Decimal):
        return decimals.whole(e, value)
    return strings.number(e, value) if isinstance(value.kind, Bytes) else None


def _float(e: Emitter, value: Value) -> Value | None:
    return decimals.as_float(e, value) if isinstance(value.kind, Decimal) else None


def _bool(e: Emitter, value: Value) -> Value | None:
    return None if is_plain(value.kind) else Value(PLAIN, (f"({truth(e, value)})",))


def _abs(e: Emitter, value: Value) -> Value | None:
    if value.kind == UNSIGNED:
        return value
    return decimals.absolute(e, value) if isinstance(value.kind, Decimal) else None


def _text(e: Emitter, value: Value) -> Value | None:
    raise e.failure("str(x) and repr(x) make text, which a kernel has no memory for")


_BUILTINS: dict[Any, Callable[[Emitter, Value], Value | None]] = {
    builtins.str: _text,
    builtins.repr: _text,
    builtins.len: _len,
    builtins.int: _int,
    builtins.float: _float,
    builtins.bool: _bool,
    builtins.abs: _abs,
}

_METHODS: dict[type[Kind], Callable[[Emitter, Value, str, Sequence[Value]], Value]] = {
    Column: columns.column_method,
    Row: columns.row_method,
    Bytes: strings.method,
    Literal: strings.method,
    Decimal: decimals.method,
    Builder: builders.method,
}


_LIBRARIES = ("numba", "numba_cuda", "numba_cuda_mlir", "numpy", "cupy", "math", "llvmlite")


def specialised_from(meaning: Any) -> types.FunctionType | None:
    """The plain function that a call is of, if it is one of the user's own."""
    if isinstance(meaning, ColumnFunction):
        meaning = getattr(meaning, "__wrapped__", None)
    function = getattr(meaning, "py_func", meaning)
    if not isinstance(function, types.FunctionType):
        return None
    return None if function.__module__.split(".")[0] in _LIBRARIES else function
