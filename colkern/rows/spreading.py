"""Calls with `*` and `**`: their items become separate arguments."""

from __future__ import annotations

import ast
import inspect
import string
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

from colkern.kernels import row_values
from colkern.rows import kinds as k
from colkern.rows.builtin_calls import FORMS
from colkern.rows.calls import call
from colkern.rows.comprehensions import as_list, unrolled
from colkern.rows.containers import contained, unpacked
from colkern.rows.emitter import Emitter, copied, derived
from colkern.rows.expressions import needed
from colkern.rows.folding import constant
from colkern.rows.front import plain_function
from colkern.rows.iteration import builtin_of, known_object
from colkern.rows.library import by_module, public_name, replacement
from colkern.rows.several import as_one_of
from colkern.rows.table import NO_DEFAULT, table
from colkern.rows.values import NONE, Value


def spread(emitter: Emitter, node: ast.Call) -> ast.expr:
    """Returns a call without `*` and `**`, in which their items have names.

    If the function may take several numbers of the items of a list, it is a choice between calls.
    """
    arguments: list[ast.expr] = []
    place, list_ = -1, ast.Name("")
    words: list[ast.keyword] = []

    # Calls within the arguments have names of their own.
    where = [getattr(node, name, 0) for name in node._attributes]

    def named(value: Value) -> ast.Name:
        name = f"<spread {len(arguments) + len(words)} at {where}>"
        emitter.env[name] = value
        return ast.Name(name, ast.Load())

    for part in node.args:
        if isinstance(part, ast.Starred):
            items = _spread_items(emitter, node, part.value)
            if isinstance(items, Value):
                _require_still(emitter, [*node.args, *node.keywords], part)
                list_, place = named(items), len(arguments)
            else:
                for item in items:
                    arguments.append(named(item))
        else:
            arguments.append(part)
    for word in node.keywords:
        value = needed(emitter, word.value) if word.arg is None else NONE
        if k.is_row(value.kind):
            for name, item in zip(value.kind.names, value.items, strict=True):  # type: ignore[attr-defined]
                words.append(ast.keyword(name, named(item)))
        elif word.arg is None and (names := _names_taken(emitter, node)):
            for name, item in _entries(emitter, value, names):
                words.append(ast.keyword(name, named(item)))
        elif word.arg is None:
            emitter.refuse(f"`**` of {value.kind} in a call has no compiled form")
        else:
            words.append(word)

    def make() -> ast.expr:
        if place < 0:
            return ast.Call(node.func, arguments, words)
        counts = _counts_taken(emitter, node)
        return _by_size(ast.Call(node.func, arguments, words), list_, place, counts)

    spread: ast.expr = derived(node, f"{len(arguments)} {len(words)} {place}", make)
    return spread


def _names_taken(emitter: Emitter, node: ast.Call) -> dict[str, Any]:
    """Returns the parameters that a function takes for `**` of a dictionary, with their defaults, which may
    be `NO_DEFAULT`; empty if they are open."""
    function = plain_function(replacement(known_object(emitter, node.func)))
    is_only = not node.args and len(node.keywords) == 1
    if is_only and (rows := table().get(table_name(function), [])):
        named = {one.name: one.default for one in rows[0].parameters}
        return {} if "" in named else named
    try:
        parameters = [*inspect.signature(function, follow_wrapped=False).parameters.values()]
    except (TypeError, ValueError):
        return {}
    is_open = any(part.kind in (part.VAR_KEYWORD, part.POSITIONAL_ONLY) for part in parameters)
    given = {
        part.name: NO_DEFAULT if part.default is part.empty else part.default for part in parameters
    }
    return given if is_only and not is_open else {}


def _entries(
    emitter: Emitter, value: Value, names: Mapping[str, Any]
) -> Iterator[tuple[str, Value]]:
    """Yields the entries of a dictionary with certain keys; rows where it has others are left to Python."""
    value = as_one_of(emitter, value, dict)
    if not isinstance(value.kind, k.Container) or value.kind.name != "dict":
        emitter.refuse(f"`**` of {value.kind} in a call has no compiled form")
    size = emitter.numbers(call(emitter, "len", [value])).code
    has = {name: contained(emitter, constant(name), value).code for name in names}
    known = " + ".join(f"int({code})" for code in has.values())
    emitter.fail_if(f"{size} != {known}", row_values.LEFT, "`**` of other keys")
    for name, default in names.items():
        with emitter.ahead(is_only_raised=True):
            entry = partial(call, emitter, "[]", [value, constant(name)])
            if default is NO_DEFAULT:
                yield name, entry()
            else:
                yield name, emitter.chosen(has[name], entry, partial(constant, default))


