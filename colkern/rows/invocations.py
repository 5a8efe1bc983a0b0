"""Calls in a row function: of methods, of functions of the table, of classes, and of users' functions."""

from __future__ import annotations

import ast
import dataclasses
import datetime
import decimal
import fnmatch
import functools
import inspect
import ipaddress
import logging
import operator
import re
import string
import types
import zoneinfo
from collections.abc import Iterator
from typing import Any

from colkern.errors import CompileError, shown
from colkern.kernels import row_values
from colkern.rows import bound, enums, logs, zones
from colkern.rows import kinds as k
from colkern.rows.builtin_calls import FORMS, class_of, shared_value
from colkern.rows.calls import call, is_left, left_to_python, refuse_change, replaced
from colkern.rows.constants import KINDS
from colkern.rows.containers import item, readable
from colkern.rows.decorators import CACHED
from colkern.rows.emitter import Emitter, SharedError, derived
from colkern.rows.expressions import (
    arguments_of,
    attribute,
    by_operator,
    checked_loose,
    expression,
    looked_into,
    needed,
    needed_arguments,
    operated,
    with_attribute,
)
from colkern.rows.folding import constant
from colkern.rows.formatting import substituted
from colkern.rows.front import changing_methods, is_of_library, plain_function
from colkern.rows.functions import (
    changing_method,
    local_function,
    special,
    users_function,
)
from colkern.rows.instances import CONSTRUCTING, COPYING, has_fields, instance, written_methods
from colkern.rows.iteration import gives_items, is_iterator, known_object, makes_iterator
from colkern.rows.iterators import new_iterator
from colkern.rows.library import (
    copied,
    library_name,
    make_trans,
    moment_of_iso,
    only_computes,
    replacement,
    round_alike,
)
from colkern.rows.matches import function_of_re, method_of_pattern
from colkern.rows.method_calls import method, method_of_row
from colkern.rows.scopes import nodes_of
from colkern.rows.several import by_class, by_number
from colkern.rows.spreading import spread, table_name
from colkern.rows.table import table
from colkern.rows.values import NONE, Value, inner, tuple_of_values

_READING = (
    *("get", "count", "index", "issubset", "issuperset", "isdisjoint"),
    *("__contains__", "__getitem__"),
)
"""Methods of containers that do not change them."""


def invocation(emitter: Emitter, node: ast.Call) -> Value:
    """Compiles a call."""
    is_spread = any(isinstance(part, ast.Starred) for part in node.args)
    if is_spread and known_object(emitter, node.func) in (min, max):
        pass
    elif is_spread or any(keyword.arg is None for keyword in node.keywords):
        without = spread(emitter, node)
        if not isinstance(without, ast.Call):
            return expression(emitter, without)
        node = without
    if isinstance(node.func, ast.Attribute):
        if node.func.attr == "__next__" and gives_items(emitter, node.func.value):
            make = functools.partial(ast.Call, ast.Constant(next), [node.func.value], [])  # type: ignore[arg-type]
            return expression(emitter, derived(node, "next", make))
        if known_object(emitter, getattr(node.func.value, "func", node)) is super:
            return _of_super(emitter, node, node.func.attr)
        is_read = isinstance(node.func.value, ast.Dict) and node.func.attr in _READING
        owner = (looked_into if is_read else expression)(emitter, node.func.value)
        if isinstance(owner.kind, k.Choice) and all(
            isinstance(each, re.Pattern) for each in owner.kind.among
        ):
            arguments, named = needed_arguments(emitter, node)
            return method_of_pattern(emitter, owner, node.func.attr, arguments, named)
        if (known := _of_constants(emitter, node, owner.constant)) is not None:
            return known
        if not owner.is_constant or owner.kind.name != "object":
            owner = with_attribute(emitter, owner, node.func.attr)
            return method(emitter, node, owner, node.func.attr)
        target = getattr(owner.constant, node.func.attr, None)
        if isinstance(owner.constant, dict | list | set | frozenset | tuple):
            return _of_container(emitter, node, owner, node.func.attr)
        if target is None:
            emitter.refuse(f"{shown(owner.constant)} has no {node.func.attr!r}")
        return called(emitter, node, target)
    return call_of(emitter, node, needed(emitter, node.func))


def _of_container(emitter: Emitter, node: ast.Call, owner: Value, name: str) -> Value:
    """A method of a constant container, which it must not change."""
    if name not in _READING:
        # In a row that is left, Python would change what compiled code has read.
        refuse_change(emitter, SharedError)
    return method(emitter, node, readable(emitter, owner), name)


