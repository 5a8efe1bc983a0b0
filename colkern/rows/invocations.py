"""Calls in a row function: of methods, of functions of the table, of classes, and of users' functions."""

from __future__ import annotations

import ast
import codecs
import collections
import dataclasses
import datetime
import decimal
import functools
import inspect
import operator
import re
import string
import types
import zoneinfo
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from colkern.errors import CompileError, shown
from colkern.kernels import row_values, text_building
from colkern.rows import comprehensions, enums, zones
from colkern.rows import kinds as k
from colkern.rows.calls import (
    as_tuple,
    call,
    has,
    invoked,
    is_left,
    left_to_python,
    replaced,
    require_changeable,
)
from colkern.rows.comparisons import compared
from colkern.rows.comprehensions import (
    as_list,
    extreme,
    items_in_turn,
    joined_in_turn,
    sorted_list,
    unrolled,
)
from colkern.rows.constants import kind_of
from colkern.rows.containers import (
    COMBINED,
    add,
    combine,
    contained,
    fitting,
    function_in,
    is_table_of_functions,
    item,
    most_common,
    readable,
    set_item,
    unpacked,
)
from colkern.rows.deques import method_of_deque, new_deque
from colkern.rows.emitter import Emitter, Unsettled, derived, stored_constant
from colkern.rows.expressions import (
    attribute,
    by_operator,
    checked_loose,
    expression,
    in_branches,
    looked_into,
    needed,
    operated,
    truth,
)
from colkern.rows.folding import constant, evaluated
from colkern.rows.front import CACHED, is_of_standard_library, plain_function
from colkern.rows.functions import local_function, special, users_function
from colkern.rows.instances import has_fields, instance
from colkern.rows.iteration import (
    VIEWS,
    builtin_of,
    is_iterator,
    known_object,
    makes_iterator,
    refuse_iterator,
    view_of_row,
)
from colkern.rows.library import (
    REPLACED,
    move_to_end,
    only_computes,
    pop_item,
    public_name,
    replacement,
)
from colkern.rows.matches import Match, function_of_re, method_of_match, method_of_pattern
from colkern.rows.table import table
from colkern.rows.values import NONE, Value, inner, tuple_of_values

_READING = ("get", "count", "index", "issubset", "issuperset", "isdisjoint")
"""Methods of containers that change nothing."""


def invocation(emitter: Emitter, node: ast.Call) -> Value:
    """The value of a call."""
    is_spread = any(isinstance(part, ast.Starred) for part in node.args)
    if is_spread and known_object(emitter, node.func) in (min, max):
        pass
    elif is_spread or any(keyword.arg is None for keyword in node.keywords):
        node = _spread(emitter, node)
    if isinstance(node.func, ast.Attribute):
        is_read = isinstance(node.func.value, ast.Dict) and node.func.attr in _READING
        owner = (looked_into if is_read else expression)(emitter, node.func.value)
        if not owner.is_constant or owner.kind.name != "object":
            owner = emitter.plain(owner, row_values.ATTRIBUTE_ERROR)
            return method(emitter, node, owner, node.func.attr)
        target = getattr(owner.constant, node.func.attr, None)
        if isinstance(owner.constant, re.Pattern):
            arguments, named = _arguments(emitter, node)
            return method_of_pattern(emitter, owner.constant, node.func.attr, arguments, named)
        if isinstance(owner.constant, dict | list | set | frozenset | tuple):
            if node.func.attr not in _READING:
                emitter.refuse("a constant that changes has no compiled form")
            if node.func.attr == "get" and is_table_of_functions(owner.constant):
                return _function_got(emitter, node, owner.constant)
            return method(emitter, node, readable(emitter, owner), node.func.attr)
        if target is None:
            emitter.refuse(f"{shown(owner.constant)} has no {node.func.attr!r}")
        return called(emitter, node, target)
    return call_of(emitter, node, needed(emitter, node.func))


