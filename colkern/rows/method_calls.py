"""Calls of methods in a row function.

Most methods are rows of the table, which take values. Some kinds have methods of their own, and `_FORMS`
has methods with arguments that no row can describe, such as anything that can be iterated.
"""

from __future__ import annotations

import ast
import codecs
import functools
import inspect
import types
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, cast

from colkern import rows
from colkern.kernels import byte_string_methods, row_values, text_building
from colkern.rows import enums
from colkern.rows import kinds as k
from colkern.rows.calls import (
    NOT_NUMPYS,
    as_tuple,
    call,
    has,
    invoked,
    refuse_numpys,
    replaced,
    require_changeable,
)
from colkern.rows.comprehensions import (
    as_list,
    gives_dict,
    items,
    items_in_turn,
    joined_in_turn,
    listed,
)
from colkern.rows.constants import kind_of
from colkern.rows.containers import (
    COMBINED,
    add,
    combine,
    contained,
    field_of_uneven,
    fitting,
    item,
    most_common,
    new_container,
    readable,
    set_item,
    table_of,
    unpacked,
)
from colkern.rows.deques import method_of_deque
from colkern.rows.emitter import Emitter, derived, standing_for
from colkern.rows.expressions import (
    arguments_of,
    as_row_beside,
    expression,
    looked_into,
    needed,
    needed_arguments,
    operated,
    sought,
    with_attribute,
)
from colkern.rows.folding import constant
from colkern.rows.front import changing_methods
from colkern.rows.functions import changing_method, users_function
from colkern.rows.iteration import VIEWS, is_iterator, refuse_iterator, view_of_row
from colkern.rows.library import REPLACED, change_counts, move_to_end, pop_item, translated_by
from colkern.rows.literals import stored_constant
from colkern.rows.matches import Match, method_of_match
from colkern.rows.orders import has_own_order, sorted_list
from colkern.rows.scopes import stored_names
from colkern.rows.several import as_one_of, by_class, is_instance
from colkern.rows.spreading import spread
from colkern.rows.statements import instance_of
from colkern.rows.values import NONE, Value, inner

Form = Callable[[Emitter, ast.Call, Value, str], Value | None]

_FORMS: dict[str, Form] = {}
"""Functions that compile methods with unusual arguments, by the names of kind and method. They return None
for arguments that a row of the table takes."""


def _form(*names: str) -> Callable[[Form], Form]:
    """Register a function for these methods."""

    def register(form: Form) -> Form:
        _FORMS.update(dict.fromkeys(names, form))
        return form

    return register


def method(emitter: Emitter, node: ast.Call, owner: Value, name: str) -> Value:
    """Compiles a method of a value."""
    if name in ("__getitem__", "__contains__") and len(node.args) == 1:
        other = needed(emitter, node.args[0])
        is_item = name == "__getitem__"
        return item(emitter, owner, other) if is_item else contained(emitter, other, owner)
    full_name = f"{k.type_name(owner.kind)}.{name}"
    if isinstance(owner.kind, k.Container):
        written = _of_container(emitter, node, owner, name)
    else:
        written = _of_other_kind(emitter, node, owner, name)
    if full_name in NOT_NUMPYS:
        refuse_numpys(emitter, full_name)
    if written is None and full_name in REPLACED:
        arguments, named = needed_arguments(emitter, node)
        written = users_function(emitter, REPLACED[full_name], [owner, *arguments], named)
    if written is None and full_name in _FORMS:
        written = _FORMS[full_name](emitter, node, owner, name)
    if written is not None:
        return written
    is_container = isinstance(owner.kind, k.Container)
    takes_none = is_container or name in _WITH_WHITE_SPACE
    arguments, named = (
        arguments_of(emitter, node, sought) if takes_none else needed_arguments(emitter, node)
    )
    if is_container:
        arguments = list(fitting(emitter, owner, name, arguments))
    written = (
        _OF_VALUES[full_name](emitter, owner, name, arguments) if full_name in _OF_VALUES else None
    )
    return written or call(emitter, full_name, [owner, *arguments], named)