def _of_constants(emitter: Emitter, node: ast.Call, owner: Any) -> Value | None:
    """A method of a constant with constant arguments, whose result is plain, or an item of the constant."""
    name = node.func.attr  # type: ignore[attr-defined]
    is_item = name in _READING and isinstance(owner, dict | list | set | frozenset | tuple)
    if (not is_item and type(owner) not in KINDS) or node.keywords:
        return None
    if type(owner) in (datetime.date, datetime.datetime) and name in _OF_THE_CLOCK:
        return None
    if not all(_has_no_effect(emitter, part) for part in nodes_of(node.args)):
        return None
    try:
        with emitter.looking():
            values = [looked_into(emitter, part) for part in node.args]
    except CompileError:
        return None
    known = _constant_of(getattr(owner, name, None), values, {})
    return known if known is None or is_item or known.kind in KINDS.values() else None


_OF_THE_CLOCK = ("now", "today", "utcnow", "timestamp", "fromtimestamp", "astimezone")
"""Methods of dates whose results depend on the clock, or on the time zone of the machine."""


def _has_no_effect(emitter: Emitter, node: ast.AST) -> bool:
    """Whether a node may be compiled without being evaluated in each row."""
    if isinstance(node, ast.Call):
        return known_object(emitter, node.func) is getattr
    return not isinstance(node, ast.comprehension | ast.NamedExpr | ast.Lambda)


def call_of(emitter: Emitter, node: ast.Call, function: Value) -> Value:
    """Compiles a call of a constant function, or of a choice between several."""
    if function.is_constant:
        return called(emitter, node, function.constant)
    if isinstance(function.kind, k.Several):
        return by_class(emitter, function, functools.partial(call_of, emitter, node))
    if bound.class_of(function.kind):
        return bound.called(emitter, node, function)
    if isinstance(function.kind, k.Record):
        return method_of_row(emitter, node, function, "__call__")
    if not isinstance(function.kind, k.Choice):
        emitter.refuse(f"a call of {function.kind} has no compiled form")
    return by_number(
        emitter, function.code, function.kind.among, lambda each: called(emitter, node, each)
    )


def _of_super(emitter: Emitter, node: ast.Call, name: str) -> Value:
    """Compiles `super().name(…)` in a method."""
    own_name = emitter.definition.parameters[0]
    own = emitter.env.get(own_name, NONE)
    written_in = emitter.definition.names.get("__class__")
    lineage = list(getattr(own.kind, "form", object).__mro__)
    behind = lineage[lineage.index(written_in) + 1 :] if written_in in lineage else []
    function = next((vars(base)[name] for base in behind if name in vars(base)), None)
    if function is object.__init__ and not node.args:
        return NONE
    if isinstance(function, types.WrapperDescriptorType) and name == "__init__":
        return _of_exception(emitter, node, own_name)
    if node.func.value.args or not isinstance(function, types.FunctionType):  # type: ignore[attr-defined]
        emitter.refuse(f"super().{name}() has no compiled form here")
    arguments, named = arguments_of(emitter, node)
    own = emitter.env[emitter.definition.parameters[0]]  # Evaluating an argument may change it.
    if name in CONSTRUCTING or name in changing_methods(own.kind.form):  # type: ignore[attr-defined]
        return changing_method(emitter, function, own, own_name, arguments, named)[0]
    return users_function(emitter, function, [own, *arguments], named)


def _of_exception(emitter: Emitter, node: ast.Call, own_name: str) -> Value:
    """Compiles `super().__init__(…)` in an exception: the arguments become its `args`."""
    arguments, named = needed_arguments(emitter, node)
    own = emitter.env[own_name]
    form = own.kind.form  # type: ignore[attr-defined]
    if named or not issubclass(form, Exception) or issubclass(form, _WITH_OWN_FIELDS):
        emitter.refuse(f"super().__init__() of {form.__name__} has no compiled form here")
    items = tuple_of_values(map(emitter.numbers, arguments))
    emitter.assign(own_name, replaced(emitter, own, {"args": items}))
    return NONE


_WITH_OWN_FIELDS = (OSError, ImportError, NameError, AttributeError, StopIteration, SyntaxError)
"""Exceptions whose constructors set more than their arguments."""


def _dispatched(emitter: Emitter, node: ast.Call, function: Any) -> Value:
    """Compiles a call of a `functools.singledispatch` function, chosen by the class of an argument."""
    (first, *rest), named = arguments_of(emitter, node)

    def by_class(value: Value) -> Value:
        chosen = function.dispatch(class_of(emitter, value.kind))
        return users_function(emitter, chosen, [value, *rest], named)

    if isinstance(first.kind, k.Optional):
        return emitter.chosen(first.none, lambda: by_class(NONE), lambda: by_class(inner(first)))
    return by_class(first)


