"""`collections.deque` in row functions: a list with other methods, and possibly a maximum length."""

from __future__ import annotations

import ast
from dataclasses import replace

from colkern.rows import kinds as k
from colkern.rows.calls import call
from colkern.rows.comprehensions import items, items_in_turn
from colkern.rows.containers import add, fitting, new_container
from colkern.rows.emitter import Emitter
from colkern.rows.expressions import arguments_by_name, expression, needed
from colkern.rows.folding import constant
from colkern.rows.functions import users_function
from colkern.rows.library import rotate
from colkern.rows.values import NONE, Value


def new_deque(emitter: Emitter, node: ast.Call) -> Value:
    """`deque()`, `deque(…)` and `deque(…, maxlen)`."""
    arguments = arguments_by_name(emitter, node, "iterable", "maxlen")
    bound = expression(emitter, arguments["maxlen"]).constant if "maxlen" in arguments else None
    if bound is not None and (not isinstance(bound, int) or bound < 1):
        emitter.refuse("deque() has a compiled form with a constant as `maxlen`, of at least 1")
    deque = new_container(emitter, node, "list", 0, most=k.UNBOUNDED if bound is None else bound)
    if "iterable" in arguments:
        items(emitter, arguments["iterable"], lambda value: _append(emitter, deque, value))
    return deque


def method_of_deque(emitter: Emitter, node: ast.Call, owner: Value, name: str) -> Value:
    """Compiles a method of a deque."""
    as_list = _as_list(owner)
    if name in ("extend", "extendleft") and len(node.args) == 1:
        push = _append if name == "extend" else _append_left
        items_in_turn(emitter, node.args, lambda value: push(emitter, owner, value))
        return NONE
    arguments = [needed(emitter, part) for part in node.args]
    if name in ("append", "appendleft") and len(arguments) == 1:
        (_append if name == "append" else _append_left)(emitter, owner, arguments[0])
        return NONE
    if name in ("pop", "popleft") and not arguments:
        return call(emitter, "list.pop", [as_list, constant(-1 if name == "pop" else 0)])
    if name == "rotate":
        return users_function(emitter, rotate, [as_list, *arguments])
    if name == "copy":
        return replace(call(emitter, "list.copy", [as_list]), kind=owner.kind)
    if name not in ("clear", "count", "index", "remove", "reverse"):
        emitter.refuse(f"deque.{name}() has no compiled form")
    return call(emitter, f"list.{name}", [as_list, *arguments])


def _as_list(deque: Value) -> Value:
    return replace(deque, kind=replace(k.container(deque.kind), most=0))


def _append(emitter: Emitter, deque: Value, value: Value) -> None:
    add(emitter, _as_list(deque), (value,))
    _drop(emitter, deque, 0)


def _append_left(emitter: Emitter, deque: Value, value: Value) -> None:
    as_list = _as_list(deque)
    arguments = fitting(emitter, as_list, "insert", [constant(0), value])
    call(emitter, "list.insert", [as_list, *arguments])
    _drop(emitter, deque, -1)


def _drop(emitter: Emitter, deque: Value, place: int) -> None:
    """Remove the item at the other end if a deque exceeds its maximum length."""
    kind, as_list = k.container(deque.kind), _as_list(deque)
    if kind.most < k.UNBOUNDED:
        size = call(emitter, "len", [as_list])
        with emitter.within(f"if {size.code} > {kind.most}:"):
            call(emitter, "list.pop", [as_list, constant(place)])
