"""Containers in row functions: displays, items, membership, and loops over them."""

from __future__ import annotations

import ast
import operator
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

from colkern import rows
from colkern.kernels import row_dicts, row_lists, row_values
from colkern.rows import enums
from colkern.rows import kinds as k
from colkern.rows.calls import as_tuple, call, has, invoked, require_changeable
from colkern.rows.comparisons import equal
from colkern.rows.constants import base_of, kind_of, table_kind
from colkern.rows.documents import as_key, as_looked_up
from colkern.rows.emitter import Emitter, derived, standing_for
from colkern.rows.expressions import expression, iterated, truth
from colkern.rows.folding import constant, evaluated
from colkern.rows.iteration import AnyOrder, Source, never
from colkern.rows.kinds import SEQUENCES, Container
from colkern.rows.library import REPLACED, replace_items, replace_slice
from colkern.rows.literals import stored_constant
from colkern.rows.matches import Match, group
from colkern.rows.several import as_one_of, by_class
from colkern.rows.values import (
    NONE,
    UNKNOWN,
    Value,
    inner,
    loaded,
    of_parts,
    stored,
    tuple_of_values,
)


def item(emitter: Emitter, container: Value, place: Value) -> Value:
    """`container[place]`."""
    if (result := rows.functions.special(emitter, "__getitem__", container, place)) is not None:
        return result
    if isinstance(container.kind, Match):
        return group(emitter, container, place)
    if isinstance(container.kind, k.Uneven):
        lacks, value = field_of_uneven(emitter, container, place)
        emitter.fail_if(lacks, row_values.KEY_ERROR, f"the key {place.constant!r}")
        return value
    if isinstance(container.kind, k.Tuple) and not container.is_constant:
        return _tuple_item(emitter, container, place)
    if type(container.constant) is Counter:
        return call(emitter, "dict.get", [readable(emitter, container), place, constant(0)])
    if isinstance(container.constant, defaultdict):
        entry = call(emitter, "dict.get", [readable(emitter, container), place])
        # Only Python can call the factory of a `defaultdict`.
        emitter.fail_if(entry.none, row_values.LEFT, "a key that a global dictionary lacks")
        return inner(entry)
    if container.is_constant and place.is_constant:
        return evaluated(emitter, operator.getitem, container.constant, place.constant)
    plain = ("", "ordered", *SEQUENCES)
    if isinstance(container.kind, Container) and container.kind.default not in plain:
        return _item_or_default(emitter, container, place, container.kind.default)
    value = readable(emitter, container)
    if k.is_row(value.kind) and value.is_constant:
        value = table_of(emitter, value)
    return call(emitter, "[]", [value, place])


def _item_or_default(emitter: Emitter, container: Value, place: Value, default: str) -> Value:
    """Compiles `[]` of a `defaultdict` or a `Counter`."""
    zeros: dict[str, Value] = {"str": constant(""), "float": constant(0.0)}
    value = zeros.get(default, constant(0))
    if default in ("list", "set"):
        value = new_container(emitter, emitter.node, default, 0)
    name = "get" if default == "count" else "setdefault"
    return call(
        emitter,
        f"dict.{name}",
        [container, *fitting(emitter, container, "setdefault", [place, value])],
    )


def counter(emitter: Emitter, node: ast.Call, entries: Value) -> Value:
    """`Counter(…)` of a list."""
    kind = k.container(entries.kind)
    key = kind.items[0]
    if key == k.NEVER:
        return new_container(emitter, node, "dict", 0, "count")
    counted = invoked(emitter, row_dicts.count_items, [entries], k.INT, "Counter", {"K": key})
    return Value(Container("dict", items=(key, k.INT), default="count"), counted.code)


def most_common(emitter: Emitter, owner: Value, most: Value = NONE) -> Value:
    """`Counter.most_common(…)`."""
    kind = k.container(owner.kind)
    key, value = kind.items
    if value not in (k.INT, k.NEVER):
        emitter.refuse(f"most_common() of counts that are {value} has no compiled form")
    count = emitter.numbers(most if most.kind != k.NONE else constant((1 << 63) - 1))
    pairs = k.list_of(k.tuple_of((key, k.INT)))
    arguments = [owner, emitter.converted(count, k.INT)]
    return invoked(emitter, row_dicts.most_common, arguments, pairs, "Counter", {"K": key})