def call_of(emitter: Emitter, node: ast.Call, function: Value) -> Value:
    """A call of a function that is known, or that is one of several."""
    if function.is_constant:
        return called(emitter, node, function.constant)
    if isinstance(function.kind, k.Record):
        return _method_of_row(emitter, node, function, "__call__")
    if not isinstance(function.kind, k.Choice):
        emitter.refuse(f"a call of {function.kind} has no compiled form")
    among = function.kind.among

    def choose(number: int) -> Value:
        if number == len(among) - 1:
            return called(emitter, node, among[number])
        return emitter.chosen(
            f"{function.code} == {number}",
            lambda: called(emitter, node, among[number]),
            lambda: choose(number + 1),
        )

    return choose(0)


def _spread(emitter: Emitter, node: ast.Call) -> ast.Call:
    """A call without `*` and `**`: what these stand for has names."""
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
    """The items of what stands behind `*`: as many as the function takes if that is not known otherwise."""
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


def _is_being_written(emitter: Emitter, function: Any) -> bool:
    """Whether a call of a function is within that function."""
    written = [key for key, _ in emitter.program.stack]
    return function is emitter.definition.function or id(function) in written


def _count_taken(emitter: Emitter, node: ast.Call) -> int | None:
    """How many items `*` stands for, by what the function takes; None if that is open."""
    given = len(node.args) - 1 + len(node.keywords)
    if isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        template = getattr(node.func.value, "value", None)
        if isinstance(template, str):
            return sum(field is not None for _, field, _, _ in string.Formatter().parse(template))
    function = plain_function(replacement(known_object(emitter, node.func)))
    if function in _FORMS:
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


def _is_alike(emitter: Emitter, owner: Value, node: ast.expr) -> bool:
    """Whether an expression gives a container as one that it is added to."""
    if is_iterator(emitter, node):
        return False
    with emitter.looking():
        return getattr(expression(emitter, node).kind, "name", "") == owner.kind.name


def _arguments(emitter: Emitter, node: ast.Call) -> tuple[list[Value], dict[str, Value]]:
    """The arguments of a call, by position and by name; none of them None where a value is needed."""
    arguments = [needed(emitter, part) for part in node.args]
    named = {word.arg: needed(emitter, word.value) for word in node.keywords if word.arg}
    return arguments, named


