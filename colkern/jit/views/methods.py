"""Attributes and methods of columns and rows by their data type: nulls, values by position, the parts of
maps and encoded columns, the children of unions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.typing.templates import AttributeTemplate, bound_function, signature
from numba.extending import lower_builtin, overload
from numpy import uint64

from colkern import schema as s
from colkern.jit.lowering import Lowering
from colkern.jit.stored_elements import AS_OTHER, MOMENTS
from colkern.jit.views.column_types import (
    ColumnType,
    EntriesType,
    RowType,
    column_type,
    element_type,
    value_type,
)
from colkern.jit.views.columns import emit_child, emit_part
from colkern.jit.views.elements import (
    bit,
    child_slot,
    index_at,
    reader_of,
    run_of,
    tester_of,
    type_id_at,
)
from colkern.jit.views.fields import position_of
from colkern.jit.views.slots import checks_positions, element_at, slot_of
from colkern.layouts import LayoutKind, layout

Owner = ColumnType | RowType


HadBy = Callable[[Owner], bool]
"""Whether columns or rows of a type have an attribute; of others it may be a field."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """`owner.attribute`.

    Args:
        had_by: Which owners have it.
        returns: Its type.
        emit: From the owner's type and value to the attribute's value.
    """

    had_by: HadBy
    returns: Callable[[Owner], types.Type]
    emit: Callable[[Lowering, Owner, ir.Value], ir.Value]


@dataclass(frozen=True, slots=True)
class Method:
    """`owner.method`.

    Args:
        had_by: Which owners have it.
        resolve: From an attribute template and the owner's type to the type of the bound method.
    """

    had_by: HadBy
    resolve: Callable[[AttributeTemplate, Owner], types.Type]


def _any(owner: Owner) -> bool:
    return True


def _columns_of(*kinds: type[s.DataType]) -> HadBy:
    return lambda column: isinstance(column.data_type, kinds)


def _slots_of_unions(row: Owner) -> bool:
    return isinstance(row.column.data_type, s.Union)


# Nulls


def _null_count(column):
    """The number of slots that are null by the column's own bitmap (all, for type null)."""
    raise NotImplementedError


@overload(_null_count)
def _ol_counted(column):
    if isinstance(column.data_type, s.Null):
        return lambda column: column._ck_length
    if not layout(column.data_type).has_validity:
        return lambda column: 0

    def counted(column):
        nulls = column._ck_null_count
        if nulls < 0:
            nulls = 0
            for slot in range(uint64(column._ck_length)):
                if not bit(column._ck_validity, column._ck_offset + uint64(slot)):
                    nulls += 1
        return nulls

    return counted


# By position


def _by_position(
    name: str,
    returns: Callable[[ColumnType], types.Type],
    body: Callable[[ColumnType], Callable[..., object]],
    had_by: HadBy = _any,
) -> Method:
    """`column.name(i)`, which calls `body(column's type)`, a function of `(column, slot)`."""
    key = f"column.{name}"

    def resolve(self, column, args, kws):
        if kws or len(args) != 1 or not isinstance(args[0], types.Integer):
            raise TypingError(f"{name} takes a position, an integer")
        return signature(returns(column), *args)

    @lower_builtin(key, ColumnType, types.Integer)
    def lower(context, builder, sig, args):
        at, kind = Lowering(context, builder), sig.args[0]
        slot = slot_of(at, at.struct(kind, args[0]).length, sig.args[1], args[1])
        return at.call(body(kind), (kind, types.uint64), (args[0], slot))

    return Method(had_by, bound_function(key)(resolve))


# The same memory as another type


def _as_other(name: str) -> Method:
    """`column.name()`: the same memory, as a column of another type with the same buffers."""
    key = f"column.{name}"
    kinds, other = AS_OTHER[name]

    def resolve(self, column, args, kws):
        if args or kws:
            raise TypingError(f"{name} takes no arguments")
        return signature(column_type(other(column.data_type)))

    @lower_builtin(key, ColumnType)
    def lower(context, builder, sig, args):
        return args[0]

    return Method(_columns_of(*kinds), bound_function(key)(resolve))


# Children of unions


def _by_child(
    key: str,
    owner: type[Owner],
    returns: Callable[[Any, int], types.Type],
    emit: Callable[[Lowering, Any, ir.Value, int], ir.Value],
    had_by: HadBy,
) -> Method:
    """`owner.child(k)` for a literal."""

    def resolve(self, kind, args, kws):
        column = kind.column if isinstance(kind, RowType) else kind
        k = position_of(column.data_type, args[0]) if len(args) == 1 and not kws else None
        if k is None:
            raise TypingError("child takes a literal position, as the child's type depends on it")
        return signature(returns(kind, k), *args)

    @lower_builtin(key, owner, types.Literal)
    def lower(context, builder, sig, args):
        kind = sig.args[0]
        column = kind.column if isinstance(kind, RowType) else kind
        k = position_of(column.data_type, sig.args[1])
        return emit(Lowering(context, builder), kind, args[0], k)

    return Method(had_by, bound_function(key)(resolve))