def readable(emitter: Emitter, container: Value) -> Value:
    """Returns a container whose items can be read; a constant one is placed in memory."""
    if isinstance(container.constant, tuple | list | range):
        if isinstance(container.constant, list) and base_of(type(container.constant)) is None:
            emitter.refuse(f"{type(container.constant).__name__} has methods of its own to read it")
        return stored_constant(emitter, list(container.constant), kind_of)
    return emitter.numbers(container)


def table_of(emitter: Emitter, row: Value) -> Value:
    """Returns a constant dictionary with constant keys for look-ups by a key that the row has."""
    return replace(stored_constant(emitter, row.constant, table_kind), constant=UNKNOWN)


def _tuple_item(emitter: Emitter, container: Value, place: Value) -> Value:
    assert isinstance(container.kind, k.Tuple)
    key = place.constant
    is_row = k.is_row(container.kind)
    if is_row or (k.is_field_row(container.kind) and isinstance(key, str)):
        if key not in container.kind.names:
            has = "dictionary has the keys" if is_row else "row has the fields"
            asked = repr(key) if place.is_constant else "this key, which the row decides"
            emitter.refuse(f"the {has} {', '.join(container.kind.names)}, and not {asked}")
        return container.items[container.kind.names.index(key)]
    if isinstance(key, int) and -len(container.items) <= key < len(container.items):
        return container.items[key]
    if not place.is_constant:
        items = as_tuple(rows.comprehensions.listed(emitter, emitter.node, container))
        return call(emitter, "[]", [items, place])
    return emitter.refuse(f"a tuple of {len(container.items)} has no item {key!r}")


def field_of_uneven(emitter: Emitter, row: Value, key: Value) -> tuple[str, Value]:
    """Returns the code that is true where a dictionary lacks a constant key, and its value elsewhere."""
    assert isinstance(row.kind, k.Uneven)
    if not key.is_constant:
        emitter.refuse("the key of a dictionary whose keys differ has to be constant")
    if key.constant not in row.kind.names:
        return "True", Value(k.NEVER)
    field = row.items[row.kind.names.index(key.constant)]
    return (field.items[0].code, field.items[1]) if k.is_unset(field.kind) else ("False", field)


def contained(emitter: Emitter, value: Value, container: Value) -> Value:
    """`value in container`."""
    if k.is_plain(container.kind):
        return by_class(emitter, container, lambda each: contained(emitter, value, each))
    value = as_looked_up(emitter, value, container)
    if value.kind == k.CONTENT and container.kind == k.list_of(k.DOCUMENT):
        value = emitter.converted(value, k.DOCUMENT)
    if k.is_plain(value.kind):
        return by_class(emitter, value, lambda each: contained(emitter, each, container))
    if (result := rows.functions.special(emitter, "__contains__", container, value)) is not None:
        return truth(emitter, result)
    if (flags := enums.of_flags(emitter, "in", value, container)) is not None:
        return flags
    is_hashed = container.kind.name in ("dict", "set") or k.is_row(container.kind)
    if (is_hashed or isinstance(container.constant, _HASHED)) and not k.is_hashable(value.kind):
        emitter.refuse(f"{value.kind} is not hashable")
    if isinstance(container.kind, k.Uneven):
        return Value(k.BOOL, f"(not {field_of_uneven(emitter, container, value)[0]})")
    if container.kind == k.NONE:
        emitter.fail(row_values.TYPE_ERROR, "None where a container is needed")
        return Value(k.NEVER)
    container = iterated(emitter, container)
    if k.is_field_row(container.kind):
        names = getattr(container.constant, "__fields__", container.kind.names)
        container = constant(tuple(names)) if names else container
    if value.is_constant and container.is_constant:
        return evaluated(emitter, operator.contains, container.constant, value.constant)
    if container.is_constant and isinstance(container.constant, range):
        return _in_range(emitter, value, container.constant)
    if container.is_constant and not isinstance(container.constant, str | bytes):
        is_set = isinstance(container.constant, set | frozenset)
        # The order of a set differs from process to process, and the source would differ as well.
        items = sorted(container.constant, key=repr) if is_set else list(container.constant)
        if len(items) <= FEW or isinstance(container.constant, tuple | list):
            return _one_of(emitter, value, [constant(item) for item in items])
        return call(emitter, "in", [value, emitter.numbers(container)])
    if isinstance(container.kind, k.Tuple):
        return _one_of(emitter, value, list(container.items))
    if isinstance(container.kind, Container) and isinstance(container.kind.items[0], k.Optional):
        value = emitter.converted(value, container.kind.items[0])
    elif value.kind == k.NONE and isinstance(container.kind, Container):
        return constant(False)
    return call(emitter, "in", [value, container])