def method(emitter: Emitter, node: ast.Call, owner: Value, name: str) -> Value:
    """A method of a value."""
    kind = owner.kind
    if isinstance(kind, k.Container):
        if k.is_deque(kind):
            return method_of_deque(emitter, node, owner, name)
        if kind.default == "ordered" and name == "copy":
            emitter.refuse("OrderedDict.copy() has no compiled form")
        if kind.default == "ordered" and name in _OF_ORDERED:
            arguments, named = _arguments(emitter, node)
            return users_function(emitter, _OF_ORDERED[name], [owner, *arguments], named)
        if kind.is_tuple and name not in ("count", "index"):
            emitter.refuse(f"tuple.{name}() has no compiled form")
        if kind.default == "count" and name == "most_common":
            most = needed(emitter, node.args[0]) if node.args else None
            return most_common(emitter, owner, most)
        if kind.default == "count" and name == "update" and len(node.args) == 1:
            return _counted_too(emitter, node, owner)
        if kind.name == "set" and name in COMBINED and len(node.args) == 1:
            combine(emitter, owner, needed(emitter, node.args[0]), COMBINED[name])
            return NONE
        if kind.default == "count" and name == "elements" and not node.args:
            if emitter.gone_over is not node:
                refuse_iterator(emitter)
            return users_function(emitter, REPLACED["Counter.elements"], [owner], {})
        if kind.default == "count" and name not in ("get", "copy", "pop"):
            emitter.refuse(f"Counter.{name}() has no compiled form")

        if (kind.name, name) in (("list", "append"), ("set", "add")) and len(node.args) == 1:
            add(emitter, owner, (expression(emitter, node.args[0]),))
            return NONE
        if (kind.name, name) in (("list", "extend"), ("set", "update")) and not all(
            _is_alike(emitter, owner, part) for part in node.args
        ):
            items_in_turn(emitter, node.args, lambda value: add(emitter, owner, (value,)))
            return NONE
        if name in ("items", "keys", "values"):
            emitter.refuse(f"{name}() has a compiled form only in a loop")
    if isinstance(kind, k.Member):
        return enums.method(emitter, owner, name, *_arguments_as_they_are(emitter, node))
    if isinstance(kind, Match):
        arguments, _ = _arguments(emitter, node)
        return method_of_match(emitter, owner, name, arguments)
    if name in ("__getitem__", "__contains__") and len(node.args) == 1:
        other = needed(emitter, node.args[0])
        is_item = name == "__getitem__"
        return item(emitter, owner, other) if is_item else contained(emitter, other, owner)
    if f"{kind.name}.{name}" in REPLACED:
        arguments, named = _arguments(emitter, node)
        return users_function(emitter, REPLACED[f"{kind.name}.{name}"], [owner, *arguments], named)
    if name == "get" and node.args and isinstance(kind, k.Container):
        asked = emitter.env.get(getattr(node.args[0], "id", ""))
        if asked is not None and isinstance(asked.kind, k.Optional) and not asked.unbound:
            return _got_of_none(emitter, node, owner, asked)
    if name in ("encode", "decode") and (node.args or node.keywords):
        return _coded(emitter, node, owner, name)
    if kind == k.TEXT and name == "format_map" and owner.is_constant and len(node.args) == 1:
        words = ast.keyword(None, node.args[0])
        make = functools.partial(ast.Call, node.func, [], [words])
        node, name = _spread(emitter, derived(node, "format_map", make)), "format"
    if isinstance(kind, k.Container) and name == "sort" and node.keywords:
        return _sorted_in_place(emitter, node, owner)
    if isinstance(kind, k.Compound):
        return _method_of_row(emitter, node, owner, name)
    if kind == k.TEXT and name == "translate" and len(node.args) == 1:
        table = needed(emitter, node.args[0])
        return translated(emitter, owner, table.constant if table.is_constant else None)
    if kind in (k.TEXT, k.BYTES) and name == "join" and len(node.args) == 1 and not node.keywords:
        listed = node.args[0]
        parts = listed.elts if isinstance(listed, ast.List | ast.Tuple) else []
        if kind == k.TEXT and parts and _are_texts(emitter, parts):
            from colkern.rows.formatting import concatenated

            pieces: list[Any] = [owner, owner] * len(parts)
            pieces[::2] = (functools.partial(needed, emitter, part) for part in parts)
            return concatenated(emitter, pieces[:-1])
        is_made = isinstance(listed, ast.ListComp) or is_iterator(emitter, listed)
        joined = joined_in_turn(emitter, owner, listed) if kind == k.TEXT and is_made else None
        if joined is not None:
            return joined
        return call(emitter, f"{kind.name}.join", [owner, as_list(emitter, node.args[0])])
    if kind == k.TEXT and name == "format" and owner.is_constant:
        from colkern.rows.formatting import formatted

        arguments, named = _arguments_as_they_are(emitter, node)
        return formatted(emitter, owner.constant, arguments, named)
    if owner.is_constant:
        folded = _folded(emitter, node, owner, name)
        if folded is not None:
            return folded
    arguments, named = _arguments(emitter, node)
    if isinstance(kind, k.Container):
        arguments = list(fitting(emitter, owner, name, arguments))
    if name == "get" and len(arguments) == 2 and arguments[1].constant == ():
        return as_tuple(_with_lists(emitter, owner, arguments[0]))
    is_table = isinstance(kind, k.Container) and kind.name == "dict" and name in ("get", "pop")
    if is_table and len(arguments) == 2 and not has(f"dict.{name}", [owner, *arguments]):
        entry = call(emitter, "dict.get", [owner, arguments[0]])
        there = inner(entry)
        return emitter.chosen(
            entry.none,
            lambda: arguments[1],
            lambda: there if name == "get" else call(emitter, "dict.pop", [owner, arguments[0]]),
        )
    if name in ("startswith", "endswith") and isinstance(arguments[0].kind, k.Tuple):
        tests = [
            emitter.numbers(
                call(emitter, f"{kind.name}.{name}", [owner, part, *arguments[1:]])
            ).code
            for part in arguments[0].items
        ]
        return Value(k.BOOL, f"({' | '.join(tests)})") if tests else constant(False)
    return call(emitter, f"{kind.name}.{name}", [owner, *arguments], named)


