"""Lists, dictionaries and sets of row functions beside Python's own, for tests of their bodies."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from colkern.kernels import constant_tables, row_dicts, row_lists, row_sets, row_sorting, row_values
from colkern.kernels.primitives import get_word, set_word
from colkern.rows import kinds as k
from colkern.rows import table
from colkern.rows.constants import constant_block, layout_of
from colkern.rows.kinds import Kind
from colkern.rows.methods import Method, function_of
from tests.rows.bodies import EXCEPTIONS, LEFT, Memory, _compiled

COMPILED = {
    row_lists.append_place,
    row_lists.compare_lists,
    row_lists.index,
    row_lists.insert_place,
    row_lists.pop_place,
    row_lists.slice_list,
    row_sorting.sort,
    row_dicts.dicts_equal,
    row_dicts.find_place,
    row_dicts.insert_place,
    row_sets.symmetric_difference,
    constant_tables.find_number,
    constant_tables.find_text,
    row_dicts.most_common,
}
"""The bodies that are compiled in tests: with what they call, nearly all; each takes some 200 ms."""


def row_of(method: Method) -> table.Row:
    """A row of the table, read."""
    return next(row for row in table.table()[method.name] if row.method == method)


class Containers:
    """Bodies of containers of one kind, called with what follows from the kind.

    Args:
        by: "plain" for plain Python, "compiled" for the CPU, as far as `COMPILED` goes.
        item: The kind of items, or of keys.
        value: That of the values of dictionaries.
    """

    def __init__(self, by: str, item: Kind, value: Kind = k.NONE, room: int = 1 << 18) -> None:
        self._by = by
        self._memory = Memory(room)
        self.item, self.value = item, value
        self._given = {
            "arena": self._memory.arena,
            "item_words": item.words,
            "key_words": item.words,
            "value_words": value.words,
            "item_layout": layout_of(item),
            "key_layout": layout_of(item),
            "value_layout": layout_of(value),
        }

    def call(self, body: Callable[..., Any], *arguments: Any, **given: Any) -> Any:
        """A body's result, or the class of the exception, or `LEFT`."""
        signature = inspect.signature(body)
        first = [
            given.get(name, self._given[name])
            for name in signature.parameters
            if name in self._given and (len(arguments) < len(signature.parameters) or name in given)
        ]
        function = _compiled(body) if self._by == "compiled" and body in COMPILED else body
        with np.errstate(over="ignore", invalid="ignore"):
            returned = function(*first, *arguments)
        if "Code" in str(signature.return_annotation):
            returned, code = returned
            if code:
                return LEFT if code == row_values.LEFT else EXCEPTIONS.get(int(code), int(code))
        return returned.item() if isinstance(returned, np.generic) else returned

    def place(self, value: Any, kind: Kind) -> int:
        """The address of a value's words."""
        block = constant_block(value, kind)
        words = self._memory._keep(np.zeros(len(block.words) // 8, np.int64))
        address: int = words.ctypes.data
        words[:] = np.frombuffer(block.at(address), np.int64)
        return address

    def read(self, place: int, kind: Kind) -> Any:
        """The value whose words are at an address."""
        if isinstance(kind, k.Optional):
            return None if get_word(place) else self.read(place + 8, kind.of)
        if isinstance(kind, k.Tuple):
            items = []
            for item in kind.items:
                items.append(self.read(place, item))
                place += 8 * item.words
            return tuple(items)
        if isinstance(kind, k.Container):
            return self._read_container(int(get_word(place)), kind)
        if kind == k.TEXT:
            return self._memory.result(row_values.get_text(place))
        if kind == k.BYTES:
            return self._memory.result(row_values.get_bytes(place))
        if kind == k.NONE:
            return None
        word = get_word(place)
        return {"float": lambda: word.view(np.float64).item(), "bool": lambda: bool(word)}.get(
            kind.name, lambda: int(word)
        )()

    def _read_container(self, header: int, kind: k.Container) -> Any:
        if kind.name == "list":
            return [
                self.read(row_lists.item_place(kind.items[0].words, header, n), kind.items[0])
                for n in range(row_lists.list_size(header))
            ]
        key, value = (*kind.items, k.NONE)[:2]
        actual, place = {}, 0
        while place := int(row_dicts.next_item(key.words, value.words, header, place)):
            actual[self.read(place, key)] = self.read(place + 8 * key.words, value)
        assert len(actual) == row_dicts.dict_size(header)
        return actual if kind.name == "dict" else set(actual)

    def list(self, values: Any) -> int:
        """A list, by its handle."""
        return int(get_word(self.place(list(values), k.list_of(self.item))))

    def values(self, header: int, kind: Kind | None = None) -> Any:
        """A container of the kind, a list if none is given, as Python's."""
        return self._read_container(int(header), kind or k.list_of(self.item))

    def put(self, place: int, value: Any, kind: Kind) -> None:
        """Write a value's words."""
        source = self.place(value, kind)
        for n in range(kind.words):
            set_word(place + 8 * n, get_word(source + 8 * n))

    def filled(self, values: Any, kind: Kind) -> int:
        """A container of a kind as row functions make it, by its handle."""
        assert isinstance(kind, k.Container)
        if kind.name == "list":
            return int(get_word(self.place(values, kind)))
        key, value = (*kind.items, k.NONE)[:2]
        arena = self._memory.arena
        handle = int(row_dicts.new_dict(arena, key.words))
        for item in values:
            words = layout_of(key), key.words, value.words
            place, code = row_dicts.insert_place(arena, *words, handle, self.place(item, key))
            assert code == row_values.DONE
            if value.words:
                self.put(place, values[item], value)
        return handle

    def do(self, method: Method, arguments: builtins.list[Any], bindings: dict[str, Kind]) -> Any:
        """A row of the table applied to Python's values, which it may change."""
        row = row_of(method)
        body: Any = function_of(method.body)
        form = table.call_of(body)
        kinds = [table.kind_of(parameter.kind, bindings) for parameter in row.parameters]
        given: list[Any] = [self._leading(name, bindings) for name in form.leading]
        rest, handles = [], {}
        for value, kind in zip(arguments, kinds, strict=True):
            if isinstance(kind, k.Container):
                handles[len(rest)] = self.filled(value, kind)
                rest.append(handles[len(rest)])
            elif kind != k.NONE:
                is_place = len(rest) < len(form.places) and form.places[len(rest)]
                rest.append(self.place(value, kind) if is_place else self._memory.argument(value))
        returned = body(*given, *rest[: len(form.places)])
        if form.fails:
            returned, code = returned
            if code:
                return LEFT if code == row_values.LEFT else EXCEPTIONS.get(int(code), int(code))
        if form.result == "room":
            self.put(returned, arguments[-1], kinds[-1])
        for position, handle in handles.items():
            arguments[position] = self.values(handle, kinds[position])
        result = row.result(bindings)
        if form.result == "place":
            return self.read(returned, result)
        if isinstance(result, k.Container):
            return self.values(returned, result)
        return None if result == k.NONE else returned

    def _leading(self, name: str, bindings: dict[str, Kind]) -> int:
        if name == "arena":
            return self._memory.arena
        kind = bindings[table.OF_ITEMS[name.split("_")[0]]]
        return kind.words if name.endswith("words") else layout_of(kind)