def _of_record(emitter: Emitter, node: ast.Call, function: Any) -> Value:
    """`dataclasses.replace`, `asdict` and `astuple` of instances whose fields are not data classes."""
    (owner, *_), named = arguments_of(emitter, node)
    kind = owner.kind
    is_flat = isinstance(kind, k.Record) and not any(isinstance(i, k.Compound) for i in kind.items)
    if not isinstance(kind, k.Record):
        emitter.refuse(f"{function.__name__}() of {kind} has no compiled form")
    if function is dataclasses.replace:
        return _with_fields(emitter, node, owner, named)
    if named or not is_flat or any(k.containers_in(kind)):
        emitter.refuse(
            f"{function.__name__}() copies what is in {kind}, which has no compiled form"
        )
    names, form = (kind.names, dict) if function is dataclasses.asdict else ((), tuple)
    return Value(k.tuple_of(kind.items, names, form), items=owner.items)


def _with_fields(emitter: Emitter, node: ast.Call, owner: Value, named: dict[str, Value]) -> Value:
    """`dataclasses.replace`, which calls the constructor."""
    kind = owner.kind
    assert isinstance(kind, k.Record)
    fields = getattr(kind.form, "__dataclass_fields__", {})
    others = {name for name, field in fields.items() if not field.init}
    if not fields or not others.isdisjoint(named):
        emitter.refuse(f"dataclasses.replace() of {kind} has no compiled form")
    values = dict(zip(kind.names, owner.items, strict=True)) | named
    taken = {name: value for name, value in values.items() if name not in others}
    return instance(emitter, node, kind.form, [], taken)


def called(emitter: Emitter, node: ast.Call, function: Any) -> Value:
    """Compiles a call of an object that is known when the function is compiled.

    The row is left to Python at a library's function without a compiled form.
    """
    before = emitter.state()
    try:
        return _called(emitter, node, function)
    except CompileError:
        if only_computes(function):
            emitter.restore(before)
            emitter.node = node
            return emitter.computed(table_name(function))
        written = getattr(function, "__func__", function)
        if not isinstance(written, types.FunctionType) or not is_of_library(written):
            raise
        # The error names the user's line, not one within the library.
        emitter.node = node
        emitter.refuse(f"{table_name(function)} has no compiled form")


def _called(emitter: Emitter, node: ast.Call, function: Any) -> Value:
    # A function that Numba compiles differently, for example for overflows, leaves the row to Python.
    original, function = function, plain_function(replacement(function))
    if hasattr(function, "_python_class_"):
        if not emitter.program.has_objects:
            is_own = original is function
            return emitter.computed(library_name(function) if is_own else table_name(original))
        emitter.program.makes_objects = True
    is_whole = function is not original and not makes_iterator(function)
    if is_whole and any(gives_items(emitter, part) for part in node.args):
        node = derived(node, "with lists", functools.partial(_with_lists_for, emitter, node))
    if makes_iterator(function) and emitter.gone_over is not node:
        return new_iterator(emitter, node)
    if isinstance(function, ast.FunctionDef | ast.Lambda):
        return local_function(emitter, function, *arguments_of(emitter, node))
    if not callable(function):
        emitter.refuse(f"{shown(function)} is not callable")
    if (
        isinstance(node.func, ast.Attribute)
        and node.func.attr == "_make"
        and hasattr(function.__self__, "_fields")
    ):
        items: list[ast.expr] = [ast.Starred(part, ast.Load()) for part in node.args]
        whole = derived(node, "made", functools.partial(ast.Call, node.func.value, items, []))
        return expression(emitter, whole)
    written = [id(emitter.definition.function), *(key for key, _ in emitter.program.stack)]
    if isinstance(original, CACHED) and id(function) in written:
        emitter.refuse(
            f"{function.__name__} calls itself through a cache, which compiled code does not have: "
            "it would compute the same values over and over"
        )
    if isinstance(original, CACHED) and isinstance(function, types.FunctionType):
        arguments, named = arguments_of(emitter, node)
        for value in (*arguments, *named.values()):
            if not k.is_hashable(value.kind):
                emitter.refuse(f"{function.__name__} has a cache, and {value.kind} is not hashable")
        return shared_value(emitter, users_function(emitter, function, arguments, named))
    owner = getattr(function, "__self__", None)
    if isinstance(owner, re.Pattern):
        arguments, named = needed_arguments(emitter, node)
        return method_of_pattern(emitter, constant(owner), function.__name__, arguments, named)
    if isinstance(owner, dict | list | set | frozenset | tuple):
        emitter.program.objects.append(owner)
        return _of_container(emitter, node, constant(owner), function.__name__)
    if type(owner) in KINDS and owner is not None:
        return method(emitter, node, constant(owner), function.__name__)
    for way in (_by_form, _of_library, _of_users, _by_name):
        result = way(emitter, node, function)
        if result is not None:
            return result
    arguments, named = needed_arguments(emitter, node)
    if function is divmod and any(isinstance(value.kind, k.Decimal) for value in arguments):
        parts = [operated(emitter, part, *arguments) for part in (ast.FloorDiv(), ast.Mod())]
        return tuple_of_values(map(emitter.numbers, parts))
    rounds = function is round and len(arguments) > 1 and arguments[0].kind == k.FLOAT
    if rounds and emitter.program.has_numpy and not emitter.definition.is_library:
        return users_function(emitter, round_alike, arguments, named)
    if function in (abs, round):
        result = special(emitter, f"__{function.__name__}__", *arguments)
        if result is not None:
            return result
    result = call(emitter, table_name(function), arguments, named)
    if function not in _KEEPING:
        return result
    return checked_loose(emitter, function.__name__, result, *arguments)


