"""Arguments of row functions: writes the code that reads a slot of a column, of any nesting.

A leaf is read where it is used. A list is copied into the arena by a function of its own, whose loop reads
the items as the loop over rows reads slots; so lists may contain lists, and structs may contain lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.kernels.row_values import NO_ROOM
from colkern.layouts import Role
from colkern.memory import EMPTY
from colkern.rows import kinds as k
from colkern.rows.columns import AnyReader, Lists, Reader, Rows
from colkern.rows.constants import has_order, layout_of
from colkern.rows.encoded import decoded
from colkern.rows.kinds import Kind
from colkern.rows.values import Value, stored, tuple_of_values, zeros


class Nulls(Enum):
    """The treatment of a null.

    ABSENT: there is none, or the function is not called for it. NONE: the function gets None. LEFT: the row
    is left to Python.
    """

    ABSENT = 0
    NONE = 1
    LEFT = 2


class Passed(list[Any]):
    """The objects that are passed for the parameters of columns.

    Attributes:
        held: Decoded parts of columns, which have the memory that addresses among the objects are of.
    """

    held: tuple[Array, ...] = ()


class Argument:
    """Writes the code that reads one column, or one part of its slots.

    Args:
        name: The prefix of its names in the source.
        nulls: The treatment of its nulls.
        inside: The treatment of nulls in its parts.
        guard: A test that is true where slot `i` of the enclosing value is valid; empty if it always is.

    Attributes:
        value: The value that the function gets for slot `i`.
        parameters: The names of the parameters through which the column is passed.
        lines: Lines that make the lists of the slot, before all other code.
        lists: The names of those lists: 0 where the arena has no room, -1 where an item has no value.
        checks: Tests that are true where the slot has no value in compiled code.
        functions: The source of the functions that it needs, by name.
    """

    def __init__(
        self, reader: AnyReader, name: str, nulls: Nulls, inside: Nulls, guard: str = ""
    ) -> None:
        self.reader = reader
        self.name = name
        self.nulls = nulls
        self._inside = inside
        self.parameters: list[str] = []
        self.lines: list[str] = []
        self.lists: list[str] = []
        self.checks: list[str] = []
        self.functions: dict[str, str] = {}
        self.parts: list[Argument] = []
        self._is_valid = ""
        if nulls != Nulls.ABSENT:
            self.parameters += [f"{name}_valid", f"{name}_place"]
            self._is_valid = f"is_valid({name}_valid, {name}_place, i)"
        self._guard = " and ".join(filter(None, (guard, self._is_valid)))
        if isinstance(reader, Rows):
            value = self._row(reader)
        else:
            self.parameters += [parameter.format(n=name) for parameter in reader.parameters]
            value = self._list(reader) if isinstance(reader, Lists) else self._leaf(reader)
        if nulls == Nulls.LEFT:
            self.checks.insert(0, f"not {self._is_valid}")
        elif nulls == Nulls.NONE:
            self.checks = [f"({self._is_valid} and ({test}))" for test in self.checks]
            none = f"(not {self._is_valid})"
            value = Value(k.optional(value.kind), value.code, none, value.items)
        self.value = value

    def _where_valid(self, code: str, otherwise: str) -> str:
        return f"({code} if {self._guard} else {otherwise})" if self._guard else code

    def _leaf(self, reader: Reader) -> Value:
        if reader.check:
            self.checks.append(f"({reader.check.format(n=self.name)})")
        code = reader.code.format(n=self.name)
        if reader.loose:
            code = self._where_valid(code, zeros(reader.kind)[0])
        return Value(reader.kind, code)

    def _part(self, reader: AnyReader, name: str, nullable: bool, guard: str = "") -> Argument:
        # Nulls may occur even if the field declares none.
        nulls = self._inside if nullable else Nulls.LEFT
        part = Argument(reader, name, nulls, self._inside, guard)
        self.parts.append(part)
        self.functions |= part.functions
        return part

    def _row(self, reader: Rows) -> Value:
        for number, (field, nullable) in enumerate(
            zip(reader.fields, reader.nullable, strict=True)
        ):
            part = self._part(field, f"{self.name}_{number}", nullable, self._guard)
            self.parameters += part.parameters
            self.lines += part.lines
            self.lists += part.lists
            self.checks += part.checks
        return tuple_of_values((part.value for part in self.parts), reader.names, reader.form)

    def _list(self, reader: Lists) -> Value:
        item = self._part(reader.item, f"{self.name}_item", reader.nullable)
        kind = k.list_of(item.kind)
        if reader.form is dict:
            key, value = item.kind.items  # type: ignore[attr-defined]
            if not (k.is_hashable(key) and has_order(key)):
                raise UnsupportedError(f"a dictionary with keys that are {key}")
            kind = k.dict_of(key, value)
        own = [parameter.format(n=self.name) for parameter in reader.parameters]
        self.parameters += item.parameters
        function, list_ = f"list_of_{self.name}", f"{self.name}_made"
        self.functions[function] = _maker(function, [*own, *item.parameters], reader, item)
        call = f"{function}({', '.join(('arena', *own, *item.parameters, 'i'))})"
        self.lines.append(f"{list_} = {self._where_valid(call, '1')}")
        self.lists.append(list_)
        return Value(kind, list_)

    @property
    def kind(self) -> Kind:
        """The kind of the value that the function gets."""
        return self.value.kind

    @property
    def prepare(self) -> Callable[[Array], Iterable[Any]] | None:
        """For a leaf without nulls, the function that returns all that `add` would add; else None."""
        is_leaf = self.nulls is Nulls.ABSENT and isinstance(self.reader, Reader)
        return self.reader.prepare if is_leaf else None  # type: ignore[union-attr]

    def add(self, passed: Passed, array: Array) -> None:
        """Add the objects that are passed for the parameters."""
        if self.nulls != Nulls.ABSENT:
            has_nulls = array.layout.has_validity and array.null_count != 0
            bitmap = (array.buffer(Role.VALIDITY) if has_nulls else None) or EMPTY
            passed += bitmap.array, np.uint64(array.offset)
        if not isinstance(self.reader, Rows):
            passed += self.reader.prepare(array)
        if self.parts:
            for part, child in zip(self.parts, _children(array), strict=False):
                plain = decoded(child)
                passed.held += (plain,)
                part.add(passed, plain)


def _children(array: Array) -> Sequence[Array]:
    """Returns the children of an array; those of a struct are sliced to its own slots."""
    if isinstance(array.type.storage, s.Struct):
        return [child.slice(array.offset, array.length) for child in array.children]
    return array.children


_MAKER = """\
def {name}(arena, {parameters}, i):
    first = {first}
    count = {count}
    header = {new}
    if header == 0:
        return header
{begin}
    for i in range(u8(first), u8(first + count)):
{item}
    return header
