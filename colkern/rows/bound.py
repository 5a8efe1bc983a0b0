"""Functions that have values of the row: `append = parts.append`, `partial(f, n)`, `lambda x, k=n: …`.

Such a function is compiled as an instance: its fields are the values, and its class says what is called.
"""

from __future__ import annotations

import ast
import builtins
import datetime
import decimal
from collections.abc import Mapping
from typing import Any

from colkern import rows
from colkern.rows import kinds as k
from colkern.rows.constants import identity
from colkern.rows.emitter import Emitter, derived, standing_for
from colkern.rows.folding import constant
from colkern.rows.scopes import stored_names
from colkern.rows.values import Value, tuple_of_values


class Bound:
    """The base of these classes.

    Args:
        called: What is called: the name of a method of the only field, a function, or the syntax tree of a
            local one.
        names: The names of its values; `known` has those that are constants, the others are fields.
    """

    __slots__ = ()
    called: Any
    names: tuple[str, ...]
    known: dict[str, Value]


PLACE, DEFAULT, OUTER = "<", "=", "^"
"""What the name of a field begins with: for an argument by position, a parameter's default, and an outer
variable. Others are arguments by name."""


def _bound(emitter: Emitter, called: Any, values: Mapping[str, Value]) -> Value:
    known = {name: value for name, value in values.items() if _is_known(value)}
    fields = {name: value for name, value in values.items() if name not in known}
    key = called, *values, *((name, identity(value.constant)) for name, value in known.items())
    own = {"called": called, "names": tuple(values), "known": known}
    form = emitter.program.classes.setdefault(key, type("function", (Bound,), own))
    return tuple_of_values(map(emitter.numbers, fields.values()), tuple(fields), form)


def _is_known(value: Value) -> bool:
    """Whether a value is a constant; local functions are fields, as the variables that they read matter."""
    is_local = any(isinstance(each.constant, ast.AST) for each in (value, *value.items))
    return value.is_constant and not is_local


def _values(function: Value, mark: str) -> dict[str, Value]:
    """Returns the values of which the names begin with a mark, without it."""
    form: Any = class_of(function.kind)
    fields = zip(function.kind.names, function.items, strict=True)  # type: ignore[attr-defined]
    values = {**form.known, **dict(fields)}
    return {name[len(mark) :]: values[name] for name in form.names if name.startswith(mark)}


def class_of(kind: k.Kind) -> type[Bound] | None:
    """Returns the class of such a function; None for other kinds."""
    form = getattr(kind, "form", None)
    return form if isinstance(form, type) and issubclass(form, Bound) else None


def local_of(kind: k.Kind) -> Any:
    """Returns what is called with outer variables from where that is; None for other kinds."""
    form: Any = class_of(kind)
    is_one = form and not any(name.startswith(OUTER) for name in form.names)
    return form.called if is_one else None


def method_of(emitter: Emitter, owner: Value, name: str) -> Value | None:
    """Returns a method of a value of one of Python's own types as a value; None for other attributes."""
    own = (
        getattr(module, k.type_name(owner.kind), None) for module in (builtins, datetime, decimal)
    )
    if owner.kind in k.NODES or not callable(getattr(next(filter(None, own), None), name, None)):
        return None
    if owner.is_constant:
        return constant(getattr(owner.constant, name))
    return _bound(emitter, name, {PLACE: owner})


def called(emitter: Emitter, node: ast.Call, function: Value) -> Value:
    """Compiles a call of such a function."""
    target: Any = class_of(function.kind).called  # type: ignore[union-attr]
    if isinstance(target, str):
        return rows.method_calls.method(emitter, node, function.items[0], target)
    defaults, outer = _values(function, DEFAULT), _values(function, OUTER)
    if defaults or outer:
        arguments, named = rows.expressions.arguments_of(emitter, node)
        return rows.functions.local_function(
            emitter, target, arguments, named, defaults, outer, class_of(function.kind)
        )
    place = f"{node.lineno}:{node.col_offset}:{node.end_col_offset}"
    loads = {
        name: standing_for(emitter, node, f"{name} at {place}", value)
        for name, value in _values(function, "").items()
    }

    def make() -> ast.Call:
        given = {word.arg for word in node.keywords}
        named = [name for name in loads if not name.startswith(PLACE) and name not in given]
        positional = [load for name, load in loads.items() if name.startswith(PLACE)]
        words = [ast.keyword(name, loads[name]) for name in named]
        return ast.Call(node.func, [*positional, *node.args], [*words, *node.keywords])

    result = rows.invocations.called(emitter, derived(node, f"with {[*loads]}", make), target)
    for load in loads.values():
        emitter.env.pop(load.id, None)
    return result


def partial_of(emitter: Emitter, function: Value, *values: Value, **named: Value) -> Value:
    """Returns a `functools.partial` of a known function."""
    places = {f"{PLACE}{place}": value for place, value in enumerate(values)}
    return _bound(emitter, function.constant, places | named)


def with_defaults(emitter: Emitter, node: ast.FunctionDef | ast.Lambda) -> Value:
    """Compiles the definition of a local function, whose defaults are computed now."""
    emitter.program.definers[node] = emitter.definition
    of = node.args
    places = [*of.posonlyargs, *of.args]
    parameters = places[len(places) - len(of.defaults) :] + of.kwonlyargs
    defaults = {
        DEFAULT + each.arg: rows.expressions.expression(emitter, default)
        for each, default in zip(parameters, [*of.defaults, *of.kw_defaults], strict=True)
        if default is not None and not isinstance(default, ast.Constant)
    }
    if defaults:
        return _bound(emitter, node, defaults)
    return Value(k.Kind("function", 0), constant=node)


def escaping(emitter: Emitter, value: Value) -> Value:
    """Returns a local function, or those in a tuple, with the outer variables that it reads; other values
    unchanged."""
    form = class_of(value.kind)
    if isinstance(value.kind, k.Tuple) and any(
        k.is_function(item.constant) for item in value.items
    ):
        items = [escaping(emitter, item) for item in value.items]
        return tuple_of_values(map(emitter.numbers, items), value.kind.names, value.kind.form)
    node = form.called if form else value.constant
    if not isinstance(node, ast.FunctionDef | ast.Lambda) or (form and _values(value, OUTER)):
        return value
    if any(attempt.is_final for attempt in emitter.attempts):
        # A `finally` may assign to the variables.
        return value
    read, assigned = rows.functions.outer_names(emitter, [node])
    own = {*emitter.definition.parameters, *stored_names(emitter.definition.body)}
    if not read or assigned or not own.issuperset(read):
        # Variables of a function that goes on may change.
        return value
    outer = {OUTER + name: emitter.read(name) for name in read}
    return _bound(emitter, node, (_values(value, "") if form else {}) | outer)