def _by_form(emitter: Emitter, node: ast.Call, function: Any) -> Value | None:
    """A call whose arguments are written in a way of their own, or which needs no code."""
    try:
        write = FORMS.get(function)
    except TypeError:
        write = None
    if isinstance(function, types.BuiltinFunctionType) and write is not None:
        try:
            inspect.signature(function).bind(*node.args, **{str(w.arg): w for w in node.keywords})
        except TypeError as error:
            emitter.refuse(f"{function.__name__}(): {error}")
        except ValueError:
            pass  # It has no signature.
    if write is not None:
        return write(emitter, node)
    if function in _OF_CONSTANTS:
        before = emitter.state()
        values = [looked_into(emitter, part) for part in node.args]
        words = {word.arg: needed(emitter, word.value) for word in node.keywords if word.arg}
        if (known := _constant_of(function, values, words)) is not None:
            emitter.program.objects.append(known.constant)
            return known
        # Other code evaluates the arguments.
        emitter.restore(before)
    if function is functools.partial and node.args and needed(emitter, node.args[0]).is_constant:
        arguments, named = arguments_of(emitter, node)
        return bound.partial_of(emitter, *arguments, **named)
    template = getattr(function, "__self__", None)
    is_safe = function == getattr(template, "safe_substitute", None)
    is_filled = is_safe or function == getattr(template, "substitute", None)
    if type(template) is string.Template and is_filled and not node.args:
        _, named = arguments_of(emitter, node)
        if (text := substituted(template, emitter, named, is_safe)) is not None:
            return text
    if is_left(table_name(function)):
        return left_to_python(emitter, table_name(function))
    return logs.report(emitter, node, function)


def _of_library(emitter: Emitter, node: ast.Call, function: Any) -> Value | None:
    """A call of a function of `re`, `dataclasses` or `functools` that is more than a body."""
    if getattr(function, "__module__", "") == "re":
        arguments, named = needed_arguments(emitter, node)
        return function_of_re(emitter, function, arguments, named)
    if function in (dataclasses.replace, dataclasses.asdict, dataclasses.astuple):
        return _of_record(emitter, node, function)
    if function is copied and len(node.args) == 1:
        value = needed(emitter, node.args[0])
        if not isinstance(value.kind, k.Record):
            return None
        if not {*COPYING}.isdisjoint(written_methods(value.kind.form)):
            emitter.refuse(f"copy.copy() of {value.kind} has no compiled form")
        return value
    if hasattr(function, "registry") and hasattr(function, "dispatch") and node.args:
        return _dispatched(emitter, node, function)
    return None


def _of_users(emitter: Emitter, node: ast.Call, function: Any) -> Value | None:
    """A call of a user's function, method, instance or class."""
    if isinstance(function, types.FunctionType) and table_name(function) not in table():
        arguments, named = arguments_of(emitter, node)
        if makes_iterator(function) and function.__module__.startswith("colkern.rows."):
            # Nobody else reads on from an iterator that is made for the call.
            arguments = [
                value.items[0]
                if is_iterator(emitter, part) and getattr(value.kind, "form", None) is Iterator
                else value
                for value, part in zip(arguments, node.args, strict=True)
            ]
        return users_function(emitter, function, arguments, named)
    called_as = inspect.getattr_static(type(function), "__call__", None)
    if isinstance(called_as, types.FunctionType) and not isinstance(function, type):
        # An instance of a user's class.
        function = types.MethodType(called_as, function)
    if isinstance(function, types.MethodType):
        arguments, named = arguments_of(emitter, node)
        own = constant(function.__self__)
        return users_function(emitter, function.__func__, [own, *arguments], named)
    if k.is_enum(function) and len(node.args) == 1 and not node.keywords:
        return enums.of_value(emitter, function, expression(emitter, node.args[0]))
    if isinstance(function, type) and has_fields(function):
        return instance(emitter, node, function, *arguments_of(emitter, node))
    return None


