"""Calls with `*` and `**`: their items become separate arguments."""

from __future__ import annotations

import ast
import inspect
import string
from collections.abc import Sequence
from typing import Any

from colkern.kernels import row_values
from colkern.rows import kinds as k
from colkern.rows.builtin_calls import FORMS
from colkern.rows.calls import call
from colkern.rows.comprehensions import as_list, unrolled
from colkern.rows.containers import unpacked
from colkern.rows.emitter import Emitter, derived
from colkern.rows.expressions import needed
from colkern.rows.folding import constant
from colkern.rows.front import plain_function
from colkern.rows.iteration import builtin_of, known_object
from colkern.rows.library import public_name, replacement
from colkern.rows.table import table
from colkern.rows.values import NONE, Value


def spread(emitter: Emitter, node: ast.Call) -> ast.Call:
    """Returns a call without `*` and `**`, in which their items have names."""
    arguments: list[ast.expr] = []
    words: list[ast.keyword] = []

    def named(value: Value) -> ast.Name:
        name = f"<spread {len(arguments) + len(words)}>"
        emitter.env[name] = value
        return ast.Name(name, ast.Load())

    for part in node.args:
        if isinstance(part, ast.Starred):
            for item in _spread_items(emitter, node, part.value):
                arguments.append(named(item))
        else:
            arguments.append(part)
    for word in node.keywords:
        value = needed(emitter, word.value) if word.arg is None else NONE
        if k.is_row(value.kind):
            for name, item in zip(value.kind.names, value.items, strict=True):  # type: ignore[attr-defined]
                words.append(ast.keyword(name, named(item)))
        elif word.arg is None:
            emitter.refuse(f"`**` of {value.kind} in a call has no compiled form")
        else:
            words.append(word)
    spread: ast.Call = derived(
        node, f"{len(arguments)} {len(words)}", lambda: ast.Call(node.func, arguments, words)
    )
    return spread


def _spread_items(emitter: Emitter, node: ast.Call, starred: ast.expr) -> Sequence[Value]:
    """Returns the items after `*`; if their number is unknown, as many as the function takes."""
    values = unrolled(emitter, starred)
    if values is not None:
        return values
    is_lazy = isinstance(starred, ast.GeneratorExp) or builtin_of(emitter, starred)
    value = as_list(emitter, starred) if is_lazy else needed(emitter, starred)
    if isinstance(value.constant, tuple | list):
        return [constant(item) for item in value.constant]
    if isinstance(value.kind, k.Tuple) and not k.is_row(value.kind):
        return value.items
    count = _count_taken(emitter, node)
    if count is None:
        emitter.refuse("`*` of a value without a known length has no compiled form here")
    size = call(emitter, "len", [value])
    emitter.fail_if(f"{size.code} != {count}", row_values.LEFT, "`*` of another length")
    return unpacked(emitter, value, count)


def _count_taken(emitter: Emitter, node: ast.Call) -> int | None:
    """Returns the number of items that the function takes for `*`; None if that is open."""
    given = len(node.args) - 1 + len(node.keywords)
    if isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        template = getattr(node.func.value, "value", None)
        if isinstance(template, str):
            return sum(field is not None for _, field, _, _ in string.Formatter().parse(template))
    function = plain_function(replacement(known_object(emitter, node.func)))
    if function in FORMS:
        return None
    rows = table().get(table_name(function), [])
    if rows:
        return len(rows[0].parameters) - given
    try:
        parameters = inspect.signature(function, follow_wrapped=False).parameters.values()
    except (TypeError, ValueError):
        return None
    is_open = any(
        part.default is not part.empty or part.kind.name[:3] == "VAR" for part in parameters
    )
    return None if is_open else len(parameters) - given


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
    return own if own in table() else public_name(function, table()) or own