_HASHED = (dict, set, frozenset)
"""The containers that look for a value by its hash."""


def _in_range(emitter: Emitter, value: Value, inside: range) -> Value:
    """Compiles `value in range(…)` for a constant range."""
    value = emitter.signed(value)
    if value.kind.name not in ("int", "bool", "float"):
        return constant(False)
    if not inside:
        return constant(False)
    low, high = sorted((inside[0], inside[-1]))
    number = emitter.bind(value.code)
    tests = [f"({number} >= {low})", f"({number} <= {high})"]
    if value.kind.name == "float" or abs(inside.step) != 1:
        code = emitter.converted(value, k.FLOAT).code if value.kind.name == "float" else number
        tests.append(f"(({code} - {low}) % {abs(inside.step)} == 0)")
    return Value(k.BOOL, f"({' & '.join(tests)})")


FEW = 4
"""Up to this number, constants are compared one by one; more are looked up in a table."""


def _one_of(emitter: Emitter, value: Value, items: Sequence[Value]) -> Value:
    may_be_one = any(item.kind.name == "float" and not item.is_constant for item in items)
    if may_be_one and value.kind.name == "float" and not value.is_constant:
        # Python finds the same object, even one that does not equal itself.
        emitter.leave_if(f"{value.code} != {value.code}", "NaN looked for among values")
    tests = [equal(emitter, value, item) for item in items]
    if any(test.constant is True for test in tests):
        return constant(True)
    codes = [test.code for test in tests if not test.is_constant]
    return Value(k.BOOL, f"({' | '.join(codes)})") if codes else constant(False)


def _require_count(emitter: Emitter, size: Value, count: int) -> None:
    """Raise where a list with a number of items is assigned to another number of targets."""
    too_many = f"too many values to unpack (expected {count})"
    too_few = f"not enough values to unpack (expected {count}, got {{}})"
    reason = f"not {count} values to unpack"
    test = f"{size.code} < {count}"
    message = partial(rows.formatting.formatted, emitter, too_few, [size], {})
    emitter.fail_if(test, row_values.VALUE_ERROR, reason, message)
    # From Python 3.14 on, the text has the number of items for some containers.
    text = too_many if sys.version_info < (3, 14) else None
    emitter.fail_if(f"{size.code} > {count}", row_values.VALUE_ERROR, reason, text)


def unpacked(emitter: Emitter, value: Value, count: int) -> Sequence[Value]:
    """Returns the items of a value that is assigned to `count` targets."""
    value = as_one_of(emitter, iterated(emitter, emitter.plain(value)), list, str)
    if value.kind == k.NEVER:
        return [value] * count
    if isinstance(value.constant, tuple | list | str):
        if len(value.constant) != count:
            emitter.refuse(f"{len(value.constant)} values for {count} targets")
        return [constant(item) for item in value.constant]
    if isinstance(value.kind, k.Tuple):
        if len(value.items) != count:
            emitter.refuse(f"{len(value.items)} values for {count} targets")
        return value.items
    if value.kind == k.TEXT:
        value = call(emitter, "list", [value])
    if value.kind == k.BYTES:
        size = call(emitter, "len", [value])
        emitter.fail_if(
            f"{size.code} != {count}", row_values.VALUE_ERROR, f"not {count} values to unpack"
        )
        return [call(emitter, "[]", [value, constant(number)]) for number in range(count)]
    if isinstance(value.kind, Container) and value.kind.name == "list":
        size = call(emitter, "len", [value])
        _require_count(emitter, size, count)
        (kind,) = value.kind.items
        place = emitter.copy(f"get_word({value.code})")
        return [
            emitter.bind_value(kind, loaded(kind, place, number * kind.words))
            for number in range(count)
        ]
    return emitter.refuse(f"{value.kind} assigned to {count} targets has no compiled form")