def _are_texts(emitter: Emitter, nodes: Sequence[ast.expr]) -> bool:
    """Whether no expression may be something else, which is an error once all have been computed."""
    with emitter.looking():
        return all(
            not isinstance(node, ast.Starred) and expression(emitter, node).kind == k.TEXT
            for node in nodes
        )


def _got_of_none(emitter: Emitter, node: ast.Call, owner: Value, key: Value) -> Value:
    """`get` of a key that may be None, which no key of a dictionary is."""

    def there() -> Value:
        emitter.env[node.args[0].id] = inner(key)  # type: ignore[attr-defined]
        return method(emitter, node, owner, "get")

    rest = node.args[1:]
    return emitter.chosen(key.none, lambda: expression(emitter, rest[0]) if rest else NONE, there)


def _function_got(emitter: Emitter, node: ast.Call, table: Any) -> Value:
    """`get` of a constant dictionary of functions."""
    key, *rest = _arguments_as_they_are(emitter, node)[0]
    entry = function_in(emitter, table, "dict.get", emitter.plain(key))
    if not rest:
        return entry
    return emitter.chosen(entry.none, lambda: rest[0], lambda: inner(entry))


def _with_lists(emitter: Emitter, owner: Value, key: Value) -> Value:
    """`TABLE.get(key, ())` of a constant table of tuples, whose sizes may differ: a list."""
    table_of = owner.constant
    if not isinstance(table_of, dict) or not all(type(v) is tuple for v in table_of.values()):
        emitter.refuse("get() with a tuple has a compiled form of a constant table of tuples")
    lists = {name: list(items) for name, items in table_of.items()}
    entry = call(emitter, "dict.get", [stored_constant(emitter, lists, kind_of), key])
    nothing = stored_constant(emitter, [], kind_of)
    return emitter.chosen(entry.none, lambda: nothing, lambda: inner(entry))


_OF_ORDERED = {"move_to_end": move_to_end, "popitem": pop_item}
"""The methods that an `OrderedDict` has in a form of its own."""

_LIKE_ASCII = ("utf-8", "ascii", "iso8859-", "cp125")
"""How the names of encodings begin in which ASCII is itself."""


def _coded(emitter: Emitter, node: ast.Call, owner: Value, name: str) -> Value:
    """`encode` or `decode` by an encoding; in others than UTF-8, and beyond ASCII, Python does."""
    arguments, named = _arguments(emitter, node)
    parts = dict(zip(("encoding", "errors"), arguments, strict=False)) | named
    encoding = parts.get("encoding", constant("utf-8")).constant
    try:
        known = codecs.lookup(encoding).name
    except (LookupError, TypeError):
        known = ""
    if not known.startswith(_LIKE_ASCII) or (known.startswith("utf-8") and known != "utf-8"):
        kind = k.BYTES if name == "encode" else k.TEXT
        return emitter.left(kind, f"{name}() by an encoding that is not known to begin as ASCII")
    if known != "utf-8":
        is_plain = call(emitter, f"{owner.kind.name}.isascii", [owner])
        emitter.fail_if(
            f"not {emitter.numbers(is_plain).code}", row_values.LEFT, f"{owner.kind}.{name}"
        )
    return call(emitter, f"{owner.kind.name}.{name}", [owner])


def _counted_too(emitter: Emitter, node: ast.Call, owner: Value) -> Value:
    """`Counter.update(…)` of what has items, one after the other."""

    def take(key: Value) -> None:
        key = emitter.numbers(key)
        count = item(emitter, owner, key)
        set_item(emitter, owner, key, operated(emitter, ast.Add(), count, constant(1)))

    is_table = not builtin_of(emitter, node.args[0]) and not isinstance(
        node.args[0], ast.GeneratorExp | ast.ListComp
    )
    if is_table and needed(emitter, node.args[0]).kind.name not in ("list", "str", "tuple"):
        emitter.refuse("Counter.update() of counts has no compiled form")
    items_in_turn(emitter, node.args, take)
    return NONE


def _sorted_in_place(emitter: Emitter, node: ast.Call, owner: Value) -> Value:
    """`list.sort(key=…)`: the items of a sorted list take the place of the list's own."""
    require_changeable(emitter, owner)
    emitter.env["<unsorted>"] = owner
    load = ast.Name("<unsorted>", ast.Load())
    call_node = derived(node, "sorted", lambda: ast.Call(node.func, [load], node.keywords))
    ordered = sorted_list(emitter, call_node)
    emitter.write(f"set_word({owner.code}, get_word({ordered.code}))")
    emitter.write(f"set_word({owner.code} + 16, get_word({ordered.code} + 16))")
    return NONE


