"""Slots by position and fields by name: their places, and their elements.

Functions of a position are lowered in the caller, and are no `overload`: Numba compiles an overload once
for all callers, whether they want their indices checked or not.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.base import BaseContext
from numba.core.errors import TypingError

from colkern import schema as s
from colkern.jit.device import columns
from colkern.jit.device.emitter import constant
from colkern.jit.device.kinds import Column, Row
from colkern.jit.environment import is_checked
from colkern.jit.loops import Loop
from colkern.jit.lowering import Lowering
from colkern.jit.views.column_types import ColumnType, RowType
from colkern.jit.views.columns import cut, emit_child, part_of
from colkern.jit.views.elements import Owner, element_type, own, reader_of, tester_of
from colkern.kernels.intrinsics import Signature, instructions


def checks_positions(context: BaseContext) -> bool:
    """Whether positions are checked: with `boundscheck=True`, or CK_CHECKED=1 in the environment."""
    return bool(context.enable_boundscheck) or is_checked()


def slot_of(at: Lowering, length: ir.Value, kind: types.Integer, index: ir.Value) -> ir.Value:
    """An index as a slot: from the end, if it is negative."""
    builder = at.builder
    position = at.context.cast(builder, index, kind, types.int64 if kind.signed else types.uint64)
    if kind.signed:
        negative = builder.icmp_signed("<", position, position.type(0))
        position = builder.select(negative, builder.add(position, length), position)
    if checks_positions(at.context):
        is_within = builder.icmp_unsigned("<", position, length)
        at.raise_unless(is_within, IndexError, "column index out of range")
    return position


def element_at(at: Lowering, kind: ColumnType, column: ir.Value, slot: ir.Value) -> ir.Value:
    """The LLVM value of a slot: optional, if it may be null."""
    kinds, args = (kind, types.uint64), (column, slot)
    returned = element_type(kind)
    if not isinstance(returned, types.Optional):
        return at.call(reader_of(kind), kinds, args)
    element = at.struct(returned)
    element.valid = at.call(tester_of(kind), kinds, args)
    value_type = at.context.get_value_type(returned.type)
    place = cgutils.alloca_once(at.builder, value_type, zfill=True)
    with at.builder.if_then(element.valid):
        at.builder.store(at.call(reader_of(kind), kinds, args), place)
    element.data = at.builder.load(place)
    return element._getvalue()


# Fields


_TYPING = Loop([], {})


def position_of(owner: Owner, key: types.Type) -> int | None:
    """The position of the child that a literal index or name selects; None for other keys."""
    literal = constant(key.literal_value) if isinstance(key, types.Literal) else None
    return None if literal is None else columns.chosen_position(_TYPING, _kind(owner), literal)


def _kind(owner: Owner) -> Column | Row:
    kind = own(owner).kind
    assert isinstance(kind, Column | Row)
    return kind


def field_of_column(column: ColumnType, key: types.Type) -> Callable[..., object]:
    """`column[key]` for a field: the child column."""
    if not isinstance(column.data_type, s.Struct):
        raise TypingError(f"{column} has no fields")
    k = position_of(column, key)
    return lambda column, key: cut(part_of(column, k), column._ck_offset, column._ck_length)


def field_of_row(row: RowType, key: types.Type) -> Callable[..., object]:
    """`row[key]` for a field: the element of the child."""
    if not isinstance(row.column.data_type, s.Struct):
        raise TypingError(f"{row} has no fields; a union's slot has type_id and child(k)")
    k = position_of(row, key)
    if k is None:
        raise TypingError("a row's field is named by a literal, as its type depends on it")
    return lambda column, key: row_field(column, k)


def _field(row: RowType, k: types.IntegerLiteral) -> Signature:
    return element_type(row.column.part(k.literal_value))(row, k)


@instructions(_field, prefer_literal=True)
def row_field(context, builder, signature, args):
    """Field `k` (a literal) of a row, None where it is null."""
    row, k = signature.args
    return emit_field(Lowering(context, builder), row, args[0], k.literal_value)


def emit_field(at: Lowering, kind: RowType, row: ir.Value, k: int) -> ir.Value:
    """The LLVM value of field `k` of a row."""
    place = at.struct(kind, row)
    child = emit_child(at, kind.column, place.column, k)
    return element_at(at, kind.column.part(k), child, place.slot)


def field_position(owner: Owner, name: str) -> int | None:
    """The position of the field that an attribute of a column or row means; None if it means none."""
    kind = _kind(owner)
    if name.startswith("_ck_") or not columns.has_field(kind, name):
        return None
    return columns.position_of(_TYPING, kind, name)