# Displays


def display(emitter: Emitter, node: ast.List | ast.Set | ast.Dict) -> Value:
    """Compiles `[…]`, `{…}` and `{…: …}`."""
    if isinstance(node, ast.Dict):
        return _dict_display(emitter, node)
    if any(isinstance(item, ast.Starred) for item in node.elts):
        return expression(emitter, derived(node, "sum of parts", lambda: _sum_of_parts(node)))
    items = [(emitter.numbers(expression(emitter, item)),) for item in node.elts]
    return _new(emitter, node, "list" if isinstance(node, ast.List) else "set", items)


def _new(
    emitter: Emitter, node: ast.expr, name: str, entries: Sequence[tuple[Value, ...]]
) -> Value:
    """Makes a container with items, or keys and values; if all are constants, as a copy of a constant."""
    if len(entries) >= FEWEST_COPIED and all(part.is_constant for each in entries for part in each):
        with emitter.looking():
            kind = new_container(emitter, node, name, 0).kind
            for entry in entries:
                widen(emitter, Value(kind, ""), entry)
        constants = [tuple(part.constant for part in entry) for entry in entries]
        whole: Any = dict(constants) if name == "dict" else [item for (item,) in constants]
        whole = set(whole) if name == "set" else whole
        kinds = {tuple(part.kind for part in entry) for entry in entries}
        # Containers within a copy would be shared by all rows.
        is_flat = len([*k.containers_in(kind)]) == 1 and kinds == {kind.items}  # type: ignore[attr-defined]
        if is_flat and kind_of(whole).items == kind.items:  # type: ignore[attr-defined]
            table = stored_constant(emitter, whole, kind_of)
            return of_parts(kind, call(emitter, f"{name}.copy", [table]).parts)
    container = new_container(emitter, node, name, len(entries))
    for entry in entries:
        add(emitter, container, entry)
    return container


FEWEST_COPIED = 3
"""A display of fewer constants is not slower when its items are added one by one."""


def _sum_of_parts(node: ast.List | ast.Set) -> ast.expr:
    """Rewrites `[*a, b]` as `list(a) + [b]`."""
    parts: list[ast.expr] = []
    for item in node.elts:
        if isinstance(item, ast.Starred):
            parts.append(_made_of(list, item.value))
        elif parts and isinstance(parts[-1], ast.List):
            parts[-1].elts.append(item)
        else:
            parts.append(ast.List([item], ast.Load()))
    total = reduce(lambda left, right: ast.BinOp(left, ast.Add(), right), parts)
    return total if isinstance(node, ast.List) else _made_of(set, total)


def _made_of(type_: Any, items: ast.expr) -> ast.expr:
    return ast.Call(ast.Constant(type_), [items], [])


