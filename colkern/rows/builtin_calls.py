"""Calls of built-in functions that the table of methods cannot describe.

They take values of any kind, or anything that can be iterated.
"""

from __future__ import annotations

import ast
import collections
import datetime
import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from colkern import rows
from colkern.kernels import row_values
from colkern.rows import comprehensions
from colkern.rows import kinds as k
from colkern.rows.calls import call, has, refuse_numpys
from colkern.rows.comparisons import compared
from colkern.rows.comprehensions import as_list
from colkern.rows.constants import KINDS, empty_container
from colkern.rows.decorators import drops_results, shared
from colkern.rows.deques import new_deque
from colkern.rows.emitter import Emitter, derived, standing_for
from colkern.rows.expressions import (
    arguments_by_name,
    expression,
    in_branches,
    needed,
    needed_arguments,
    truth,
)
from colkern.rows.folding import constant, evaluated, folded
from colkern.rows.functions import special
from colkern.rows.iteration import VIEWS, builtin_of
from colkern.rows.iterators import new_iterator
from colkern.rows.methods import raised_by
from colkern.rows.orders import extreme, sorted_list
from colkern.rows.several import by_class, is_instance, may_be_several
from colkern.rows.values import NONE, Value, inner, of_parts


def _isinstance(emitter: Emitter, node: ast.Call) -> Value:
    value = expression(emitter, node.args[0])
    classes = needed(emitter, node.args[1]).constant
    if value.kind == k.EXCEPTION:
        return rows.exceptions.is_instance(emitter, value, classes)
    if may_be_several(value):
        code = is_instance(value, classes)[0]
        has_none = isinstance(value.kind, k.Optional) and issubclass(type(None), classes)
        return Value(k.BOOL, f"({value.none} | {code})" if has_none else code)
    if isinstance(value.kind, k.Optional):
        holds = _is_of(emitter, value.kind.of, classes)
        if holds == issubclass(type(None), classes):
            return constant(holds)
        return Value(k.BOOL, f"(not {value.none})" if holds else value.none)
    return constant(_is_of(emitter, value.kind, classes))


_OF_NUMBERS = {k.INT: (int, np.int64), k.BOOL: (bool, np.bool), k.FLOAT: (float, np.float64)}
"""The classes that numbers of a kind have, where they may be NumPy's."""


def _is_of(emitter: Emitter, kind: k.Kind, classes: Any) -> bool:
    if kind == k.NEVER:
        return False
    if not emitter.program.has_numpy or kind not in _OF_NUMBERS:
        return issubclass(class_of(emitter, kind), classes)
    python, numpy = (issubclass(each, classes) for each in _OF_NUMBERS[kind])
    if python != numpy:
        refuse_numpys(emitter, "isinstance()")
    return python


def _type(emitter: Emitter, node: ast.Call) -> Value:
    if len(node.args) != 1:
        emitter.refuse("type() of several arguments has no compiled form")
    value = expression(emitter, node.args[0])
    if value.kind == k.EXCEPTION:
        return value.items[2]
    if isinstance(value.kind, k.Several):
        return by_class(emitter, value, lambda each: constant(class_of(emitter, each.kind)))
    return constant(class_of(emitter, value.kind))


def class_of(emitter: Emitter, kind: k.Kind) -> Any:
    """Returns the class of the values of a kind."""
    if k.has_iterator(kind):
        emitter.refuse("the type of an iterator has no compiled form")
    if kind.loose or (emitter.program.has_numpy and kind in (k.INT, k.BOOL)):
        emitter.refuse(f"the type of a value that may be of several types, {kind} among them")
    named = {plain.name: type_ for type_, plain in KINDS.items()}
    named |= {"unsigned": int, "aware": datetime.datetime}
    if isinstance(kind, k.Uneven):
        return dict
    if isinstance(kind, k.Compound | k.Member):
        return k.python_class(kind.form)
    if isinstance(kind, k.Container) and kind.default == "either":
        emitter.refuse("the type of a value that is a range or a list has no compiled form")
    if isinstance(kind, k.Container):
        return range if kind.default == "range" else type(empty_container(kind))
    if kind.name not in named:
        emitter.refuse(f"the type of {kind} has no compiled form")
    return named[kind.name]