def _of_container(emitter: Emitter, node: ast.Call, owner: Value, name: str) -> Value | None:
    """Compiles a method of a container that is not in the table; returns None for other methods."""
    kind = k.container(owner.kind)
    if k.is_deque(kind):
        return method_of_deque(emitter, node, owner, name)
    if kind.is_tuple and name not in ("count", "index"):
        emitter.refuse(f"tuple.{name}() has no compiled form")
    if kind.default == "ordered" and name == "copy":
        emitter.refuse("OrderedDict.copy() has no compiled form")
    if kind.default == "ordered" and name in _OF_ORDERED:
        arguments, named = needed_arguments(emitter, node)
        return users_function(emitter, _OF_ORDERED[name], [owner, *arguments], named)
    if kind.default == "count" and name == "most_common":
        arguments, named = arguments_of(emitter, node)
        return most_common(emitter, owner, *arguments, *named.values())
    is_changed = kind.default == "count" and name in _OF_COUNTERS
    if is_changed and len(node.args) == 1 and not node.keywords:
        return _counted_too(emitter, node, owner, name)
    if kind.default == "count" and name == "elements" and not node.args:
        if emitter.gone_over is not node:
            refuse_iterator(emitter)
        return users_function(emitter, REPLACED["Counter.elements"], [owner])
    if kind.default == "count" and name == "_keep_positive":
        # `Counter.__iadd__` and `__isub__` call it.
        return users_function(emitter, Counter._keep_positive, [owner])  # type: ignore[attr-defined]
    if kind.default == "count" and name not in ("get", "copy", "pop"):
        emitter.refuse(f"Counter.{name}() has no compiled form")
    if name in ("items", "keys", "values"):
        emitter.refuse(f"{name}() has a compiled form only in a loop")
    return None


def _of_other_kind(emitter: Emitter, node: ast.Call, owner: Value, name: str) -> Value | None:
    """Compiles a method of a kind that is no plain Python type; returns None for other kinds."""
    if isinstance(owner.kind, k.Several):
        for of in owner.kind.items[1:]:
            if name in changing_methods(k.form_of(of)):
                emitter.refuse(
                    f"{name}() changes one of several classes, which has no compiled form"
                )
        owners = [of for of in k.classes_of(owner.kind) if hasattr(of, name)]
        if len(owners) == 1 and k.is_plain(owner.kind):
            owner = as_one_of(emitter, owner, *owners, code=row_values.ATTRIBUTE_ERROR)
            return method(emitter, node, owner, name)
        return by_class(emitter, owner, lambda each: method(emitter, node, each, name))
    if isinstance(owner.kind, k.Member):
        return enums.method(emitter, owner, name, *arguments_of(emitter, node))
    if isinstance(owner.kind, Match):
        return method_of_match(emitter, owner, name, *arguments_of(emitter, node))
    is_of_tuple = name in ("count", "index") and isinstance(owner.kind, k.Tuple)
    if is_of_tuple and getattr(k.form_of(owner.kind), name, None) is vars(tuple)[name]:
        read = readable(emitter, owner) if owner.is_constant else listed(emitter, node, owner)
        return method(emitter, node, as_tuple(read), name)
    if isinstance(owner.kind, k.Compound):
        return method_of_row(emitter, node, owner, name)
    return None


@_form("list.append", "set.add")
def _added(emitter: Emitter, node: ast.Call, owner: Value, _name: str) -> Value | None:
    if len(node.args) != 1:
        return None
    add(emitter, owner, (expression(emitter, node.args[0]),))
    return NONE


@_form("list.extend", "set.update")
def _extended(emitter: Emitter, node: ast.Call, owner: Value, _name: str) -> Value | None:
    if all(_is_alike(emitter, owner, part) for part in node.args):
        return None
    items_in_turn(emitter, node.args, lambda value: add(emitter, owner, (value,)))
    return NONE


