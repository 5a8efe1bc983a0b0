"""`json.dumps` in row functions, of what is known to have a JSON text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from colkern.kernels import row_documents, row_items, row_values, text_escapes
from colkern.rows import kinds as k
from colkern.rows.calls import call, invoked, refuse_numpys
from colkern.rows.emitter import Emitter
from colkern.rows.folding import constant, evaluated
from colkern.rows.formatting import (
    concatenated,
    entries_text,
    is_in_document,
    text_in_document,
    text_of,
)
from colkern.rows.functions import users_function
from colkern.rows.text_library import in_order_of_keys, json_float, with_text_keys
from colkern.rows.values import Value, inner

_DEFAULTS = {"ensure_ascii": True, "separators": None, "sort_keys": False, "indent": None}


def dumped(emitter: Emitter, arguments: Sequence[Value], named: dict[str, Value]) -> Value:
    """`json.dumps` of one value, whose other arguments are constants."""
    constants = {name: value.constant for name, value in named.items() if value.is_constant}
    options: dict[str, Any] = _DEFAULTS | constants
    if len(arguments) != 1 or len(constants) < len(named) or options.keys() > _DEFAULTS.keys():
        emitter.refuse("json.dumps() with such arguments has no compiled form")
    separators = options["separators"]
    if separators is not None and list(map(type, separators)) != [str, str]:
        emitter.refuse("json.dumps() with separators other than two texts has no compiled form")
    indent = options["indent"]
    if not isinstance(indent, int | str | None):
        emitter.refuse("json.dumps() with an indent that is no number or text has no compiled form")
    if indent is not None and "\n" in "".join(separators or ()):
        emitter.refuse("json.dumps() with an indent and lines in separators has no compiled form")
    return _Writer(emitter, options).text(arguments[0])


class _Writer:
    """Writes JSON."""

    def __init__(self, emitter: Emitter, options: dict[str, Any]) -> None:
        self._emitter = emitter
        self._options = options
        separators: tuple[str, str] | None = options["separators"]
        indent = options["indent"]
        self._indent = " " * indent if isinstance(indent, int) else indent
        usual = ("," if indent is not None else ", ", ": ")
        self._comma, self._colon = usual if separators is None else separators
        self._level = 0

    def text(self, value: Value) -> Value:
        """Returns the text of a value."""
        emitter, kind = self._emitter, value.kind
        if value.is_constant:
            return constant(self._of_constant(value.constant))
        form = row_documents.ASCII_JSON if self._options["ensure_ascii"] else row_documents.JSON
        if is_in_document(kind):
            if self._indent is not None or self._options["sort_keys"]:
                reason = "json.dumps() of a document in another order, or lines"
                is_part = f"node_word({value.code}, 0) >= {row_items.OF_LIST}"
                test = is_part if kind in k.NODES else "True"
                emitter.fail_if(test, row_values.LEFT, reason)
            return text_in_document(emitter, value, form, self._comma, self._colon)
        if kind in (k.INT, k.BOOL):
            refuse_numpys(emitter, "json.dumps()")
        if isinstance(kind, k.Optional):
            return emitter.chosen(
                value.none, lambda: constant("null"), lambda: self.text(inner(value))
            )
        if kind == k.BOOL:
            return emitter.chosen(value.code, lambda: constant("true"), lambda: constant("false"))
        if kind == k.TEXT:
            is_ascii = Value(k.BOOL, str(form == row_documents.ASCII_JSON))
            return invoked(emitter, text_escapes.quoted, [value, is_ascii], k.TEXT, "json.dumps")
        if kind == k.FLOAT:
            return users_function(emitter, json_float, [value])
        if kind in (k.INT, k.UNSIGNED):
            return text_of(emitter, value)
        if isinstance(kind, k.Tuple):
            return self._of_parts(value, kind)
        if isinstance(kind, k.Container) and kind.name in ("list", "dict") and not kind.most:
            return self._of_container(value, kind)
        return emitter.refuse(f"json.dumps() of {kind} has no compiled form")

    def _of_constant(self, value: Any) -> str:
        text: Value = evaluated(self._emitter, partial(json.dumps, **self._options), value)
        return str(text.constant).replace("\n", self._new_line or "\n")

    @property
    def _new_line(self) -> str:
        """The line break and the indent before each entry, and after the last; empty without `indent`."""
        return "" if self._indent is None else "\n" + self._level * self._indent

    def _of_parts(self, value: Value, kind: k.Tuple) -> Value:
        """Returns the text of a tuple, or of a dictionary with constant keys."""
        self._level += 1
        before, comma = self._new_line, self._comma + self._new_line
        parts = [[self.text(item)] for item in value.items]
        self._level -= 1
        if k.is_row(kind):
            places = list(range(len(parts)))
            if self._options["sort_keys"]:
                places.sort(key=kind.names.__getitem__)
            keys = [self._of_constant(name) + self._colon for name in kind.names]
            parts = [[constant(keys[place]), *parts[place]] for place in places]
        start, end = "{}" if k.is_row(kind) else "[]"
        pieces = [constant(start)]
        for part in parts:
            pieces += [constant(comma if part is not parts[0] else before), *part]
        after = self._new_line if parts else ""
        return concatenated(self._emitter, [*pieces, constant(after + end)])

    def _of_container(self, value: Value, kind: k.Container) -> Value:
        emitter, has_keys = self._emitter, kind.name == "dict"
        start, end = "{}" if has_keys else "[]"
        if kind.items[0] == k.NEVER:
            return constant(start + end)
        if kind.default in k.SEQUENCES or (has_keys and kind.items[0] not in (k.TEXT, k.INT)):
            emitter.refuse(f"json.dumps() of this {kind} has no compiled form")
        if has_keys and self._options["sort_keys"]:
            value = users_function(emitter, in_order_of_keys, [value])
        if has_keys and kind.items[0] == k.INT:
            refuse_numpys(emitter, "json.dumps()")
            value = users_function(emitter, with_text_keys, [value])
        self._level += 1
        before, comma = self._new_line, self._comma + self._new_line
        inside = entries_text(
            emitter, value, lambda _, item: self.text(item), has_keys, comma, self._colon
        )
        self._level -= 1
        pieces = [constant(start + before), inside, constant(self._new_line + end)]
        if not before:
            return concatenated(emitter, pieces)
        size = call(emitter, "len", [value])
        return emitter.chosen(
            f"{size.code} == 0",
            lambda: constant(start + end),
            lambda: concatenated(emitter, pieces),
        )