def _dict_display(emitter: Emitter, node: ast.Dict) -> Value:
    entries: list[tuple[Value, Value]] = []
    functions: dict[Any, Any] = {}
    dict_: Value | None = None

    def with_entries() -> Value:
        added = [(emitter.numbers(key), value) for key, value in entries]
        entries.clear()
        if dict_ is None:
            return _new(emitter, node, "dict", added)
        for entry in added:
            add(emitter, dict_, entry)
        return dict_

    for key_node, item_node in zip(node.keys, node.values, strict=True):
        key = NONE if key_node is None else expression(emitter, key_node)
        value = expression(emitter, item_node)
        if key_node is not None and key.is_constant and k.is_function(value.constant):
            functions[key.constant] = value.constant
            continue
        value = emitter.numbers(value)
        if key_node is not None:
            entries.append((key, value))
            continue
        value = as_one_of(emitter, emitter.plain(value), dict)
        if k.is_row(value.kind):
            entries += zip(map(constant, value.kind.names), value.items, strict=True)  # type: ignore[attr-defined]
        elif getattr(value.kind, "name", "") == "dict":
            # It is copied now, since a later expression may change it.
            dict_ = with_entries()
            add_all(emitter, dict_, node, value)
        else:
            emitter.refuse(f"`**` of {value.kind} has no compiled form")
    if functions and (entries or dict_ is not None):
        emitter.refuse("a dictionary of functions and other values has no compiled form")
    if functions:
        return Value(k.Kind("object", 0), constant=functions)
    names = [key.constant for key, _ in entries]
    is_row = dict_ is None and names and all(isinstance(name, str) for name in names)
    common: k.Kind | None = k.NEVER
    for _, value in entries:
        common = common and k.joined(common, value.kind)
    if is_row and (id(node) in emitter.rows or common is None):
        row = dict(zip(names, (value for _, value in entries), strict=True))
        return tuple_of_values(row.values(), tuple(row), dict)
    return with_entries()


def add_all(emitter: Emitter, dict_: Value, node: ast.expr, other: Value) -> None:
    """Add the keys and values of another dictionary."""
    view = ast.Attribute(standing_for(emitter, node, "other", other), "items", ast.Load())
    pairs = derived(node, "items", lambda: ast.Call(view, [], []))
    rows.comprehensions.items(
        emitter, pairs, lambda value: add(emitter, dict_, tuple(unpacked(emitter, value, 2)))
    )


def with_item(emitter: Emitter, row: Value, key: Any, value: Value) -> Value:
    """Returns a dictionary with constant keys, with a value changed or a key added."""
    if not isinstance(key, str):
        emitter.refuse(f"a dictionary with constant keys has texts as keys, not {key!r}")
    assert isinstance(row.kind, k.Compound)
    items = dict(zip(row.kind.names, row.items, strict=True))
    items[key] = emitter.numbers(value)
    return tuple_of_values(items.values(), tuple(items), dict)


def new_container(
    emitter: Emitter, node: ast.AST, name: str, room: int, default: str = "", most: int = 0
) -> Value:
    """Writes a new list, set or dictionary; its items are widened as needed.

    Args:
        node: The node that identifies it.
        name: "list", "set" or "dict".
        room: The number of items for which it has room at first.
        default: The treatment of missing keys, see `Container.default`.
        most: The largest number of items, for a list that represents a deque; 0 for a list.
    """
    count = 2 if name == "dict" else 1
    kinds = tuple(emitter.widened.get((id(node), number), k.NEVER) for number in range(count))
    sites = frozenset({id(node)})
    owners = emitter.program.owners.setdefault(id(node), [])
    if not any(own is emitter.widened for own in owners):
        owners.append(emitter.widened)
    kind = Container(name, items=kinds, default=default, sites=sites, most=most)
    body, more = (
        (row_lists.new_list, f", {max(room, 4)}") if name == "list" else (row_dicts.new_dict, "")
    )
    text = f"{emitter.use(body)}(arena, {kinds[0].words}{more})"
    header = emitter.copy(text)
    emitter.fail_if(f"{header} == 0", row_values.NO_ROOM, "the arena")
    return Value(kind, header)


def widen(emitter: Emitter, container: Value, values: Sequence[Value]) -> list[Value]:
    """Returns values as items of a container; if they do not fit, its items are made wider."""
    kind = k.container(container.kind)
    require_changeable(emitter, container)
    fitting = []
    if kind.name != "list":
        values = [as_key(emitter, values[0]), *values[1:]]
    for number, (has_kind, value) in enumerate(zip(kind.items, values, strict=True)):
        is_known = kind.sites and k.ELSEWHERE not in kind.sites
        if not is_known and k.joined(*k.all_signed((has_kind, value.kind))) != has_kind:
            emitter.refuse(f"{value.kind} added to a {kind}")
        for site in kind.sites:
            emitter.require_kind((site, number), has_kind, value.kind)
        fitting.append(emitter.converted(value, has_kind))
    return fitting


