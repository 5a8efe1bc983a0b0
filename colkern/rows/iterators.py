"""Iterators that have a name: `iter(…)`, generator expressions, `map(…)`, `itertools.cycle(…)` and others.

An iterator is a list of its items, which are computed when it is made, and the address of a word: the place
of the next one. Whoever has the iterator reads on from there, as in Python.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from colkern import rows
from colkern.kernels import row_values
from colkern.rows import kinds as k
from colkern.rows.calls import call
from colkern.rows.emitter import Emitter
from colkern.rows.iteration import ENDLESS, Source, builtin_of, known_object, refuse_iterator
from colkern.rows.scopes import stored_names
from colkern.rows.values import Value, tuple_of_values

_NAMES = ("<items>", "<place>")


def has_place(value: Value) -> bool:
    """Whether a value is an iterator that has a name."""
    return getattr(value.kind, "form", None) in k.ITERATORS


def new_iterator(emitter: Emitter, node: ast.expr) -> Value:
    """Compiles an expression that makes an iterator."""
    form: type = Iterator
    source = node
    function = known_object(emitter, node.func) if isinstance(node, ast.Call) else None
    if isinstance(node, ast.Call) and function in (iter, itertools.cycle):
        form = Iterator if function is iter else itertools.cycle
        if len(node.args) != 1 or node.keywords:
            emitter.refuse("iter() of a function has no compiled form")
        source = node.args[0]
    elif isinstance(function, type) and not builtin_of(emitter, node):
        emitter.refuse(f"{function.__name__}() has no compiled form: it is an iterator of its own")
    parts = (part for part in ast.walk(source) if isinstance(part, ast.expr))
    if any(builtin_of(emitter, part) in ENDLESS for part in parts):
        refuse_iterator(emitter)
    outer, read_later = emitter.changing, len(emitter.read_later)
    emitter.changing = {*outer, *_assigned_later(emitter, node)}
    with emitter.ahead():
        items = rows.comprehensions.as_list(emitter, source)
    emitter.changing = outer
    emitter.read_later += k.containers_in(items.kind)
    emitter.read_by_name += emitter.read_later[read_later:]
    place = emitter.copy("allocate(arena, 8)")
    emitter.fail_if(f"{place} == 0", row_values.NO_ROOM, "the arena")
    emitter.write(f"set_word({place}, 0)")
    return tuple_of_values((items, Value(k.INT, place)), _NAMES, form)


def _assigned_later(emitter: Emitter, iterator: ast.expr) -> set[str]:
    """Returns the variables that may change between the evaluation of an iterator and that of its items."""
    names = set(emitter.shared)
    for node in ast.walk(ast.Module(emitter.definition.body, [])):
        is_around = isinstance(node, _ASSIGNING) and iterator in ast.walk(node)
        if is_around or (isinstance(node, _STATEMENTS) and _place(node) > _place(iterator)):
            names |= stored_names([node])
    return names


_STATEMENTS = (ast.stmt, ast.ExceptHandler)
_ASSIGNING = (ast.For, ast.While, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def items_left(emitter: Emitter, iterator: Value) -> Source:
    """Returns the items that an iterator has not given yet."""
    if emitter.is_ahead or emitter.yielded is not None:
        emitter.refuse("an iterator that another one reads has no compiled form")
    assert isinstance(iterator.kind, k.Compound)
    items, place = iterator.items[0], iterator.items[1].code
    size = call(emitter, "len", [items]).code
    cycles = iterator.kind.form is itertools.cycle

    def item() -> Value:
        at = emitter.copy(f"get_word({place})")
        after = f"{at} + 1 if {at} + 1 < {size} else 0" if cycles else f"{at} + 1"
        emitter.write(f"set_word({place}, {after})")
        return emitter.numbers(rows.containers.item(emitter, items, Value(k.INT, at)))

    more = f"{size} > 0" if cycles else f"get_word({place}) < {size}"
    return Source(more, item, is_shared=True)
