"""The slots of each data type in compiled loops, read by what reads them in kernels.

`colkern.jit.device.elements` and `columns` say what stands in a slot. Here their code becomes functions of
a column and a slot that Numba compiles. Slots are counted from the column's first one, as unsigned numbers
within its length. What a loop needs for each number, its item and whether it is valid, is LLVM's code in
`colkern.jit.views.columns`: each function that Numba compiles costs a tenth of a second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numba import types
from numba.core.registry import cpu_target
from numba.extending import register_jitable
from numba.np.numpy_support import from_dtype

from colkern import schema as s
from colkern.cpu.compiler import compiled
from colkern.dispatch import TIMES
from colkern.jit.device import columns, elements
from colkern.jit.device.emitter import Member, Value
from colkern.jit.device.kinds import (
    INTEGER,
    PLAIN,
    Column,
    Decimal,
    Element,
    Kind,
    Literal,
    Nothing,
    Nullable,
    Number,
    Path,
    Record,
    Row,
)
from colkern.jit.elements.memory import MOMENT_MAKERS, element
from colkern.jit.elements.types import ELEMENT_OF
from colkern.jit.loops import INTERVALS, Loop
from colkern.jit.stored_elements import has_moments
from colkern.jit.values.decimal_numbers import DecimalType, decimal_of
from colkern.jit.views.column_types import BatchType, ColumnType, EntriesType, RowType, column_type
from colkern.jit.views.columns import cut, item_at, part_of, row_of, valid_by_bitmap
from colkern.jit.views.records import ASCII
from colkern.kernels import slot_values
from colkern.layouts import layout
from colkern.rows.kinds import Container

Owner = ColumnType | RowType

_ROOT = Path("column")

_SLOT = "_ck_slot"
"""The slot as kernels count it: from the first one of the buffers."""

_count_nulls = compiled(slot_values.count_nulls)
_BYTES = np.zeros(1, np.uint8)


@register_jitable
def _null_count_of(column):
    """The number of slots that are null by the column's own bitmap; counted if it is not known."""
    if column._ck_null_count >= 0:
        return column._ck_null_count
    return _count_nulls(_BYTES, column._ck_validity, column._ck_offset, column._ck_length)


_NAMES: dict[str, Any] = {
    **{f"new_{kind}": make for kind, make in MOMENT_MAKERS.items()},
    "__name__": __name__,
    "cut": cut,
    "decimal_of": decimal_of,
    "element": element,
    "item_at": item_at,
    "null_count_of": _null_count_of,
    "part_of": part_of,
    "row_of": row_of,
}
"""The names that every function may use."""


class _Reading(Loop):
    """Writes a function of a column and a slot, of a column or of a row.

    Args:
        owner: The type of the column or row.
        parameters: The names of the parameters; none for that of a row.
        checked: Whether the children of unions are checked.
    """

    def __init__(self, owner: Owner, *parameters: str, checked: bool = False) -> None:
        super().__init__(parameters or ["row"], _NAMES, checked)
        self.column = owner.column

    def number_at(self, path: Path, data_type: s.DataType, slot: str, valid: str) -> str:
        """The code of the number of a slot: of an address that counts on, as loops vectorise it."""
        if valid != elements.ALWAYS:
            return super().number_at(path, data_type, slot, valid)
        return f"item_at({self._slot(path, slot)})"

    def ascii(self, path: Path) -> str:
        """The code of whether the texts of an array are known to be ASCII."""
        return f"({self.member(path, ASCII)} != 0)"

    def prelude(self) -> list[str]:
        """The slot as kernels count it, and numbers of the arrays."""
        lines = []
        if "column" not in self.parameters:
            lines.append("column, slot = row._ck_column, row._ck_slot")
        if self.parameters != ("column",):
            lines.append(f"{_SLOT} = column._ck_offset + slot")
        for need, name in self.needs.items():
            assert isinstance(need, Member)
            array, is_count = _array(need.path), need.name == "null_count"
            code = f"null_count_of({array})" if is_count else f"{array}._ck_{need.name}"
            lines.append(f"{name} = {code}")
        return lines

    def is_of_child(self, right: str, k: int) -> None:
        """Raise where a union's slot is of another child, if that is checked."""
        message = f"child({k}) of a union's slot that is of another child: ask for type_id first"
        self.check(right, ValueError, message)

    def _slot(self, path: Path, slot: str) -> str:
        """The arguments for an array and a slot of it, counted from its first one."""
        return f"{_array(path)}, {slot} - {self.member(path, 'offset')}"

    def value_of(self, value: Value) -> str:
        """The code of a value as compiled loops have it."""
        if isinstance(value.kind, Column):
            return f"cut({self._slot(value.kind.path, value.parts[0])}, {value.parts[1]})"
        if isinstance(value.kind, Row):
            return f"row_of({self._slot(value.kind.path, value.parts[0])})"
        return super().value_of(value)


def _array(path: Path) -> str:
    """The code of an array in the column."""
    code = path.root
    for step in path.steps:
        code = f"part_of({code}, {step})"
    return code


# Types


def type_of(kind: Kind) -> types.Type:
    """The Numba type that a value of a kind has in compiled loops."""
    type_for = TYPES.get(type(kind))
    # Of what arithmetic gives, the compiler alone knows more.
    return types.int64 if type_for is None else type_for(kind)