def _by_name(emitter: Emitter, node: ast.Call, function: Any) -> Value | None:
    """A call that stands for another one: of an operator, a method, or a function within."""
    if getattr(function, "__module__", "") == "_operator":
        result = by_operator(emitter, function, *needed_arguments(emitter, node))
        if result is not None:
            return result
    owner = getattr(function, "__objclass__", None)
    if owner is not None and owner.__name__ in k.PLAIN and node.args:
        # An unbound method: `str.upper(s)`.
        arguments, named = needed_arguments(emitter, node)
        name, form = f"{owner.__name__}.{function.__name__}", k.form_of(arguments[0].kind)
        if isinstance(form, type) and not issubclass(form, owner):
            # `datetime.date(2024, 1, n)`, where `datetime` is the class and not the module.
            emitter.fail(row_values.TYPE_ERROR, f"{name} of {arguments[0].kind}")
            return Value(k.NEVER)
        return call(emitter, name, arguments, named)
    if isinstance(function, operator.itemgetter | operator.attrgetter):
        return _got(emitter, function, needed(emitter, node.args[0]))
    if isinstance(function, functools.partial):
        values = [constant(value) for value in (function.func, *function.args)]
        named = {name: constant(value) for name, value in function.keywords.items()}
        return bound.called(emitter, node, bound.partial_of(emitter, *values, **named))
    if function == datetime.datetime.fromisoformat and _ends_in_offset(node):
        text = emitter.numbers(needed(emitter, node.args[0]))
        return zones.of_moment(emitter, moment_of_iso, text)
    return None


def _with_lists_for(emitter: Emitter, node: ast.Call) -> ast.Call:
    """Returns a call with lists in place of iterators and views, for functions that read all items."""
    list_: Any = list
    arguments = [
        ast.Call(ast.Constant(list_), [part], []) if gives_items(emitter, part) else part
        for part in node.args
    ]
    return ast.Call(node.func, arguments, node.keywords)


def _ends_in_offset(node: ast.Call) -> bool:
    """Whether an argument is `text.replace("Z", "+00:00")`, so that the text must end in an offset."""
    match node.args:
        case [ast.Call(ast.Attribute(attr="replace"), [_, ast.Constant("+00:00")])]:
            return True
    return False


_KEEPING = (abs, round, pow, divmod)
"""Functions that return an integer for an integer, and a float for a float."""


_OF_CONSTANTS = (
    chr,
    datetime.timedelta,
    datetime.timezone,
    zoneinfo.ZoneInfo,
    decimal.Decimal,
    fnmatch.translate,
    frozenset,
    functools.partial,
    ipaddress.IPv4Network,
    ipaddress.ip_network,
    logging.getLogger,
    operator.attrgetter,
    operator.itemgetter,
    ord,
    re.compile,
    re.escape,
    make_trans,
    string.Template,
)
"""Functions that return a constant for constants."""


def _got(emitter: Emitter, function: Any, value: Value) -> Value:
    """Applies an `itemgetter` or `attrgetter` with constant arguments."""
    kind, names = function.__reduce__()
    if kind is operator.itemgetter:
        parts = [item(emitter, value, constant(name)) for name in names]
    else:
        parts = [value] * len(names)
        for place, path in enumerate(names):
            for name in path.split("."):
                parts[place] = attribute(emitter, parts[place], name)
    return parts[0] if len(parts) == 1 else tuple_of_values(map(emitter.numbers, parts))


def _constant_of(function: Any, arguments: list[Value], named: dict[str, Value]) -> Value | None:
    """Returns the constant result of a function of constants; None if there is none."""
    given = (*arguments, *named.values())
    # The names in a local function mean something else in another one.
    if any(isinstance(v.constant, ast.AST) or not v.is_constant for v in given):
        return None
    try:
        values = [value.constant for value in arguments]
        return constant(function(*values, **{word: v.constant for word, v in named.items()}))
    except Exception:  # noqa: BLE001  # raised in the row, if the row comes here
        return None
