"""Slots by position: where an index points, and what the element there is.

What takes a position is lowered in the caller and no `overload`: Numba compiles those once for all
callers, whether they want their indices checked or not.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.base import BaseContext

from colkern.jit.environment import is_checked
from colkern.jit.lowering import Lowering
from colkern.jit.views.column_types import ColumnType
from colkern.jit.views.elements import element_type, reader_of, tester_of


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