def _type_of_slot_child(row: RowType, k: int) -> types.Type:
    element = element_type(row.column.part(k))
    may_differ = layout(row.column.data_type).kind is LayoutKind.DENSE_UNION
    if isinstance(element, types.NoneType | types.Optional) or not may_differ:
        return element
    return types.Optional(element)


def _emit_slot_child(at: Lowering, kind: RowType, row: ir.Value, k: int) -> ir.Value:
    """The element of child `k` for a slot; None of a dense union, if the slot is of another child."""
    place = at.struct(kind, row)
    column, part = kind.column, kind.column.part(k)
    child = emit_child(at, column, place.column, k)
    if layout(column.data_type).kind is not LayoutKind.DENSE_UNION:
        return element_at(at, part, child, place.slot)
    is_of_child = _is_of_child(at, kind, row, k)
    returned = _type_of_slot_child(kind, k)
    element = cgutils.alloca_once_value(at.builder, at.context.get_constant_null(returned))
    # The offset of a slot that is of another child leads elsewhere.
    with at.builder.if_then(is_of_child):
        slot = at.call(child_slot, (column, types.uint64), (place.column, place.slot))
        plain = element_at(at, part, child, slot)
        at.builder.store(at.context.cast(at.builder, plain, element_type(part), returned), element)
    return at.builder.load(element)


def _is_of_child(at: Lowering, kind: RowType, row: ir.Value, k: int) -> ir.Value:
    """Whether a slot of a union is of child `k`; checked code raises ValueError if it is not."""
    type_id = _emit_type_id(at, kind, row)
    expected = type_id.type(kind.column.data_type.type_codes[k])
    is_of_child = at.builder.icmp_signed("==", type_id, expected)
    if checks_positions(at.context):
        message = f"child({k}) of a union's slot that is of another child: ask for type_id first"
        at.raise_unless(is_of_child, ValueError, message)
    return is_of_child


def _emit_type_id(at: Lowering, kind: Owner, row: ir.Value) -> ir.Value:
    place = at.struct(kind, row)
    return at.call(type_id_at, (kind.column, types.uint64), (place.column, place.slot))


# Parts of maps and encoded columns


def _part(k: int, had_by: HadBy) -> Attribute:
    def emit(at: Lowering, kind: Owner, column: ir.Value) -> ir.Value:
        emit_it = emit_child if isinstance(kind, EntriesType) else emit_part
        return emit_it(at, kind, column, k)

    return Attribute(had_by, lambda column: column.part(k), emit)


def _are_entries(column: Owner) -> bool:
    return isinstance(column, EntriesType)


_are_runs = _columns_of(s.RunEndEncoded)


def _emit_unit(at: Lowering, kind: Owner, column: ir.Value) -> ir.Value:
    return at.context.get_constant_generic(at.builder, types.unicode_type, kind.data_type.unit)


COLUMN_ATTRIBUTES = {
    "null_count": Attribute(
        _any,
        lambda _: types.int64,
        lambda at, kind, column: at.call(_null_count, (kind,), (column,)),
    ),
    "unit": Attribute(_columns_of(*MOMENTS, s.Interval), lambda _: types.unicode_type, _emit_unit),
    "dictionary": _part(0, _columns_of(s.Dictionary)),
    "run_ends": _part(0, _are_runs),
    "keys": _part(0, _are_entries),
    "values": _part(1, lambda column: _are_entries(column) or _are_runs(column)),
}

COLUMN_METHODS = {
    "is_valid": _by_position("is_valid", lambda _: types.boolean, tester_of),
    "value": _by_position("value", value_type, reader_of),
    "type_id": _by_position(
        "type_id", lambda _: types.int8, lambda _: type_id_at, _columns_of(s.Union)
    ),
    "child_index": _by_position(
        "child_index", lambda _: types.int64, lambda _: child_slot, _columns_of(s.Union)
    ),
    "index": _by_position(
        "index", lambda _: types.int64, lambda _: index_at, _columns_of(s.Dictionary)
    ),
    **{name: _as_other(name) for name in AS_OTHER},
    "run": _by_position("run", lambda _: types.int64, lambda _: run_of, _are_runs),
    "child": _by_child(
        "column.child", ColumnType, ColumnType.part, emit_child, _columns_of(s.Union)
    ),
}

ROW_ATTRIBUTES = {"type_id": Attribute(_slots_of_unions, lambda _: types.int8, _emit_type_id)}

ROW_METHODS = {
    "child": _by_child(
        "row.child", RowType, _type_of_slot_child, _emit_slot_child, _slots_of_unions
    )
}