def _method_of_row(emitter: Emitter, node: ast.Call, owner: Value, name: str) -> Value:
    """A method of a named tuple, a data class, or a dictionary with constant keys."""
    kind = owner.kind
    assert isinstance(kind, k.Compound)
    arguments, named = _arguments_as_they_are(emitter, node)
    if k.is_row(kind):
        if name in VIEWS and not arguments:
            return view_of_row(owner, name)
        if name == "copy" and not arguments:
            # Compiled code does not change it.
            return owner
        if name == "get" and arguments and isinstance(arguments[0].constant, str):
            if arguments[0].constant in kind.names:
                return owner.items[kind.names.index(arguments[0].constant)]
            return arguments[1] if len(arguments) > 1 else NONE
        emitter.refuse(f"dict.{name}() of constant keys has no compiled form")
    if name == "_replace" and isinstance(kind, k.Tuple) and set(named) <= set(kind.names):
        return replaced(emitter, owner, named)
    if name == "_asdict" and kind.names and not arguments:
        return Value(k.tuple_of(kind.items, kind.names, dict), items=owner.items)
    function = inspect.getattr_static(kind.form, name, None)
    if not isinstance(function, types.FunctionType):
        emitter.refuse(f"{kind.form.__name__}.{name}() has no compiled form")
    return users_function(emitter, function, [owner, *arguments], named)


def _of_record(emitter: Emitter, node: ast.Call, function: Any) -> Value:
    """`dataclasses.replace`, `asdict` and `astuple`, whose fields are no data classes."""
    (owner, *_), named = _arguments_as_they_are(emitter, node)
    kind = owner.kind
    is_flat = isinstance(kind, k.Record) and not any(isinstance(i, k.Compound) for i in kind.items)
    if not isinstance(kind, k.Record) or not set(named) <= set(kind.names):
        emitter.refuse(f"{function.__name__}() of {kind} has no compiled form")
    if function is dataclasses.replace:
        return replaced(emitter, owner, named)
    if not is_flat or any(k.containers_in(kind)):
        emitter.refuse(
            f"{function.__name__}() copies what is in {kind}, which has no compiled form"
        )
    names, form = (kind.names, dict) if function is dataclasses.asdict else ((), tuple)
    return Value(k.tuple_of(kind.items, names, form), items=owner.items)


def translated(emitter: Emitter, text: Value, table: Any) -> Value:
    """`text.translate(table)` by a constant table."""
    if not isinstance(table, dict) or not all(isinstance(key, int) for key in table):
        return emitter.left(k.TEXT, "str.translate() of a table that depends on the row")
    texts = [
        chr(key) if isinstance(key, int) else key or ""
        for key in (table.get(code, code) for code in range(128))
    ]
    parts = stored_constant(emitter, texts, kind_of)
    covers = all(key < 128 for key in table)
    arguments = [emitter.numbers(text), parts, Value(k.BOOL, str(covers))]
    return invoked(emitter, text_building.translate, arguments, k.TEXT, "str.translate")


def _arguments_as_they_are(
    emitter: Emitter, node: ast.Call
) -> tuple[list[Value], dict[str, Value]]:
    arguments = [expression(emitter, part) for part in node.args]
    named = {word.arg: expression(emitter, word.value) for word in node.keywords if word.arg}
    return arguments, named


def _folded(emitter: Emitter, node: ast.Call, owner: Value, name: str) -> Value | None:
    """A method of a constant with constant arguments."""
    if not all(isinstance(part, ast.Constant) for part in node.args) or node.keywords:
        return None
    try:
        value = getattr(owner.constant, name)(*(part.value for part in node.args))  # type: ignore[attr-defined]
    except Exception:  # noqa: BLE001  # raised in the row, if the row comes here
        return None
    return constant(value) if type(value).__name__ in k.PLAIN or value is None else None