def _of_element(kind: Element) -> types.Type:
    if isinstance(kind.of, Container):
        return types.List(ELEMENT_OF[kind.of.items[0]])
    return ELEMENT_OF[kind.of]


def _of_literal(kind: Literal) -> types.Type:
    is_text = isinstance(kind.value, str)
    return types.literal(kind.value) if is_text else ELEMENT_OF[kind.element.of]


def _of_column(kind: Column | Row) -> ColumnType:
    if kind.form == "column":
        return column_type(kind.data_type)
    return _FORMS[kind.form](kind.data_type)


def _of_record(kind: Record) -> types.Type:
    parts = list(map(type_of, kind.kinds))
    if kind.names in INTERVALS:
        return types.NamedTuple(parts, INTERVALS[kind.names])
    return types.Tuple(parts)


TYPES: dict[type[Kind], Callable[[Any], types.Type]] = {
    Column: _of_column,
    Decimal: lambda kind: DecimalType(kind.count, kind.scale),
    Element: _of_element,
    Literal: _of_literal,
    Nothing: lambda kind: types.none,
    Nullable: lambda kind: types.Optional(type_of(kind.inner)),
    Number: lambda kind: from_dtype(np.dtype(kind.code)),
    Record: _of_record,
    Row: lambda kind: RowType(_of_column(kind)),
}

_FORMS = {"batch": BatchType, "entries": EntriesType}


# Functions of a column and a slot


@dataclass(frozen=True, slots=True)
class Read:
    """A function of a column and a slot, of a column, or of a row.

    Args:
        type: The Numba type of what it returns.
    """

    type: types.Type
    function: Callable[..., Any]


def _read(reading: _Reading, value: Value) -> Read:
    """The function that returns a value; Numba knows it, though it is compiling another one."""
    function = reading.written(value, f"slots of {reading.column.data_type}")
    known = register_jitable(function)
    cpu_target.typing_context.refresh()
    # A literal is a value of its own type only where it is written.
    return Read(types.unliteral(type_of(value.kind)), known)


def own(owner: Owner) -> Value:
    """The column or row that a function is of."""
    column = owner.column
    form = next((form for form, kind in _FORMS.items() if isinstance(column, kind)), "column")
    if isinstance(owner, RowType):
        return Value(Row(_ROOT, column.data_type, form), (_SLOT,))
    kind = Column(_ROOT, column.data_type, form, whole=True)
    return Value(kind, ("column._ck_offset", "column._ck_length"))


@lru_cache(maxsize=4096)
def by_position(column: ColumnType, name: str) -> Read:
    """The function of `column.name(slot)`; `value` does not ask whether the slot is null."""
    reading = _Reading(column, "column", "slot")
    value = columns.BY_POSITION[name][1](reading, own(column), _SLOT, elements.ALWAYS)
    return _read(reading, value)


@lru_cache(maxsize=4096)
def attribute(owner: Owner, name: str) -> Read | None:
    """The function of `owner.name`; None if its data type has no such attribute."""
    if isinstance(owner, RowType):
        if name != "type_id" or not isinstance(owner.column.data_type, s.Union):
            return None
        reading = _Reading(owner)
        return _read(reading, columns.row_attribute(reading, own(owner), name))
    column = own(owner)
    write = columns.attribute_of(column, name)
    if write is None:
        return None
    reading = _Reading(owner, "column")
    return _read(reading, write(reading, column))


@lru_cache(maxsize=4096)
def child(owner: Owner, k: int, checked: bool) -> Read:
    """The function of `owner.child(k)`, of a union's column or slot."""
    key = [Value(INTEGER, (repr(k),))]
    if isinstance(owner, RowType):
        reading = _Reading(owner, checked=checked)
        return _read(reading, columns.row_method(reading, own(owner), "child", key))
    reading = _Reading(owner, "column")
    return _read(reading, columns.column_method(reading, own(owner), "child", key))


@lru_cache(maxsize=4096)
def later_run(column: ColumnType) -> Callable[..., Any]:
    """The function of a column of runs, a slot, and the run of one before it: the slot's run."""
    reading = _Reading(column, "column", "slot", "run")
    run = elements.next_run(reading, _ROOT, column.data_type, "run", _SLOT)
    return _read(reading, Value(PLAIN, (run,))).function


def _holds_numbers(kind: Any) -> bool:
    """Whether values are the items of the buffer."""
    if isinstance(kind, s.FloatingPoint):
        return kind.bit_width > 16
    if isinstance(kind, s.Interval):
        return kind.unit == "year_month"
    return isinstance(kind, s.Int) or (isinstance(kind, TIMES) and not has_moments(kind))


def reader_of(column: ColumnType) -> Any:
    """The function that reads a slot, whether it is null or not."""
    stored = _holds_numbers(column.data_type)
    return item_at if stored else by_position(column, "value").function


def tester_of(column: ColumnType) -> Any:
    """The function that says whether a slot is not null."""
    encoded = isinstance(column.data_type, s.Dictionary)
    if layout(column.data_type).has_validity and not encoded:
        return valid_by_bitmap
    return by_position(column, "is_valid").function


@lru_cache(maxsize=4096)
def element_type(column: ColumnType) -> types.Type:
    """The Numba type of a column's slots: optional where they may be null."""
    reading = _Reading(column, "column", "slot")
    return type_of(columns.slot_item(reading, own(column), _SLOT, elements.ALWAYS).kind)