def _is_alike(emitter: Emitter, owner: Value, node: ast.expr) -> bool:
    """Whether an expression is a container of the same type as the one to which it is added."""
    if is_iterator(emitter, node):
        return False
    with emitter.looking():
        return getattr(expression(emitter, node).kind, "name", "") == owner.kind.name


@_form("dict.update")
def _updated(emitter: Emitter, node: ast.Call, owner: Value, _name: str) -> Value | None:
    """`update` with pairs, and with arguments by name."""
    if len(node.args) > 1 or (node.args and gives_dict(emitter, node.args[0])):
        return None
    pairs: list[ast.expr] = [
        ast.Tuple([ast.Constant(w.arg), w.value], ast.Load()) for w in node.keywords
    ]
    named = derived(node, "named", lambda: ast.Tuple(pairs, ast.Load()))
    items_in_turn(
        emitter,
        [*node.args, named] if pairs else node.args,
        lambda pair: add(emitter, owner, tuple(unpacked(emitter, pair, 2))),
    )
    return NONE


@_form(*(f"set.{name}" for name in COMBINED if isinstance(name, str)))
def _combined(emitter: Emitter, node: ast.Call, owner: Value, name: str) -> Value | None:
    if len(node.args) != 1:
        return None
    combine(emitter, owner, needed(emitter, node.args[0]), COMBINED[name])
    return NONE


@_form(*(f"set.{name}" for name in ("issubset", "issuperset", "union", *{*COMBINED.values()})))
def _with_sets(emitter: Emitter, node: ast.Call, owner: Value, name: str) -> Value | None:
    """A method that takes anything that can be iterated: a set of its items stands for it."""
    if len(node.args) != 1 or _is_alike(emitter, owner, node.args[0]):
        return None
    set_: Any = set
    argument = ast.Call(ast.Constant(set_), node.args, [])
    of_set = derived(node, "of a set", lambda: ast.Call(node.func, [argument], []))
    return method(emitter, of_set, owner, name)


@_form("list.sort")
def _sorted_in_place(emitter: Emitter, node: ast.Call, owner: Value, _name: str) -> Value | None:
    """`list.sort(key=…)`: the items of a sorted list replace those of the list."""
    if not (node.keywords or enums.has_member(owner.kind) or has_own_order(owner.kind, False)):
        return None
    require_changeable(emitter, owner)
    load = standing_for(emitter, node, "unsorted", owner)
    call_node = derived(node, "sorted", lambda: ast.Call(node.func, [load], node.keywords))
    ordered = sorted_list(emitter, call_node)
    emitter.write(f"set_word({owner.code}, get_word({ordered.code}))")
    emitter.write(f"set_word({owner.code} + 16, get_word({ordered.code} + 16))")
    return NONE


@_form("dict.get")
def _got_of_none(emitter: Emitter, node: ast.Call, owner: Value, name: str) -> Value | None:
    """`get` with a key that may be None; no dictionary has None as a key."""
    if len(node.args) > 1 and isinstance(owner.kind, k.Container):
        as_row_beside(emitter, owner.kind.items[-1], node.args[1])
    key = emitter.env.get(getattr(node.args[0], "id", "")) if node.args else None
    if key is None or not isinstance(key.kind, k.Optional) or key.unbound:
        return None

    def there() -> Value:
        emitter.env[node.args[0].id] = inner(key)  # type: ignore[attr-defined]
        return method(emitter, node, owner, name)

    rest = node.args[1:]
    return emitter.chosen(key.none, lambda: expression(emitter, rest[0]) if rest else NONE, there)


_LIKE_ASCII = ("utf-8", "ascii", "iso8859-", "cp125")
"""The prefixes of the names of encodings that contain ASCII unchanged."""