def called(emitter: Emitter, node: ast.Call, function: Any) -> Value:
    """A call of an object that is known when the function is compiled.

    The row is left to Python at a library's function that has no compiled form.
    """
    before = emitter.state()
    try:
        return _called(emitter, node, function)
    except CompileError as error:
        if isinstance(error, Unsettled):
            raise
        if only_computes(function):
            emitter.restore(before)
            emitter.node = node
            return emitter.computed(table_name(function))
        written = getattr(function, "__func__", function)
        if not (isinstance(written, types.FunctionType) and is_of_standard_library(written)):
            raise
        # At the user's line, and not at one within the library.
        emitter.node = node
        emitter.refuse(f"{table_name(function)} has no compiled form")


def _called(emitter: Emitter, node: ast.Call, function: Any) -> Value:
    # Where compiled code of Numba's differs, as in an overflow, the row is left, and Python calls it.
    given, function = function, plain_function(replacement(function))
    is_whole = function is not given and not makes_iterator(function)
    if is_whole and any(isinstance(part, ast.GeneratorExp) for part in node.args):
        node = derived(node, "with lists", functools.partial(_with_lists_for, node))
    if makes_iterator(function) and emitter.gone_over is not node:
        refuse_iterator(emitter)
    if isinstance(function, ast.FunctionDef | ast.Lambda):
        return local_function(emitter, function, *_arguments_as_they_are(emitter, node))
    if not callable(function):
        emitter.refuse(f"{shown(function)} is not callable")
    if isinstance(given, CACHED) and _is_being_written(emitter, function):
        emitter.refuse(
            f"{function.__name__} calls itself through a cache, which compiled code does not have: "
            "it would compute the same values over and over"
        )
    try:
        write = _FORMS.get(function)
    except TypeError:
        write = None
    if write is not None:
        return write(emitter, node)
    if is_left(table_name(function)):
        return left_to_python(emitter, table_name(function))
    if function in _OF_CONSTANTS:
        values = [looked_into(emitter, part) for part in node.args]
        words = {word.arg: needed(emitter, word.value) for word in node.keywords if word.arg}
        result = _constant_of(function, values, words)
        if result is not None:
            return result
    if getattr(function, "__module__", "") == "re":
        arguments, named = _arguments(emitter, node)
        result = function_of_re(emitter, function, arguments, named)
        if result is not None:
            return result
    if function in (dataclasses.replace, dataclasses.asdict, dataclasses.astuple):
        return _of_record(emitter, node, function)
    if isinstance(function, types.FunctionType) and table_name(function) not in table():
        return users_function(emitter, function, *_arguments_as_they_are(emitter, node))
    called_as = inspect.getattr_static(type(function), "__call__", None)
    if isinstance(called_as, types.FunctionType) and not isinstance(function, type):
        # An instance of a user's class.
        function = types.MethodType(called_as, function)
    if isinstance(function, types.MethodType):
        arguments, named = _arguments_as_they_are(emitter, node)
        own = constant(function.__self__)
        return users_function(emitter, function.__func__, [own, *arguments], named)
    if k.is_enum(function) and len(node.args) == 1 and not node.keywords:
        return enums.of_value(emitter, function, expression(emitter, node.args[0]))
    if isinstance(function, type) and has_fields(function):
        return instance(emitter, node, function, *_arguments_as_they_are(emitter, node))
    if getattr(function, "__module__", "") == "_operator":
        result = by_operator(emitter, function, *_arguments(emitter, node))
        if result is not None:
            return result
    owner = getattr(function, "__objclass__", None)
    if owner is not None and owner.__name__ in k.PLAIN and node.args:
        # An unbound method: `str.upper(s)`.
        arguments, named = _arguments(emitter, node)
        return call(emitter, f"{owner.__name__}.{function.__name__}", arguments, named)
    if isinstance(function, operator.itemgetter | operator.attrgetter):
        return _got(emitter, function, needed(emitter, node.args[0]))
    if isinstance(function, functools.partial):
        return called(emitter, _completed(node, function), function.func)
    if function == datetime.datetime.fromisoformat and _ends_in_offset(node):
        return zones.of_iso(emitter, emitter.numbers(needed(emitter, node.args[0])))
    arguments, named = _arguments(emitter, node)
    if function is divmod and any(isinstance(value.kind, k.Decimal) for value in arguments):
        parts = [operated(emitter, part, *arguments) for part in (ast.FloorDiv(), ast.Mod())]
        return tuple_of_values(map(emitter.numbers, parts))
    result = call(emitter, table_name(function), arguments, named)
    return checked_loose(emitter, result, *arguments) if function in _KEEPING else result


