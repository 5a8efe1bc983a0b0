"""Functions that a row function calls: each becomes a generated function for the kinds of its arguments."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Sequence
from typing import Any

from colkern.errors import CompileError
from colkern.rows import kinds as k
from colkern.rows.containers import new_container
from colkern.rows.emitter import RETURN, Emitter, Program, Wider, derived
from colkern.rows.expressions import constant, expression, needed
from colkern.rows.front import Definition, definition_of
from colkern.rows.kinds import Kind
from colkern.rows.statements import statements, stored_names
from colkern.rows.values import NONE, Value, of_parts, zeros

MOST_ATTEMPTS = 200


def write_function(
    program: Program, definition: Definition, arguments: dict[str, Value]
) -> tuple[str, Kind, list[str]]:
    """Write a function: its name in the generated source, the kind of its result, its parameters.

    Args:
        program: What it becomes part of.
        definition: The user's function.
        arguments: Its arguments: the kind of each, and its value if that is a constant.

    Raises:
        CompileError: If it has no compiled form; names the line.
    """
    widened: dict[Any, Kind] = {}
    before = program.state()
    for _ in range(MOST_ATTEMPTS):
        program.restore(before)
        stored = stored_names(definition.body)
        emitter = Emitter(program, definition, widened, stored)
        names: list[str] = []
        for name, value in arguments.items():
            if value.is_constant:
                emitter.env[name] = value
            else:
                parts = [f"{name}_{part}" for part in range(len(zeros(value.kind)))]
                emitter.env[name] = of_parts(value.kind, tuple(parts))
                names += parts
        try:
            if definition.is_generator:
                first = definition.body[0]
                emitter.yielded = new_container(emitter, first, "list", 0)
            statements(emitter, definition.body)
            if not emitter.dead:
                emitter.leave(NONE)
        except Wider:
            continue
        # A lambda's name is no identifier.
        own = definition.function.__name__
        name = f"{own if own.isidentifier() else 'function'}_{len(program.sources)}"
        program.sources[name] = emitter.source(name, names)
        return name, widened.get(RETURN, k.NONE), names
    return emitter.refuse("the kinds of its variables do not settle")


def users_function(
    emitter: Emitter,
    function: types.FunctionType,
    arguments: Sequence[Value],
    named: dict[str, Value],
) -> Value:
    """A call of a plain function of the user's."""
    if inspect.isgeneratorfunction(function):
        emitter.refuse(f"{function.__name__} is a generator, which has no compiled form")
    try:
        definition = definition_of(function)
    except CompileError as error:
        emitter.refuse(str(error))
    try:
        bound = inspect.signature(function).bind(*arguments, **named)
    except TypeError as error:
        emitter.refuse(f"{function.__name__}: {error}")
    bound.apply_defaults()
    values = {
        name: value if isinstance(value, Value) else constant(value)
        for name, value in bound.arguments.items()
    }
    return _called(emitter, definition, values, function)


def local_function(
    emitter: Emitter,
    node: ast.FunctionDef | ast.Lambda,
    arguments: Sequence[Value],
    named: dict[str, Value],
) -> Value:
    """A call of a function that is defined in the row function: it sees the variables as they are."""
    if any(isinstance(part, ast.Yield | ast.YieldFrom) for part in ast.walk(node)):
        emitter.refuse("a generator has no compiled form")
    parameters = [argument.arg for argument in node.args.args]
    if named or len(arguments) != len(parameters) or node.args.defaults:
        emitter.refuse("a function within a function takes positional arguments without defaults")
    body: list[ast.stmt] = node.body if isinstance(node, ast.FunctionDef) else []
    if isinstance(node, ast.Lambda):
        body = [ast.copy_location(ast.Return(node.body), node)]
    used = {
        part.id for statement in body for part in ast.walk(statement) if isinstance(part, ast.Name)
    }
    around = {
        name: emitter.read(name)
        for name in sorted(used & emitter.env.keys() - set(parameters) - stored_names(body))
    }
    own = emitter.definition
    function = types.FunctionType(own.function.__code__, {}, getattr(node, "name", "function"))
    definition = Definition(function, tuple(parameters), body, own.names, own.path)
    values = around | dict(zip(parameters, arguments, strict=True))
    return _called(emitter, definition, values, node)


def applied(emitter: Emitter, node: ast.expr, arguments: Sequence[Value]) -> Value:
    """What the function that an expression names gives for values."""
    from colkern.rows.invocations import called

    if isinstance(node, ast.Lambda):
        return local_function(emitter, node, arguments, {})
    function = needed(emitter, node).constant
    names = [f"<argument {place}>" for place in range(len(arguments))]
    emitter.env.update(zip(names, arguments, strict=True))
    owner = getattr(function, "__objclass__", None)

    def call() -> ast.Call:
        loads: list[ast.expr] = [ast.Name(name, ast.Load()) for name in names]
        if owner is None:
            return ast.Call(node, loads, [])
        return ast.Call(ast.Attribute(loads[0], function.__name__, ast.Load()), loads[1:], [])

    made = derived(node, f"call of {len(names)}", call)
    return expression(emitter, made) if owner is not None else called(emitter, made, function)


def _called(emitter: Emitter, definition: Definition, values: dict[str, Value], key: Any) -> Value:
    program = emitter.program
    values = {
        name: value if value.is_constant else emitter.numbers(value)
        for name, value in values.items()
    }
    described = tuple(
        (
            name,
            value.kind,
            k.has_constant(value.kind),
            repr(value.constant) if value.is_constant else "",
        )
        for name, value in values.items()
    )
    identity = id(key), described
    if identity in program.stack:
        emitter.refuse(f"{definition.function.__name__} calls itself")
    if identity not in program.functions:
        program.stack.append(identity)
        program.functions[identity] = (*write_function(program, definition, values)[:2], key)
        program.stack.pop()
    name, kind, _ = program.functions[identity]
    codes = [code for value in values.values() if not value.is_constant for code in value.parts]
    status = emitter.fresh("status")
    parts = tuple(emitter.fresh() for _ in zeros(kind))
    text = f"{name}({', '.join(['arena', 'pool', *codes])})"
    emitter.write(f"{', '.join((status, *parts))}{'' if parts else ','} = {text}")
    with emitter.within(f"if {status} != 0:"):
        emitter.reraise(status)
    emitter.dead = False
    return of_parts(kind, parts)