@_form("str.encode", "bytes.decode")
def _coded(emitter: Emitter, node: ast.Call, owner: Value, name: str) -> Value | None:
    """`encode` or `decode` with an encoding.

    Text beyond ASCII is left to Python, except in UTF-8, or where `encode` drops or marks it.
    """
    if not (node.args or node.keywords):
        return None
    arguments, named = needed_arguments(emitter, node)
    parts = dict(zip(("encoding", "errors"), arguments, strict=False)) | named
    encoding = parts.get("encoding", constant("utf-8")).constant
    try:
        known = codecs.lookup(encoding).name
    except (LookupError, TypeError):
        known = ""
    if not known.startswith(_LIKE_ASCII) or (known.startswith("utf-8") and known != "utf-8"):
        kind = k.BYTES if name == "encode" else k.TEXT
        return emitter.left(kind, f"{name}() by an encoding that is not known to begin as ASCII")
    errors = parts.get("errors", constant("strict")).constant
    if known == "ascii" and name == "encode" and errors in ("ignore", "replace"):
        mark = Value(k.INT, str(-1 if errors == "ignore" else ord("?")))
        taken = [emitter.numbers(owner), mark]
        return invoked(emitter, byte_string_methods.encode_ascii, taken, k.BYTES, "str.encode")
    if known != "utf-8":
        is_plain = call(emitter, f"{owner.kind.name}.isascii", [owner])
        emitter.fail_if(
            f"not {emitter.numbers(is_plain).code}", row_values.LEFT, f"{owner.kind}.{name}"
        )
    return call(emitter, f"{owner.kind.name}.{name}", [owner])


@_form("str.format", "str.format_map")
def _formatted(emitter: Emitter, node: ast.Call, owner: Value, name: str) -> Value | None:
    if not owner.is_constant or (name == "format_map" and len(node.args) != 1):
        return None
    if name == "format_map":
        words = ast.keyword(None, node.args[0])
        whole = derived(node, name, functools.partial(ast.Call, node.func, [], [words]))
        node = cast(ast.Call, spread(emitter, whole))
    return rows.formatting.formatted(emitter, owner.constant, *arguments_of(emitter, node))


@_form("str.translate")
def _translated(emitter: Emitter, node: ast.Call, owner: Value, _name: str) -> Value | None:
    if len(node.args) != 1:
        return None
    table = looked_into(emitter, node.args[0])
    if getattr(table.kind, "default", None) == "" and not table.is_constant:
        return users_function(emitter, translated_by, [owner, table])
    return translated(emitter, owner, table.constant if table.is_constant else None)


def _is_table(table: dict[Any, Any]) -> bool:
    """Whether a dictionary has code points, and a text, a code point or None for each."""
    return all(isinstance(key, int) for key in table) and all(
        value is None or isinstance(value, int | str) for value in table.values()
    )


def translated(emitter: Emitter, text: Value, table: Any) -> Value:
    """`text.translate(table)` by a constant table."""
    if isinstance(table, str | list | tuple):
        table = dict(enumerate(table))
    is_plain = isinstance(table, dict) and type(table).__getitem__ is dict.__getitem__
    if not is_plain or hasattr(table, "__missing__") or not _is_table(table):
        return emitter.left(k.TEXT, "str.translate() of a table that depends on the row")
    try:
        texts = {
            code: chr(to) if isinstance(to, int) else "" if to is None else to
            for code, to in ({code: code for code in range(128)} | table).items()
        }
        "".join(texts.values()).encode()
    except (ValueError, OverflowError):
        return emitter.left(k.TEXT, "str.translate() to a number that is no character")
    others = {code: texts.pop(code) for code in table if code >= 128}
    arguments = [
        emitter.numbers(text),
        stored_constant(emitter, [texts[code] for code in range(128)], kind_of),
        stored_constant(emitter, others, kind_of) if others else Value(k.INT, "0"),
    ]
    return invoked(emitter, text_building.translate, arguments, k.TEXT, "str.translate")