def _has_attribute(emitter: Emitter, value: Value, name: Value) -> Value:
    if isinstance(value.kind, k.Several):
        return by_class(emitter, value, lambda each: _has_attribute(emitter, each, name))
    if isinstance(value.kind, k.Optional):
        has = partial(_has_attribute, emitter, name=name)
        return emitter.chosen(value.none, lambda: has(NONE), lambda: has(inner(value)))
    if value.kind == k.EXCEPTION and name.is_constant:
        return rows.exceptions.has_field(emitter, value, name.constant)
    is_local = isinstance(value.constant, ast.AST)
    if not name.is_constant or isinstance(value.kind, k.Compound) or is_local:
        emitter.refuse(f"hasattr() of {value.kind} has no compiled form")
    if value.is_constant:
        return evaluated(emitter, emitter.program.assumed, hasattr, value.constant, name.constant)
    among = [class_of(emitter, value.kind)]
    if isinstance(value.kind, k.Member):
        among = list(k.values_of(value.kind.form))
    have = {hasattr(each, name.constant) for each in among}
    if len(have) != 1:
        emitter.refuse(f"hasattr() of {value.kind}, whose members differ, has no compiled form")
    return constant(have.pop())


def _getattr(emitter: Emitter, node: ast.Call) -> Value:
    name = expression(emitter, node.args[1]).constant if len(node.args) in (2, 3) else None
    if not isinstance(name, str):
        emitter.refuse("getattr() takes an object, a name that is constant, and perhaps a default")
    of, *_, default = node.args
    there = derived(node, f"attribute {name}", lambda: ast.Attribute(of, name, ast.Load()))
    if len(node.args) == 2:
        return expression(emitter, there)
    # The object is evaluated twice, and the default only where it is needed.
    if not isinstance(of, ast.Name) or not isinstance(default, ast.Name | ast.Constant):
        emitter.refuse(
            "getattr() with a default: assign the object, and the default, to variables first"
        )
    has: Any = hasattr
    test = ast.Call(ast.Constant(has), [of, ast.Constant(name)], [])
    make = partial(ast.IfExp, test, there, default)
    return expression(emitter, derived(node, f"{name} or default", make))


def _len(emitter: Emitter, node: ast.Call) -> Value:
    of = node.args[0]
    if builtin_of(emitter, of) in VIEWS:
        # The view has as many items as the dictionary has keys.
        of = of.func.value  # type: ignore[attr-defined]
    value = needed(emitter, of)
    if (result := special(emitter, "__len__", value)) is not None:
        return result
    if value.is_constant:
        return evaluated(emitter, len, value.constant)
    if isinstance(value.kind, k.Tuple):
        return constant(len(value.items))
    return call(emitter, "len", [value])


def _str(emitter: Emitter, node: ast.Call) -> Value:
    arguments = arguments_by_name(emitter, node, "object", "encoding", "errors")
    if "object" not in arguments:
        return constant("")
    if len(arguments) > 1:
        words = [ast.keyword(word, value) for word, value in arguments.items() if word != "object"]
        decode = ast.Attribute(arguments["object"], "decode", ast.Load())
        return expression(emitter, derived(node, "decoded", lambda: ast.Call(decode, [], words)))
    return in_branches(
        emitter, arguments["object"], lambda value: rows.formatting.text_of(emitter, value)
    )


def _document(emitter: Emitter, node: ast.Call, name: str) -> Value:
    """`json.loads`, or `ast.literal_eval`, which has values of several types."""
    emitter.program.may_mix = True
    if not emitter.program.mixes:
        return emitter.computed(name)
    arguments, named = needed_arguments(emitter, node)
    are_known = len(arguments) == 1 and not named and arguments[0].kind == k.TEXT
    return call(emitter, name, arguments) if are_known else emitter.computed(name)


def _format(emitter: Emitter, node: ast.Call) -> Value:
    if len(node.args) > 1 and isinstance(node.args[1], ast.JoinedStr):
        field = functools.partial(ast.FormattedValue, node.args[0], -1, node.args[1])
        return expression(emitter, derived(node, "a field", lambda: ast.JoinedStr([field()])))
    value = expression(emitter, node.args[0])
    specification = needed(emitter, node.args[1]).constant if len(node.args) > 1 else ""
    return rows.formatting.with_specification(emitter, value, specification)


def _extreme(emitter: Emitter, node: ast.Call, name: str) -> Value:
    if len(node.args) > 1 and [word.arg for word in node.keywords] == ["key"]:
        items: list[ast.expr] = [ast.List(node.args, ast.Load())]
        make = functools.partial(ast.Call, node.func, items, node.keywords)
        node = derived(node, "with a key", make)
    if len(node.args) == 1 or node.keywords:
        return extreme(emitter, node, name)
    if any(isinstance(part, ast.Starred) for part in node.args):
        return _extreme_of_spread(emitter, node, name)
    values = [needed(emitter, part) for part in node.args]
    result = values[0]
    for value in values[1:]:
        result = _chosen_of(emitter, name, result, value)
    return result


