"""Values of documents of `json.loads`, whose type is known where the row runs, as values of other kinds."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from colkern import rows
from colkern.kernels import row_documents, row_values
from colkern.rows import kinds as k
from colkern.rows.kinds import Kind
from colkern.rows.several import as_one_of, by_class
from colkern.rows.values import NONE, Value, inner, of_parts, tuple_of_values

if TYPE_CHECKING:
    from colkern.rows.emitter import Emitter


def as_in_document(emitter: Emitter, value: Value) -> Value:
    """Returns a value as one of a document, which is a new node unless it was read from one."""
    if value.kind in (k.NONE, *k.NODES):
        return of_parts(k.DOCUMENT, value.parts or ("0",))
    if isinstance(value.kind, k.Optional):
        there = partial(as_in_document, emitter, inner(value))
        return emitter.chosen(value.none, lambda: as_in_document(emitter, NONE), there)
    if isinstance(value.kind, k.Several):
        return by_class(emitter, value, partial(as_in_document, emitter))
    if read := _READ.fullmatch(value.code):
        return of_parts(k.DOCUMENT, (read[1],))
    if not k.may_be_in_document(value.kind):
        emitter.refuse(f"{value.kind} in a document has no compiled form")
    types = [*map(k.form_of, k.CONTENT.items[1:])]
    place = types.index(k.form_of(value.kind))
    value = emitter.converted(value, k.CONTENT.items[1 + place])
    if value.kind == k.TEXT:
        node = rows.calls.invoked(
            emitter, row_documents.node_of_text, [value], k.INT, "json.loads"
        ).code
    else:
        words = {k.BOOL: "int({})", k.FLOAT: "bits_of_float({})"}
        word = Value(k.INT, words.get(value.kind, "{}").format(value.code))
        number = Value(k.INT, str(place))
        node = rows.calls.invoked(
            emitter, row_documents.new_node, [number, word], k.INT, "json.loads"
        ).code
    emitter.fail_if(f"{node} == 0", row_values.NO_ROOM, "the arena")
    return of_parts(k.DOCUMENT, (node,))


_READ = re.compile(r"\(?(?:float_of_bits\()?node_(?:word|text)\((\w+)(?:, 1)?\)(?:\)| != 0\))?")
"""The code of a value that is read from a node, as `of_parts` writes it."""


def as_key(emitter: Emitter, value: Value) -> Value:
    """Returns a value of a document as a text; other values unchanged.

    Rows with another key are left to Python.
    """
    if value.kind not in k.NODES:
        return value
    return as_one_of(emitter, emitter.plain(value, row_values.LEFT), str)


def as_looked_up(emitter: Emitter, value: Value, container: Value) -> Value:
    """Returns a value of a document as a text if it is looked for among texts; others unchanged."""
    kind = container.kind
    has_texts = isinstance(kind, k.Container) and kind.items[0] in (k.NEVER, k.TEXT)
    return as_key(emitter, value) if has_texts and kind.name != "list" else value


def as_changing(emitter: Emitter, value: Value, place: Kind) -> Value:
    """Returns a value of a document as the container in which a place changes; other values unchanged."""
    forms = (list, dict) if place == k.INT else (dict, list)
    return as_one_of(emitter, emitter.plain(value), *forms)


def as_declared(emitter: Emitter, value: Value, holds: Callable[[Kind], bool]) -> Value:
    """Returns a result with values of a declared type in place of those of documents.

    Args:
        holds: Whether values of a kind are of the declared type. Rows with others are left to Python.
    """
    kind = value.kind
    if all(part not in k.NODES for part in k.parts_of(kind)):
        return value
    if isinstance(kind, k.Optional):
        there = partial(as_declared, emitter, inner(value), holds)
        return emitter.chosen(value.none, lambda: NONE, there)
    if kind == k.CONTENT:
        return _of_declared(emitter, value, holds)
    if isinstance(kind, k.Tuple):
        items = []
        for place, item in enumerate(value.items):
            parts = [k.NEVER] * len(value.items)
            items.append(as_declared(emitter, item, partial(_with_part, holds, kind, parts, place)))
        return tuple_of_values(map(emitter.numbers, items), kind.names, kind.form)
    if isinstance(kind, k.Container) and kind.name in ("list", "dict"):
        is_list, key = kind.name == "list", kind.items[0]
        make: Callable[[Kind], Kind] = k.list_of if is_list else partial(k.dict_of, key)
        _require_declared(emitter, make(k.NEVER), holds)
        return _of_items(emitter, value, lambda item: holds(make(item)))
    return value


def _with_part(
    holds: Callable[[Kind], bool], kind: k.Compound, parts: list[Kind], place: int, part: Kind
) -> bool:
    """Whether values of a kind are of the type that is declared for a part of a tuple."""
    parts[place] = part
    return holds(k.tuple_of(tuple(parts), kind.names, kind.form))


def _of_declared(emitter: Emitter, value: Value, holds: Callable[[Kind], bool]) -> Value:
    numbers = [each for each in (k.BOOL, k.INT, k.FLOAT) if holds(each)]

    def settled(each: Value) -> Value:
        if each.kind in numbers:
            return emitter.converted(each, numbers[-1])
        if not isinstance(each.kind, k.Container):
            _require_declared(emitter, each.kind, holds)
        return as_declared(emitter, each, holds)

    return by_class(emitter, value, settled)


def _require_declared(emitter: Emitter, kind: Kind, holds: Callable[[Kind], bool]) -> None:
    if not holds(kind):
        emitter.refuse(f"it returns {kind} where another type is declared")


def _of_items(emitter: Emitter, value: Value, holds: Callable[[Kind], bool]) -> Value:
    """Returns a list, or dictionary, with items that are of a declared type."""
    from colkern.rows.emitter import derived, standing_for

    name = f"declared {k.depth(value.kind)} {value.kind}"
    load: ast.expr = standing_for(emitter, emitter.node, name, value)
    made = rows.containers.new_container(emitter, load, value.kind.name, 0)
    if value.kind.name == "dict":
        view = partial(ast.Attribute, load, "items", ast.Load())
        load = derived(load, "entries", lambda: ast.Call(view(), [], []))

    def take(item: Value) -> None:
        *keys, own = (
            rows.containers.unpacked(emitter, item, 2) if made.kind.name == "dict" else (item,)
        )
        rows.containers.add(emitter, made, (*keys, as_declared(emitter, own, holds)))

    rows.comprehensions.items(emitter, load, take)
    return made