@_form("str.join", "bytes.join")
def _joined(emitter: Emitter, node: ast.Call, owner: Value, name: str) -> Value | None:
    if len(node.args) != 1 or node.keywords:
        return None
    listed = node.args[0]
    parts = listed.elts if isinstance(listed, ast.List | ast.Tuple) else []
    if owner.kind == k.TEXT and parts and _are_texts(emitter, parts):
        pieces: list[Any] = [owner, owner] * len(parts)
        pieces[::2] = (functools.partial(needed, emitter, part) for part in parts)
        return rows.formatting.concatenated(emitter, pieces[:-1])
    is_made = isinstance(listed, ast.ListComp) or is_iterator(emitter, listed)
    joined = joined_in_turn(emitter, owner, listed) if owner.kind == k.TEXT and is_made else None
    if joined is not None:
        return joined
    parts_ = as_list(emitter, listed)
    if isinstance(parts_.kind, k.Container) and k.is_plain(k.present(parts_.kind.items[0])):
        parts_ = _texts_among(emitter, node, parts_)
    return call(emitter, f"{owner.kind.name}.{name}", [owner, parts_])


def _texts_among(emitter: Emitter, node: ast.Call, parts: Value) -> Value:
    """Returns values of several types as texts; rows where one is something else are left to Python."""
    texts = new_container(emitter, derived(node, "texts", ast.Pass), "list", 0)

    def take(value: Value) -> None:
        code, text, _ = is_instance(value, str)
        emitter.fail_if(f"not {code}", row_values.LEFT, "str.join")
        add(emitter, texts, (text,))

    items(emitter, standing_for(emitter, node, "parts", parts), take)
    return texts


def _are_texts(emitter: Emitter, nodes: Sequence[ast.expr]) -> bool:
    """Whether all expressions are surely texts; otherwise Python raises once all have been computed."""
    with emitter.looking():
        return all(
            not isinstance(node, ast.Starred) and expression(emitter, node).kind == k.TEXT
            for node in nodes
        )


def _with_default(
    emitter: Emitter, owner: Value, name: str, arguments: list[Value]
) -> Value | None:
    """`get` or `pop` with a default of another kind."""
    if len(arguments) != 2 or has(f"dict.{name}", [owner, *arguments]):
        return None
    key, default = arguments
    key = emitter.numbers(key)
    # The test is not by the result of `get`, as the dictionary may hold None.
    return emitter.chosen(
        emitter.numbers(contained(emitter, key, owner)).code,
        lambda: (
            item(emitter, owner, key) if name == "get" else call(emitter, "dict.pop", [owner, key])
        ),
        lambda: default,
    )


def _with_any_of(emitter: Emitter, owner: Value, name: str, arguments: list[Value]) -> Value | None:
    """`startswith` or `endswith` of a tuple."""
    if not arguments or not isinstance(arguments[0].kind, k.Tuple):
        return None
    full_name, rest = f"{owner.kind.name}.{name}", arguments[1:]
    tests = [
        emitter.numbers(call(emitter, full_name, [owner, part, *rest])).code
        for part in arguments[0].items
    ]
    return Value(k.BOOL, f"({' | '.join(tests)})") if tests else constant(False)


_OF_VALUES: dict[str, Callable[[Emitter, Value, str, list[Value]], Value | None]] = {
    **dict.fromkeys(("dict.get", "dict.pop"), _with_default),
    **{
        f"{kind}.{name}": _with_any_of
        for kind in ("str", "bytes")
        for name in ("startswith", "endswith")
    },
}
"""Functions that compile methods for values that rows do not take; they return None for others."""


_WITH_WHITE_SPACE = ("split", "rsplit", "strip", "lstrip", "rstrip")
"""The methods of text and bytes to which None means white space."""


_OF_ORDERED = {"move_to_end": move_to_end, "popitem": pop_item}
"""The methods of an `OrderedDict` that differ from those of a dictionary."""


_OF_COUNTERS = {"update": 1, "subtract": -1}
"""The factor with which methods of Counters add each item, or its count."""


