"""Calls in a user's function: of methods, of what is built in, and of other functions of the user's."""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Callable
from typing import Any

from colkern.jit.device import decimals, methods
from colkern.jit.device.conversions import truth
from colkern.jit.device.emitter import Emitter, Value, record
from colkern.jit.device.expressions import MEMBERS
from colkern.jit.device.kinds import (
    PLAIN,
    UNSIGNED,
    Column,
    Decimal,
    Element,
    Literal,
    Nullable,
    Record,
    is_plain,
)
from colkern.jit.device.operators import Operators
from colkern.jit.table_calls import FUNCTIONS, MODULES
from colkern.rows.front import plain_function


class Calls(Operators):
    """Translates the calls of one function."""

    # Calls

    def _call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Attribute):
            value = self._method(node, node.func)
            if value is not None:
                return value
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

    def _named_tuple(self, node: ast.Call, class_: type) -> Value:
        names: tuple[str, ...] = getattr(class_, "_fields", ())
        defaults = getattr(class_, "_field_defaults", {})
        if not names or any(isinstance(a, ast.Starred) for a in node.args):
            return self._generic(node)
        values, named = self._arguments(node)
        given = dict(zip(names, values, strict=False)) | named
        for name in names:
            if name not in given and name in defaults:
                given[name] = self._constant(ast.Constant(defaults[name]))
        if set(given) != set(names):
            raise self.failure(f"{class_.__name__} has the fields {', '.join(names)}")
        fields = [given[name] for name in names]
        return Value(Record(tuple(value.kind for value in fields), names), record(fields).parts)

    def _of_table(self, node: ast.Call, function: Any, name: str) -> Value:
        """A call of a function that is in the table of methods, of elements or of others."""
        values, named = self._arguments(node)
        values = [self.inner(value) for value in values]
        if name.startswith(MODULES) or name in _TEXTS or any(map(methods.is_element, values)):
            return methods.call(self, name, values, named)
        result = _built_in(self, function, values[0]) if len(values) == 1 else None
        if function is builtins.divmod and len(values) == 2:
            sides = map(self.plain, values)
            result = Value(PLAIN, (self.primitive("quotient_and_rest", *sides),))
        return result or self._rebuilt(node, [self.value(node.func), *values, *named.values()])

    def _method(self, node: ast.Call, func: ast.Attribute) -> Value | None:
        if self.meaning(func) is not None:
            return None
        with self.within([]) as block:
            base = self.value(func.value)
            inner = base.kind.inner if isinstance(base.kind, Nullable) else base.kind
            chosen = MEMBERS.get(type(inner))
            if chosen is None and not isinstance(inner, Element | Literal):
                return None
            base = self.inner(base)
        self.block += block
        values, named = self._arguments(node)
        if chosen is None:
            return methods.method(self, base, func.attr, values, named)
        if named:
            raise self.failure(f"{func.attr} takes no named arguments in a kernel")
        return chosen.method(self, base, func.attr, values)

    def _arguments(self, node: ast.Call) -> tuple[list[Value], dict[str, Value]]:
        """The arguments by position, and those by name."""
        names = [keyword.arg for keyword in node.keywords if keyword.arg is not None]
        is_starred = any(isinstance(argument, ast.Starred) for argument in node.args)
        if is_starred or len(names) < len(node.keywords):
            raise self.failure("arguments with * cannot be followed to columns")
        values = self.operands([*node.args, *(keyword.value for keyword in node.keywords)])
        count = len(node.args)
        return values[:count], dict(zip(names, values[count:], strict=True))


# Functions that are built in


_OF_DECIMALS: dict[Any, Callable[[Emitter, Value], Value]] = {
    int: decimals.whole,
    float: decimals.as_float,
    abs: decimals.absolute,
}


def _built_in(e: Emitter, function: Any, value: Value) -> Value | None:
    """The result of a function that is built in; None where the compiler has it by itself."""
    if function is len and isinstance(value.kind, Column):
        return Value(PLAIN, (value.parts[1],))
    if function is bool and not is_plain(value.kind):
        return Value(PLAIN, (f"({truth(e, value)})",))
    if function is abs and value.kind == UNSIGNED:
        return value
    known = _OF_DECIMALS.get(function) if isinstance(value.kind, Decimal) else None
    return known and known(e, value)


_TEXTS = ("str", "repr")
_NAMES = {function: name for name, function in FUNCTIONS.items()} | {str: "str", repr: "repr"}
"""The names of the table that functions have."""


_LIBRARIES = ("numba", "numba_cuda", "numba_cuda_mlir", "numpy", "cupy", "math", "llvmlite")


def specialised_from(meaning: Any) -> types.FunctionType | None:
    """The plain function that a call is of, if it is one of the user's own."""
    function = plain_function(meaning)
    if not isinstance(function, types.FunctionType):
        return None
    return None if function.__module__.split(".")[0] in _LIBRARIES else function
