"""`min`, `max` and `sorted` of anything that can be iterated."""

from __future__ import annotations

import ast
from contextlib import ExitStack
from functools import partial
from typing import Any, cast

from colkern.kernels import row_sorting, row_values
from colkern.rows import kinds as k
from colkern.rows.calls import call, invoked
from colkern.rows.comparisons import compared
from colkern.rows.comprehensions import COMPREHENSIONS, Accumulator, evaluated_first, items, list_of
from colkern.rows.containers import add, new_container
from colkern.rows.emitter import Emitter, derived, standing_for
from colkern.rows.expressions import expression, needed, truth
from colkern.rows.folding import constant
from colkern.rows.functions import applied, users_function
from colkern.rows.iteration import AnyOrder, always, is_iterator
from colkern.rows.library import sorted_by_order
from colkern.rows.methods import raised_by
from colkern.rows.values import Value, tuple_of_values


def extreme(emitter: Emitter, node: ast.Call, name: str) -> Value:
    """`min(…)` and `max(…)` of anything that can be iterated, with `key` and `default`."""
    words = {word.arg: word.value for word in node.keywords}
    if not set(words) <= {"key", "default"} or len(node.args) != 1:
        emitter.refuse(f"{name}() with such arguments has no compiled form")
    best = Accumulator(emitter, node, Value(k.NEVER))
    best_key = best if "key" not in words else Accumulator(emitter, words["key"], Value(k.NEVER))
    empty = emitter.copy("True")
    operation = ast.Lt() if name == "min" else ast.Gt()
    sets: list[k.Kind] = []

    def take(value: Value) -> None:
        value = emitter.numbers(value)
        key = value if "key" not in words else applied(emitter, words["key"], [value])
        key = emitter.numbers(emitter.plain(key))
        best.set(value) if best.value.kind == k.NEVER else None
        best_key.set(key) if best_key.value.kind == k.NEVER else None
        if sets and best_key is not best:
            leave = partial(_leave_alike, emitter, key, best_key)
            emitter.branch(empty, lambda: None, leave)
        better = emitter.chosen(
            empty, lambda: constant(True), lambda: compared(emitter, operation, key, best_key.get())
        )

        def keep() -> None:
            best.set(value)
            if best_key is not best:
                best_key.set(key)

        emitter.branch(emitter.numbers(better).code, keep, lambda: None)
        emitter.write(f"{empty} = False")

    # The items are computed before the default and any key, unless they come from a generator.
    is_first = "default" in words and is_iterator(emitter, node.args[0])
    default = expression(emitter, words["default"]) if is_first else None
    with ExitStack() as stack:
        source = node.args[0]
        if isinstance(source, ast.ListComp) and "key" in words:
            source = stack.enter_context(evaluated_first(emitter, source))
        items(emitter, source, take, any_order=_noting(sets))
    if "default" in words:
        other = default or expression(emitter, words["default"])
        return emitter.chosen(empty, lambda: other, best.get)
    message = raised_by(min if name == "min" else max, [])
    emitter.fail_if(empty, row_values.VALUE_ERROR, f"{name}() of nothing", message)
    return best.get()


def sorted_list(emitter: Emitter, node: ast.Call) -> Value:
    """`sorted(…)`, with `key` and `reverse`."""
    words = {word.arg: word.value for word in node.keywords}
    sets: list[k.Kind] = []
    if "key" in words:
        list_ = new_container(emitter, node, "list", 0)

        def take(value: Value) -> None:
            value = emitter.numbers(value)
            key = emitter.numbers(emitter.plain(applied(emitter, words["key"], [value])))
            add(emitter, list_, (tuple_of_values((key, value)),))

        source = node.args[0]
        if isinstance(source, COMPREHENSIONS):
            # All items are computed before the first key.
            source = standing_for(emitter, source, "items", list_of(emitter, source))
        items(emitter, source, take, any_order=_noting(sets))
    else:
        list_ = list_of(emitter, node.args[0], any_order=always)
        of: Any = list_.kind
        if isinstance(of.items[0], k.Member) and issubclass(of.items[0].form, int):
            members, number = (
                standing_for(emitter, node, "members", list_),
                ast.Constant(cast(Any, int)),
            )
            by_number = [*node.keywords, ast.keyword("key", number)]
            make = partial(ast.Call, node.func, [members], by_number)
            return sorted_list(emitter, derived(node, "by number", make))
    reverse = needed(emitter, words["reverse"]) if "reverse" in words else constant(False)
    by_key = "key" in words
    if has_own_order(list_.kind, by_key) and not sets:
        return users_function(emitter, sorted_by_order, [list_, reverse, constant(by_key)])
    return _sorted(emitter, list_, truth(emitter, reverse), by_key, node, bool(sets))


def has_own_order(kind: Any, by_key: bool) -> bool:
    """Whether the items of a list, or the keys of its pairs, are compared as lists or instances are.

    A list behind another part of a tuple is seldom compared: then the row is left.
    """
    of = kind.items[0].items[0] if by_key else kind.items[0]
    first = of
    while isinstance(first, k.Tuple) and first.items:
        first = first.items[0]
    is_list = isinstance(first, k.Container) and first.name == "list"
    return is_list or any(isinstance(part, k.Record) for part in k.parts_of(of))


def _sorted(
    emitter: Emitter, list_: Value, reverse: Value, by_key: bool, node: ast.Call, is_set: bool
) -> Value:
    """Returns a list in order. Items of a set must have different keys, as their order is unknown."""
    kind = k.container(list_.kind)
    if kind.items[0] == k.NEVER:
        return list_
    flag = emitter.numbers(reverse).code
    if not by_key:
        return call(emitter, "sorted", [list_], {"reverse": Value(k.BOOL, flag)})
    pair = kind.items[0]
    assert isinstance(pair, k.Tuple)
    # The layout of the items determines what is compared: the key, which the value's words follow.
    bindings = {"T": k.Tuple("tuple", pair.words, items=pair.items[:1])}
    invoked(emitter, row_sorting.sort, [list_, Value(k.BOOL, flag)], k.INT, "sorted", bindings)
    result = new_container(emitter, node.args[0], "list", 0)
    name = emitter.fresh("pairs")
    emitter.env[name] = list_
    load = ast.copy_location(ast.Name(name, ast.Load()), node)
    previous = Accumulator(emitter, node, Value(k.NEVER), "previous")
    first = emitter.copy("True")

    def take(item: Value) -> None:
        if is_set:
            emitter.branch(
                first, lambda: None, lambda: _leave_alike(emitter, item.items[0], previous)
            )
            previous.set(item.items[0])
            emitter.write(f"{first} = False")
        add(emitter, result, (item.items[1],))

    items(emitter, load, take)
    return result


def _noting(sets: list[k.Kind]) -> AnyOrder:
    """Accepts the items of a set in any order, and records that there is a set."""

    def any_order(kind: k.Kind) -> bool:
        sets.append(kind)
        return True

    return any_order


def _leave_alike(emitter: Emitter, key: Value, previous: Accumulator) -> None:
    """Leave the row if two items of a set have equal keys, as only Python knows which comes first."""
    if previous.value.kind == k.NEVER:
        previous.set(key)
    test = emitter.numbers(compared(emitter, ast.Eq(), key, previous.get()))
    emitter.fail_if(test.code, row_values.LEFT, "items of a set that have the same key")