def add(emitter: Emitter, container: Value, values: Sequence[Value]) -> None:
    """Add an item to a list or set, or a key and its value to a dictionary."""
    emitter.require_sound()
    kind = k.container(container.kind)
    values = widen(emitter, container, [emitter.numbers(value) for value in values])
    if kind.name == "list":
        append = emitter.use(row_lists.append_place)
        place = emitter.copy(f"{append}(arena, {kind.items[0].words}, {container.code})")
        emitter.fail_if(f"{place} == 0", row_values.NO_ROOM, "the arena")
    else:
        call(emitter, "set.add" if kind.name == "set" else "[]=", [container, *values])
        return
    for line in stored(kind.items[0], place, values[0]):
        emitter.write(line)


_ADDED = {("list", "insert"): (1,), ("dict", "setdefault"): (0, 1)}
"""The positions of the arguments of a method that become items, keys or values."""


def fitting(
    emitter: Emitter, container: Value, name: str, arguments: Sequence[Value]
) -> Sequence[Value]:
    """Returns the arguments of a method as a container takes them; widens its items if necessary."""
    places = _ADDED.get((container.kind.name, name), ())
    if not places or len(arguments) <= places[-1]:
        return arguments
    given = [emitter.numbers(value) for value in arguments]
    values = widen(emitter, container, [given[place] for place in places])
    for place, value in zip(places, values, strict=True):
        given[place] = value
    return given


def set_item(emitter: Emitter, container: Value, place: Value, value: Value) -> None:
    """`container[place] = value`."""
    kind = container.kind
    if rows.functions.special(emitter, "__setitem__", container, place, value) is not None:
        return
    if k.is_row(kind):
        emitter.refuse(
            "a dictionary with constant keys does not change; make one: {**row, 'key': …}"
        )
    if not isinstance(kind, Container):
        require_changeable(emitter, container)
        emitter.refuse(f"an assignment to an item of {kind} has no compiled form")
    value = emitter.numbers(value)
    if kind.name == "dict":
        add(emitter, container, (place, value))
        return
    (value,) = widen(emitter, container, [value])
    call(emitter, "[]=", [container, emitter.converted(place, k.INT), value])


def set_slice(emitter: Emitter, container: Value, cut: ast.Slice, value: Value) -> None:
    """`container[i:j] = value`."""
    kind = container.kind
    parts = (cut.lower, cut.upper, *([cut.step] if cut.step else []))
    bounds = [expression(emitter, part) if part else NONE for part in parts]
    own = (
        None
        if cut.step
        else rows.functions.special(emitter, "_set_slice_", container, *bounds, value)
    )
    if own is not None:
        return
    if not isinstance(kind, Container) or kind.name != "list" or kind.most:
        emitter.refuse("an assignment to such a slice has no compiled form")
    replace_them = replace_items if cut.step else replace_slice
    rows.functions.users_function(emitter, replace_them, [container, *bounds, value])


def delete_item(emitter: Emitter, container: Value, place: Value) -> None:
    """`del container[place]`; a `Counter` may lack the key."""
    if rows.functions.special(emitter, "__delitem__", container, place) is not None:
        return
    is_counter = getattr(container.kind, "default", "") == "count"
    others = [constant(0)] if is_counter else []
    call(emitter, f"{container.kind.name}.pop", [container, place, *others])


COMBINED: dict[Any, str] = {
    ast.Sub: "difference",
    ast.BitAnd: "intersection",
    ast.BitXor: "symmetric_difference",
    "difference_update": "difference",
    "intersection_update": "intersection",
    "symmetric_difference_update": "symmetric_difference",
}
"""For each operator and method that changes a set, the method whose result replaces the set."""


def combine(emitter: Emitter, left: Value, right: Value, name: str) -> None:
    """Replace the contents of a set by a method's result for it and another, so that other names see it."""
    require_changeable(emitter, left)
    combined = call(emitter, f"set.{name}", [left, right])
    for place in range(0, row_dicts.HEADER, 8):
        emitter.write(f"set_word({left.code} + {place}, get_word({combined.code} + {place}))")