def _require_still(emitter: Emitter, arguments: Sequence[ast.AST], starred: ast.AST) -> None:
    """Refuse other arguments than the list that may change it, or be changed: they are computed later."""
    for part in (part for each in arguments if each is not starred for part in ast.walk(each)):
        is_shared = isinstance(part, ast.Name) and part.id in emitter.shared
        if is_shared or isinstance(part, ast.Call | ast.NamedExpr):
            emitter.refuse("`*` of a list beside a call has no compiled form here")


def _by_size(call: ast.Call, list_: ast.Name, place: int, counts: range) -> ast.expr:
    """Returns a choice between calls with all items of a list at a place, by their number."""
    size: Any = len
    chosen: ast.expr | None = None
    for count in counts:
        whole = copied(call)
        whole.args[place:place] = [
            ast.Subscript(list_, ast.Constant(number), ast.Load()) for number in range(count)
        ]
        has_size = ast.Call(ast.Constant(size), [list_], [])
        test = ast.Compare(has_size, [ast.Eq()], [ast.Constant(count)])
        chosen = ast.IfExp(test, whole, chosen) if chosen is not None else whole
    assert chosen is not None
    return chosen


def _spread_items(emitter: Emitter, node: ast.Call, starred: ast.expr) -> Sequence[Value] | Value:
    """Returns the items after `*`; if their number is unknown, as many as the function takes, or the list
    if that may take several numbers."""
    values = unrolled(emitter, starred)
    if values is not None:
        return values
    is_lazy = isinstance(starred, ast.GeneratorExp) or builtin_of(emitter, starred)
    value = as_list(emitter, starred) if is_lazy else needed(emitter, starred)
    if isinstance(value.constant, tuple | list):
        return [constant(item) for item in value.constant]
    if isinstance(value.kind, k.Tuple) and not k.is_row(value.kind):
        return value.items
    counts = _counts_taken(emitter, node)
    is_one = sum(isinstance(part, ast.Starred) for part in node.args) == 1
    is_in_order = value.kind == k.TEXT or (
        isinstance(value.kind, k.Container) and value.kind.name == "list"
    )
    if not counts or (len(counts) > 1 and not (is_one and is_in_order)):
        emitter.refuse("`*` of a value without a known length has no compiled form here")
    size = call(emitter, "len", [value]).code
    is_other = f"({size} < {counts[0]}) | ({size} > {counts[-1]})"
    emitter.fail_if(is_other, row_values.LEFT, "`*` of another length")
    return unpacked(emitter, value, counts[0]) if len(counts) == 1 else value


_MOST_DEFAULTS = 8
"""The largest number of parameters with defaults for which a list may have items."""


def _counts_taken(emitter: Emitter, node: ast.Call) -> range:
    """Returns the numbers of items that the function takes for `*`; an empty range if they are open."""
    given = len(node.args) - 1 + len(node.keywords)
    if isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        template = getattr(node.func.value, "value", None)
        if isinstance(template, str):
            fields = sum(f is not None for _, f, _, _ in string.Formatter().parse(template))
            return range(fields, fields + 1)
    function = plain_function(replacement(known_object(emitter, node.func)))
    if function in FORMS:
        return range(0)
    rows = table().get(table_name(function), [])
    if rows:
        needed_ones = [one for one in rows[0].parameters if one.default is NO_DEFAULT]
        return range(max(len(needed_ones) - given, 0), len(rows[0].parameters) - given + 1)
    try:
        parameters = inspect.signature(function, follow_wrapped=False).parameters.values()
    except (TypeError, ValueError):
        return range(0)
    places = [part for part in parameters if part.kind != part.KEYWORD_ONLY]
    defaults = sum(part.default is not part.empty for part in places)
    named = {part.name for part in places} & {word.arg for word in node.keywords}
    is_open = any(part.kind.name[:3] == "VAR" for part in parameters)
    is_open |= defaults > _MOST_DEFAULTS or bool(defaults and named)
    taken = len(places) - (len(node.args) - 1) - len(named)
    return range(0) if is_open else range(max(taken - defaults, 0), taken + 1)


def table_name(function: Any) -> str:
    """Returns the table's name for a Python function."""
    if getattr(function, "__module__", "") == "numpy":
        return f"numpy.{function.__name__}"
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__qualname__", type(function).__name__)
    module = getattr(function, "__module__", None) or ""
    if isinstance(owner, type):
        module = owner.__module__
    module = {"builtins": "", "_operator": "operator"}.get(module, module)
    own = f"{module}.{name}" if module else name
    return own if own in table() else public_name(function, _public()) or own


@cache
def _public() -> dict[str, list[str]]:
    return by_module(table())
