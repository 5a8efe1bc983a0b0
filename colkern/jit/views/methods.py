"""What columns and rows have by their data type, besides items and fields: nulls, values by position,
the parts of maps and encoded columns, the children of unions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.typing.templates import bound_function, signature
from numba.extending import lower_builtin, overload
from numpy import uint64

from colkern import schema as s
from colkern.jit.rows.support import bit
from colkern.jit.views.column_types import (
    ColumnType,
    EntriesType,
    RowType,
    element_type,
    value_type,
)
from colkern.jit.views.columns import emit_child, emit_part
from colkern.jit.views.elements import (
    child_slot,
    index_at,
    reader_of,
    run_of,
    tester_of,
    type_id_at,
)
from colkern.jit.views.fields import position_of
from colkern.jit.views.slots import called, checks_positions, element_at, slot_of
from colkern.layouts import LayoutKind, layout

Owner = ColumnType | RowType


@dataclass(frozen=True, slots=True)
class Attribute:
    """What `owner.attribute` is.

    Args:
        had_by: Whether columns or rows of a type have it; of others it may be a field.
        returns: Its type.
        emit: From Numba's context, an LLVM builder, the owner's type and value to the LLVM value.
    """

    had_by: Callable[[Any], bool]
    returns: Callable[[Any], types.Type]
    emit: Callable[[Any, Any, Any, Any], Any]


@dataclass(frozen=True, slots=True)
class Method:
    """What `owner.method` is.

    Args:
        had_by: Whether columns or rows of a type have it; of others it may be a field.
        resolve: From an attribute template and the owner's type to the type of the bound method.
    """

    had_by: Callable[[Any], bool]
    resolve: Callable[[Any, Any], types.Type]


def _any(owner: Any) -> bool:
    return True


def _columns_of(*kinds: type[s.DataType]) -> Callable[[Any], bool]:
    return lambda column: isinstance(column.data_type, kinds)


def _slots_of_unions(row: Any) -> bool:
    return isinstance(row.column.data_type, s.Union)


# Nulls


def _emit_null_count(context: Any, builder: Any, kind: ColumnType, column: Any) -> Any:
    return called(context, builder, _null_count, (kind,), (column,))


def _null_count(column: Any) -> Any:
    """How many slots are null by the column's own bitmap (all, for type null)."""
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
    body: Callable[[ColumnType], Any],
    had_by: Callable[[Any], bool] = _any,
) -> Method:
    """`column.name(i)`: what `body`, a function of `(column, slot)` for the column's type, gives."""
    key = f"column.{name}"

    def resolve(self, column, args, kws):
        if kws or len(args) != 1 or not isinstance(args[0], types.Integer):
            raise TypingError(f"{name} takes a position, an integer")
        return signature(returns(column), *args)

    @lower_builtin(key, ColumnType, types.Integer)
    def lower(context, builder, sig, args):
        kind = sig.args[0]
        column = cgutils.create_struct_proxy(kind)(context, builder, value=args[0])
        slot = slot_of(context, builder, column.length, sig.args[1], args[1])
        kinds = (kind, types.uint64)
        return called(context, builder, body(kind), kinds, (args[0], slot))

    return Method(had_by, bound_function(key)(resolve))


# Children of unions


def _by_child(
    key: str,
    owner: type[Owner],
    returns: Callable[[Any, int], types.Type],
    emit: Callable[[Any, Any, Any, Any, int], Any],
    had_by: Callable[[Any], bool],
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
        return emit(context, builder, kind, args[0], k)

    return Method(had_by, bound_function(key)(resolve))


def _type_of_slot_child(row: RowType, k: int) -> types.Type:
    found = element_type(row.column.part(k))
    may_differ = layout(row.column.data_type).kind is LayoutKind.DENSE_UNION
    if isinstance(found, types.NoneType | types.Optional) or not may_differ:
        return found
    return types.Optional(found)


def _emit_slot_child(context: Any, builder: Any, kind: RowType, row: Any, k: int) -> Any:
    """What child `k` holds for a slot; None of a dense union, if the slot is of another child."""
    made = cgutils.create_struct_proxy(kind)(context, builder, value=row)
    column, part = kind.column, kind.column.part(k)
    child = emit_child(context, builder, column, made.column, k)
    if layout(column.data_type).kind is not LayoutKind.DENSE_UNION:
        return element_at(context, builder, part, child, made.slot)
    is_of_child = _is_of_child(context, builder, column, made, k)
    found, returned = element_type(part), _type_of_slot_child(kind, k)
    none = context.get_constant_null(returned)
    place = cgutils.alloca_once_value(builder, none)
    # The offset of a slot that is of another child leads elsewhere.
    with builder.if_then(is_of_child):
        kinds, args = (column, types.uint64), (made.column, made.slot)
        slot = called(context, builder, child_slot, kinds, args)
        element = element_at(context, builder, part, child, slot)
        builder.store(context.cast(builder, element, found, returned), place)
    return builder.load(place)


def _is_of_child(context: Any, builder: Any, kind: ColumnType, row: Any, k: int) -> Any:
    """Whether a slot of a union is of child `k`; checked code raises ValueError if it is not."""
    kinds, args = (kind, types.uint64), (row.column, row.slot)
    type_id = called(context, builder, type_id_at, kinds, args)
    expected = type_id.type(kind.data_type.type_codes[k])
    if checks_positions(context):
        with builder.if_then(builder.icmp_signed("!=", type_id, expected), likely=False):
            message = (
                f"child({k}) of a union's slot that is of another child: ask for type_id first"
            )
            context.call_conv.return_user_exc(builder, ValueError, (message,))
    return builder.icmp_signed("==", type_id, expected)


def _emit_type_id(context: Any, builder: Any, kind: RowType, row: Any) -> Any:
    made = cgutils.create_struct_proxy(kind)(context, builder, value=row)
    kinds, args = (kind.column, types.uint64), (made.column, made.slot)
    return called(context, builder, type_id_at, kinds, args)


# Parts of maps and encoded columns


def _part(k: int, had_by: Callable[[Any], bool]) -> Attribute:
    def emit(context: Any, builder: Any, kind: ColumnType, column: Any) -> Any:
        taken = emit_child if isinstance(kind, EntriesType) else emit_part
        return taken(context, builder, kind, column, k)

    return Attribute(had_by, lambda column: column.part(k), emit)


def _are_entries(column: Any) -> bool:
    return isinstance(column, EntriesType)


_are_runs = _columns_of(s.RunEndEncoded)


def _emit_unit(context: Any, builder: Any, kind: ColumnType, column: Any) -> Any:
    return context.get_constant_generic(builder, types.unicode_type, kind.data_type.unit)


_UNITS = (s.Date, s.Time, s.Timestamp, s.Duration, s.Interval)

COLUMN_ATTRIBUTES = {
    "null_count": Attribute(_any, lambda _: types.int64, _emit_null_count),
    "unit": Attribute(_columns_of(*_UNITS), lambda _: types.unicode_type, _emit_unit),
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