def _with_lists_for(node: ast.Call) -> ast.Call:
    """A call with lists in the place of generator expressions, of what looks at all items."""
    arguments = [
        ast.ListComp(part.elt, part.generators) if isinstance(part, ast.GeneratorExp) else part
        for part in node.args
    ]
    return ast.Call(node.func, arguments, node.keywords)


def _ends_in_offset(node: ast.Call) -> bool:
    """Whether a call is of a text that has `Z` replaced by an offset: there must be one, then."""
    match node.args:
        case [ast.Call(ast.Attribute(attr="replace"), [_, ast.Constant("+00:00")])]:
            return True
    return False


_KEEPING = (abs, round, pow, divmod)
"""Functions that give an integer for an integer, and a float for a float."""

_OF_CONSTANTS = (
    datetime.timedelta,
    datetime.timezone,
    zoneinfo.ZoneInfo,
    decimal.Decimal,
    frozenset,
    functools.partial,
    operator.attrgetter,
    operator.itemgetter,
    re.compile,
    re.escape,
    str.maketrans,
)
"""Functions that give a constant for constants."""


def _got(emitter: Emitter, function: Any, value: Value) -> Value:
    """The result of an `itemgetter` or `attrgetter` of constants."""
    kind, names = function.__reduce__()
    if kind is operator.itemgetter:
        parts = [item(emitter, value, constant(name)) for name in names]
    else:
        parts = [value] * len(names)
        for place, path in enumerate(names):
            for name in path.split("."):
                parts[place] = attribute(emitter, parts[place], name)
    return parts[0] if len(parts) == 1 else tuple_of_values(map(emitter.numbers, parts))


def _completed(node: ast.Call, function: functools.partial[Any]) -> ast.Call:
    """A call of a `partial` as one of its function."""

    def make() -> ast.Call:
        words: dict[str | None, ast.expr] = {
            name: ast.Constant(value) for name, value in function.keywords.items()
        }
        words |= {word.arg: word.value for word in node.keywords}
        keywords = [ast.keyword(name, value) for name, value in words.items()]
        return ast.Call(node.func, [*map(ast.Constant, function.args), *node.args], keywords)

    completed: ast.Call = derived(node, f"partial {id(function)}", make)
    return completed


def _constant_of(function: Any, arguments: list[Value], named: dict[str, Value]) -> Value | None:
    """A constant of constants; None if none can be made of them."""
    if not all(value.is_constant for value in (*arguments, *named.values())):
        return None
    try:
        values = [value.constant for value in arguments]
        return constant(function(*values, **{word: v.constant for word, v in named.items()}))
    except Exception:  # noqa: BLE001  # raised in the row, if the row comes here
        return None


def table_name(function: Any) -> str:
    """The name that the table has for a function of Python's."""
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


# Built-in functions that are more than a row of the table


def _isinstance(emitter: Emitter, node: ast.Call) -> Value:
    value = expression(emitter, node.args[0])
    classes = needed(emitter, node.args[1]).constant
    if isinstance(value.kind, k.Optional):
        name = getattr(node.args[0], "id", "")
        holds = _is_of(emitter, value.kind.of, classes)
        if name and holds:
            return Value(k.BOOL, f"(not {value.none})")
        return constant(False) if not holds else Value(k.BOOL, f"(not {value.none})")
    return constant(_is_of(emitter, value.kind, classes))