def _extreme_of_spread(emitter: Emitter, node: ast.Call, name: str) -> Value:
    """`min(*…)` or `max(*…)`. The row is left for a single argument, whose items Python would compare."""
    spread = derived(node, "of a list", lambda: ast.List(node.args, ast.Load()))
    listed = as_list(emitter, spread)
    size = emitter.numbers(call(emitter, "len", [listed])).code
    emitter.fail_if(f"{size} < 2", row_values.LEFT, f"{name}() of fewer than two arguments")
    load = standing_for(emitter, node, "spread", listed)
    whole = derived(node, "of it", lambda: ast.Call(node.func, [load], []))
    return extreme(emitter, whole, name)


def _chosen_of(emitter: Emitter, name: str, left: Value, right: Value) -> Value:
    if left.is_constant and right.is_constant:
        function = min if name == "min" else max
        return evaluated(emitter, function, left.constant, right.constant)
    if left.kind == right.kind and has(name, [left, right]):
        return call(emitter, name, [left, right])
    left, right = emitter.numbers(left), emitter.numbers(right)
    # Python keeps the first of equal values.
    test = compared(emitter, ast.Lt() if name == "min" else ast.Gt(), right, left)
    if {left.kind, right.kind} == {k.INT, k.UNSIGNED}:
        # The larger one is not negative, and the smaller one below 2**63.
        kind = k.INT if name == "min" else k.UNSIGNED
        left, right = replace(left, kind=kind), replace(right, kind=kind)
    return emitter.chosen(emitter.numbers(test).code, lambda: right, lambda: left)


def _number(number: type[int | float]) -> Callable[[Emitter, ast.Call], Value]:
    of_none, name = raised_by(number, None), number.__name__

    def of_one(emitter: Emitter, value: Value) -> Value:
        own = special(emitter, f"__{name}__", value) if isinstance(value.kind, k.Compound) else None
        return own or folded(number, value) or call(emitter, name, [value])

    def write(emitter: Emitter, node: ast.Call) -> Value:
        if len(node.args) == 1 and not node.keywords:
            return in_branches(
                emitter,
                node.args[0],
                lambda value: of_one(emitter, emitter.plain(value, row_values.TYPE_ERROR, of_none)),
            )
        values, named = needed_arguments(emitter, node)
        return call(emitter, name, values, named) if values else constant(number())

    return write


def shared_value(emitter: Emitter, value: Value) -> Value:
    """Returns a value that a cache keeps for all rows, so that changes of it are refused."""
    for part in k.parts_of(value.kind):
        options = getattr(getattr(part, "form", None), "__dataclass_params__", None)
        is_changeable = isinstance(part, k.Record) and not getattr(options, "frozen", False)
        if is_changeable or part in k.NODES:
            what = "a document" if part in k.NODES else "an instance"
            emitter.refuse(f"{what} that a cache keeps, and that may change, has no compiled form")
    return value if value.is_constant else of_parts(k.unchangeable(value.kind), value.parts)


FORMS: Mapping[Any, Callable[[Emitter, ast.Call], Value]] = {
    iter: new_iterator,
    isinstance: _isinstance,
    type: _type,
    getattr: _getattr,
    hasattr: lambda e, node: _has_attribute(e, *(expression(e, part) for part in node.args)),
    len: _len,
    bool: lambda e, node: truth(e, expression(e, node.args[0])) if node.args else constant(False),
    str: _str,
    format: _format,
    repr: lambda e, node: rows.formatting.represented(e, expression(e, node.args[0])),
    min: partial(_extreme, name="min"),
    max: partial(_extreme, name="max"),
    sum: comprehensions.total,
    any: partial(comprehensions.decided, by=True),
    all: partial(comprehensions.decided, by=False),
    sorted: sorted_list,
    list: comprehensions.as_new_list,
    set: comprehensions.as_new_set,
    dict: comprehensions.as_new_dict,
    tuple: comprehensions.as_tuple,
    next: comprehensions.first,
    collections.Counter: comprehensions.counted,
    collections.OrderedDict: comprehensions.as_new_dict,
    collections.deque: new_deque,
    collections.defaultdict: comprehensions.default_dict,
    functools.reduce: comprehensions.reduced,
    bytes: comprehensions.as_bytes,
    range: comprehensions.as_range,
    int: _number(int),
    float: _number(float),
    json.dumps: lambda e, node: rows.json_text.dumped(e, *needed_arguments(e, node)),
    json.loads: partial(_document, name="json.loads"),
    ast.literal_eval: partial(_document, name="ast.literal_eval"),
    drops_results: lambda emitter, _: emitter.left(k.BOOL, "a cache that drops results"),
    shared: lambda emitter, node: shared_value(emitter, expression(emitter, node.args[0])),
}
"""The functions that the table cannot describe: they take other kinds, or anything that can be iterated."""