"""

_BEGIN_LIST = """\
    place = get_word(header)
    set_word(header + 8, count)"""


def _maker(name: str, parameters: Sequence[str], reader: Lists, item: Argument) -> str:
    """Returns the source of a function that makes a list, or a dictionary, of slot `i`."""
    lines = list(item.lines)
    for list_ in item.lists:
        lines += [f"if {list_} <= 0:", f"    return {list_}"]
    if item.checks:
        lines += [f"if {' or '.join(item.checks)}:", "    return i8(-1)"]
    if reader.form is dict:
        key, value = item.value.items
        new, begin = f"new_dict(arena, {key.kind.words})", ""
        words = f"{key.kind.words}, {value.kind.words}, header"
        lines += [f"room = key_room({words})", *stored(key.kind, "room", key)]
        layout = layout_of(key.kind)
        lines += [f"place, code = insert_place(arena, {layout}, {words}, room)", "if place == 0:"]
        lines += [f"    return i8(0 if code == {NO_ROOM} else -1)"]
        lines += stored(value.kind, "place", value)
    else:
        new, begin = f"new_list(arena, {item.kind.words}, count)", _BEGIN_LIST
        lines += [*stored(item.kind, "place", item.value), f"place += {8 * item.kind.words}"]
    n = name.removeprefix("list_of_")
    return _MAKER.format(
        name=name,
        parameters=", ".join(parameters),
        first=reader.first.format(n=n),
        count=reader.count.format(n=n),
        new=new,
        begin=begin,
        item="\n".join(" " * 8 + line for line in lines),
    )


def has_inner_nulls(array: Array) -> bool:
    """Whether a part of a valid slot may be null."""
    dictionary = array.dictionary
    parts = [*array.children, *(() if dictionary is None else (dictionary,))]
    return any(
        (part.layout.has_validity and part.null_count != 0) or has_inner_nulls(part)
        for part in parts
    )