def _counted_too(emitter: Emitter, node: ast.Call, owner: Value, name: str) -> Value:
    """`update(…)` or `subtract(…)` of a Counter, with counts or with iterables."""
    times = constant(_OF_COUNTERS[name])

    def take(key: Value) -> None:
        key = emitter.numbers(key)
        count = item(emitter, owner, key)
        set_item(emitter, owner, key, operated(emitter, ast.Add(), count, times))

    if gives_dict(emitter, node.args[0]):
        counts = needed(emitter, node.args[0])
        return users_function(emitter, change_counts, [owner, counts, times])
    items_in_turn(emitter, node.args, take)
    return NONE


def method_of_row(emitter: Emitter, node: ast.Call, owner: Value, name: str) -> Value:
    """Compiles a method of a named tuple, a data class, or a dictionary with constant keys."""
    kind = owner.kind
    assert isinstance(kind, k.Compound)
    arguments, named = arguments_of(emitter, node)
    variable = instance_of(emitter, getattr(node.func, "value", None), kind.form)
    given = [*node.args, *node.keywords]
    if (
        variable in emitter.env
        and any(isinstance(part, ast.Call) for each in given for part in ast.walk(each))
        and variable not in stored_names(given)
    ):
        # Evaluating an argument may change it.
        owner = with_attribute(emitter, emitter.read(variable), name)
    if isinstance(kind, k.Uneven):
        if name != "get" or not arguments or named:
            emitter.refuse(f"dict.{name}() of a dictionary whose keys differ has no compiled form")
        lacks, value = field_of_uneven(emitter, owner, arguments[0])
        default = arguments[1] if len(arguments) > 1 else NONE
        return emitter.chosen(lacks, lambda: default, lambda: value)
    if k.is_row(kind):
        if name in VIEWS and not arguments:
            return view_of_row(owner, name)
        if name == "copy" and not arguments:
            # Compiled code does not change the dictionary.
            return owner
        if name == "get" and arguments and not named and isinstance(arguments[0].constant, str):
            if arguments[0].constant in kind.names:
                return owner.items[kind.names.index(arguments[0].constant)]
            return arguments[1] if len(arguments) > 1 else NONE
        if name == "get" and owner.is_constant:
            return method(emitter, node, table_of(emitter, owner), name)
        emitter.refuse(f"dict.{name}() of constant keys has no compiled form")
    is_row = k.is_field_row(kind)
    is_flat = not any(isinstance(k.present(item), k.Compound | k.Container) for item in kind.items)
    # What has no parts of its own is the same with `recursive=True`.
    takes = ["recursive"] if is_row and is_flat else []
    is_plain = not arguments and [*named] in ([], takes)
    if name == ("asDict" if is_row else "_asdict") and kind.names and is_plain:
        return Value(k.tuple_of(kind.items, kind.names, dict), items=owner.items)
    if is_row:
        emitter.refuse(f"{kind.form.__name__}.{name}() has no compiled form")
    if name == "_replace" and isinstance(kind, k.Tuple) and set(named) <= set(kind.names):
        return replaced(emitter, owner, named)
    function = inspect.getattr_static(kind.form, name, None)
    if function is None and hasattr(k.python_class(kind.form), name):
        return emitter.computed(f"{kind}.{name}")
    if isinstance(function, staticmethod):
        return users_function(emitter, function.__func__, arguments, named)
    if isinstance(function, classmethod):
        arguments = [constant(kind.form), *arguments]
        return users_function(emitter, function.__func__, arguments, named)
    if not isinstance(function, types.FunctionType):
        what = f"{kind.form.__name__}.{name}()"
        if k.stands_for_library(kind):
            return emitter.computed(what)
        emitter.refuse(f"{what} has no compiled form")
    if isinstance(kind, k.Record) and name in changing_methods(kind.form):
        return changing_method(emitter, function, owner, variable, arguments, named)[0]
    return users_function(emitter, function, [owner, *arguments], named)