def _is_of(emitter: Emitter, kind: k.Kind, classes: Any) -> bool:
    if kind.loose or (emitter.program.has_numpy and kind in (k.INT, k.BOOL)):
        emitter.refuse(f"isinstance() of a value that may be of several types, {kind} among them")
    named = {
        "date": datetime.date,
        "datetime": datetime.datetime,
        "aware": datetime.datetime,
        "time": datetime.time,
    }
    named |= {"timedelta": datetime.timedelta, "None": type(None), "bool": bool, "int": int}
    named |= {"Decimal": decimal.Decimal}
    named |= {"float": float, "str": str, "bytes": bytes, "list": list, "dict": dict, "set": set}
    if isinstance(kind, k.Compound | k.Member):
        return issubclass(kind.form, classes)
    if kind.name not in named:
        emitter.refuse(f"isinstance() of {kind} has no compiled form")
    if k.is_deque(kind):
        return issubclass(collections.deque, classes)
    return issubclass(tuple if k.is_tuple(kind) else named[kind.name], classes)


def _len(emitter: Emitter, node: ast.Call) -> Value:
    of = node.args[0]
    if builtin_of(emitter, of) in VIEWS:
        # As many values or items as keys.
        of = of.func.value  # type: ignore[attr-defined]
    value = needed(emitter, of)
    if (result := special(emitter, "__len__", value)) is not None:
        return result
    if value.is_constant:
        return evaluated(emitter, len, value.constant)
    if isinstance(value.kind, k.Tuple):
        return constant(len(value.items))
    return call(emitter, "len", [value])


def _bool(emitter: Emitter, node: ast.Call) -> Value:
    return truth(emitter, expression(emitter, node.args[0])) if node.args else constant(False)


def _str(emitter: Emitter, node: ast.Call) -> Value:
    from colkern.rows.formatting import text_of

    if not node.args:
        return constant("")
    return in_branches(emitter, node.args[0], lambda value: text_of(emitter, value))


def _repr(emitter: Emitter, node: ast.Call) -> Value:
    from colkern.rows.formatting import represented

    return represented(emitter, expression(emitter, node.args[0]))


def _format(emitter: Emitter, node: ast.Call) -> Value:
    from colkern.rows.formatting import with_specification

    value = expression(emitter, node.args[0])
    specification = needed(emitter, node.args[1]).constant if len(node.args) > 1 else ""
    return with_specification(emitter, value, specification)


def _extreme(name: str) -> Callable[[Emitter, ast.Call], Value]:
    def write(emitter: Emitter, node: ast.Call) -> Value:
        if len(node.args) == 1 or node.keywords:
            return extreme(emitter, node, name)
        if any(isinstance(part, ast.Starred) for part in node.args):
            make = functools.partial(ast.Call, node.func, [ast.List(node.args, ast.Load())], [])
            return extreme(emitter, derived(node, "of a list", make), name)
        values = [needed(emitter, part) for part in node.args]
        result = values[0]
        for value in values[1:]:
            result = _chosen_of(emitter, name, result, value)
        return result

    return write


def _chosen_of(emitter: Emitter, name: str, left: Value, right: Value) -> Value:
    if left.is_constant and right.is_constant:
        function = min if name == "min" else max
        return evaluated(emitter, function, left.constant, right.constant)
    if left.kind == right.kind and has(name, [left, right]):
        return call(emitter, name, [left, right])
    left, right = emitter.numbers(left), emitter.numbers(right)
    # Python keeps the first of equals.
    test = compared(emitter, ast.Lt() if name == "min" else ast.Gt(), right, left)
    return emitter.chosen(emitter.numbers(test).code, lambda: right, lambda: left)


def _number(name: str) -> Callable[[Emitter, ast.Call], Value]:
    def write(emitter: Emitter, node: ast.Call) -> Value:
        if len(node.args) == 1 and not node.keywords:
            return in_branches(
                emitter, node.args[0], lambda value: call(emitter, name, [emitter.plain(value)])
            )
        values, named = _arguments(emitter, node)
        return (
            call(emitter, name, values, named) if values else constant(0 if name == "int" else 0.0)
        )

    return write


_FORMS: Mapping[Any, Callable[[Emitter, ast.Call], Value]] = {
    isinstance: _isinstance,
    len: _len,
    bool: _bool,
    str: _str,
    format: _format,
    repr: _repr,
    min: _extreme("min"),
    max: _extreme("max"),
    sum: comprehensions.total,
    any: comprehensions.any_of,
    all: comprehensions.all_of,
    sorted: comprehensions.sorted_list,
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
    int: _number("int"),
    float: _number("float"),
}
"""Functions that take what no row of the table can say: other kinds, or anything that can be iterated."""
