"""Methods of builders written in place: functions of `colkern.jit.building`, which compiled loops call.

The compiler would inline calls of them, for which it takes many times as long.
"""

from __future__ import annotations

import ast
import builtins
import types
from functools import lru_cache

import numpy as np
from numba.core.types import Type

from colkern.jit.device.decimals import signed, unsigned
from colkern.jit.device.emitter import Value, constant
from colkern.jit.device.kinds import PLAIN, Literal
from colkern.jit.device.nodes import IN_A_KERNEL, NONE, child
from colkern.jit.device.statements import Statements, local_names
from colkern.jit.views.elements import type_of
from colkern.rows.front import Definition, definition_of, meanings_of

PACKAGE = "colkern.jit.building"


@lru_cache(maxsize=256)
def _definition(code: types.CodeType) -> Definition:
    """The definition of a function by its code alone, for any meanings of its names."""
    cells = tuple(types.CellType() for _ in code.co_freevars)
    return definition_of(types.FunctionType(code, {}, closure=cells))


class Inlined(Statements):
    """Writes one function of `colkern.jit.building` where it is called.

    Its exceptions are noted. Each of its variables is assigned to once.

    Args:
        caller: The writer of the caller; errors have the line of the call.
    """

    def __init__(
        self, caller: Statements, function: types.FunctionType, values: list[Value]
    ) -> None:
        definition = _definition(function.__code__)
        around, local = meanings_of(function), local_names(definition)
        super().__init__(caller.program, caller.function, local, around)
        self._caller = caller
        self._body = definition.body
        self._values = dict(zip(definition.parameters, values, strict=True))
        self.needs, self.namespace, self.block = caller.needs, caller.namespace, caller.block
        self._result = NONE

    def written(self) -> Value:
        """Write the function; returns its result."""
        self._statements(self._body)
        return self._result

    def fresh(self) -> str:
        """A name that is not used yet."""
        return self._caller.fresh()

    def located(self, text: str) -> list[ast.stmt]:
        """Statements with the line of the call."""
        return self._caller.located(text)

    def with_place(self, message: str) -> str:
        """A message with the place of the call."""
        return self._caller.with_place(message)

    # Names

    def assign(self, pairs: list[tuple[str, Value]]) -> None:
        """Name values by variables, without code."""
        for name, value in pairs:
            self._values[name] = Value(value.kind, tuple(map(self.bind, value.parts)))

    def _name(self, node: ast.Name) -> Value:
        if node.id in self.local:
            return self._values[node.id]
        meaning = self.around[node.id]
        if isinstance(meaning, np.integer):
            has_sign = isinstance(meaning, np.signedinteger)
            return Value(PLAIN, ((signed if has_sign else unsigned)(int(meaning)),))
        if getattr(builtins, node.id, None) is meaning:
            return Value(PLAIN, (node.id,))
        value = constant(meaning)
        assert value is not None
        return value

    # Calls

    def _call(self, node: ast.Call) -> Value:
        meaning = self.meaning(node.func)
        if isinstance(node.func, ast.Attribute) and meaning is None:
            return super()._call(node)
        arguments = [self.value(argument) for argument in node.args]
        if hasattr(meaning, "position"):
            return child(arguments[0], meaning.position)
        is_numpys = isinstance(meaning, type) and issubclass(meaning, np.generic)
        if is_numpys or isinstance(meaning, Type):
            # Items are converted when they are stored.
            return arguments[0]
        if meaning in IN_A_KERNEL:
            return IN_A_KERNEL[meaning](self, *arguments)
        if hasattr(meaning, "choose"):
            meaning = meaning.choose(*(type_of(value.kind) for value in arguments))
        if isinstance(meaning, types.FunctionType):
            return self.call_function(meaning, arguments, {})
        return super()._call(node)

    def call_function(
        self, function: types.FunctionType, values: list[Value], named: dict[str, Value]
    ) -> Value:
        """A call of a function of the package, or of one that the types of its arguments choose."""
        return Inlined(self, function, values).written()

    # Statements

    def _on_return(self, node: ast.Return) -> None:
        if node.value is not None:
            self._result = self.value(node.value)

    def _on_if(self, node: ast.If) -> None:
        test = self.truth(node.test)
        then, otherwise = self._block(node.body), self._block(node.orelse)
        if then or otherwise:
            self.block.append(self.conditional(test, then, otherwise))

    def _on_raise(self, node: ast.Raise) -> None:
        assert isinstance(node.exc, ast.Call)
        message = self.value(node.exc.args[0]).kind
        assert isinstance(message, Literal)
        self.note_unless("False", self.meaning(node.exc.func), str(message.value))

    def _plain_for(self, node: ast.For) -> None:
        assert isinstance(node.target, ast.Name)
        source, name = self.text(node.iter), self.fresh()
        self._values[node.target.id] = Value(PLAIN, (name,))
        body = self._block(node.body)
        loop = ast.For(ast.Name(name, ast.Store()), self.expression(source), body, [])
        self.block.append(ast.copy_location(loop, self._caller.node))