def combined_in_place(emitter: Emitter, operation: ast.operator, left: Value, right: Value) -> None:
    """Compiles `left |= right` and similar statements for a set or dictionary."""
    if left.kind.name == "set" and type(operation) in COMBINED and left.kind == right.kind:
        combine(emitter, left, right, COMBINED[type(operation)])
        return
    if isinstance(operation, ast.BitOr) and has(f"{left.kind.name}.update", [left, right]):
        call(emitter, f"{left.kind.name}.update", [left, right])
        return
    counts = [getattr(side.kind, "default", "") == "count" for side in (left, right)]
    method = {ast.Add: "__iadd__", ast.Sub: "__isub__"}.get(type(operation))
    if all(counts) and method:
        rows.functions.users_function(emitter, REPLACED[f"Counter.{method}"], [left, right])
        return
    # Other names of the container would not see a new container.
    emitter.refuse(f"this operation on a {left.kind} in place has no compiled form")


# Loops


def items_of(
    emitter: Emitter, value: Value, any_order: AnyOrder = never, *, backwards: bool = False
) -> Source:
    """Returns the items of a list, or the keys of a dictionary or set, for a loop."""
    kind = k.container(value.kind)
    if kind.name == "set" and not any_order(kind.items[0]):
        emitter.refuse("the order of a set differs from Python's; iterate over sorted(…)")
    if kind.name in ("dict", "set"):
        if backwards:
            emitter.refuse(f"reversed() of a {kind.name} has no compiled form")
        source = entries_of(emitter, value, "keys")
        return _sorted_alike(emitter, source) if kind.name == "set" else source
    # Python raises if a deque changes during a loop, but continues with a list.
    emitter.read_later += [kind] if emitter.is_ahead or k.is_deque(kind) else []
    (item_kind,) = kind.items
    size = f"{emitter.use(row_lists.list_size)}({value.code})"
    place = emitter.copy(f"{size} - 1" if backwards else "0")

    def read() -> Value:
        at = emitter.copy(f"get_word({value.code}) + {place} * {8 * item_kind.words}")
        return emitter.bind_value(item_kind, loaded(item_kind, at))

    if backwards:
        return Source(f"0 <= {place} < {size}", read, [f"{place} -= 1"])
    return Source(f"{place} < {size}", read, [f"{place} += 1"])


def _sorted_alike(emitter: Emitter, source: Source) -> Source:
    """Leaves the row for a NaN in a set: the order of other items does not affect the result."""

    def read() -> Value:
        value = source.item()
        for part in (value, *value.items):
            if part.kind.name == "float":
                emitter.fail_if(f"{part.code} != {part.code}", row_values.LEFT, "NaN in a set")
        return value

    return replace(source, item=read)


def entries_of(emitter: Emitter, value: Value, what: str) -> Source:
    """Returns the keys, values or items of a dictionary in order, for a loop."""
    kind = k.container(value.kind)
    emitter.read_later += [kind] if emitter.is_ahead else []
    key, item_kind = kind.items if kind.name == "dict" else (kind.items[0], k.NONE)
    words = f"{key.words}, {item_kind.words}, {value.code}"
    following = emitter.use(row_dicts.next_item)
    changes = f"{emitter.use(row_dicts.dict_changes)}({value.code})"
    before = emitter.copy(changes)
    place = emitter.copy(f"{following}({words}, 0)")

    def read() -> Value:
        emitter.fail_if(f"{changes} != {before}", row_values.LEFT, "a dictionary that changes")
        first = emitter.bind_value(key, loaded(key, place))
        second = emitter.bind_value(item_kind, loaded(item_kind, place, key.words))
        if what == "items":
            return tuple_of_values((first, second))
        return first if what == "keys" else second

    # Python looks for changes after the last item, too.
    more = f"({place} != 0 or {changes} != {before})"
    return Source(more, read, [f"{place} = {following}({words}, {place})"])
