"""`len(column)`, `column[...]` and a write to it, and iteration; also for batches, rows and streams.

Iteration over run-end encoded columns carries the run.
"""

from __future__ import annotations

import operator

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.imputils import RefType, impl_ret_untracked, iternext_impl
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import lower_builtin, overload
from numpy import uint64

from colkern import schema as s
from colkern.cpu.compiler import compiled
from colkern.jit.lowering import Lowering, without_none
from colkern.jit.views.column_types import (
    ColumnIteratorType,
    ColumnType,
    RowType,
    StreamType,
    immutable,
)
from colkern.jit.views.columns import batch_of, cut, part_of
from colkern.jit.views.elements import by_position, element_type, later_run
from colkern.jit.views.slots import element_at, field_of_column, field_of_row, slot_of
from colkern.kernels import slot_values


@overload(len)
def _ol_len(column):
    if isinstance(column, ColumnType | StreamType):
        return lambda column: column._ck_length
    return None


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    """Elements by position."""

    def generic(self, args, kws):
        column, key = args
        if not isinstance(key, types.Integer):
            return None
        if isinstance(column, StreamType):
            return column.batch(column, key)
        return element_type(column)(column, key) if isinstance(column, ColumnType) else None


@lower_builtin(operator.getitem, ColumnType, types.Integer)
@lower_builtin(operator.getitem, StreamType, types.Integer)
def _getitem(context, builder, sig, args):
    at, kind = Lowering(context, builder), sig.args[0]
    slot = slot_of(at, at.struct(kind, args[0]).length, sig.args[1], args[1])
    return _at_slot(at, kind, args[0], slot)


def _at_slot(
    at: Lowering, kind: ColumnType | StreamType, source: ir.Value, slot: ir.Value
) -> ir.Value:
    """The element of a column, or the batch of a stream, at a slot."""
    if isinstance(kind, StreamType):
        return at.call(batch_of, (kind, types.uint64), (source, slot))
    return element_at(at, kind, source, slot)


@overload(operator.getitem, prefer_literal=True)
def _ol_getitem(column, key):
    if isinstance(column, RowType):
        return field_of_row(column, key)
    if not isinstance(column, ColumnType) or isinstance(key, types.Integer):
        return None
    if isinstance(key, types.StringLiteral):
        return field_of_column(column, key)
    if isinstance(key, types.SliceType):
        return _slice_of(key)
    raise TypingError(f"{column} is indexed by integers, slices and names of fields, not by {key}")


_bound_of, _span = compiled(slot_values.bound_of), compiled(slot_values.span)


def _slice_of(key):
    if key.has_step:
        raise TypingError("columns are sliced with a step of 1")

    def part(column, key):
        start = _bound_of(key.start, column._ck_length)
        stop = _bound_of(key.stop, column._ck_length)
        return cut(column, uint64(start), _span(start, stop))

    return part


@overload(operator.contains)
def _ol_contains(column, item):
    if not isinstance(without_none(column), ColumnType):
        return None

    def is_among(column, item):
        for value in column:
            if value is None:
                if item is None:
                    return True
            elif item is not None and value == item:
                return True
        return False

    return is_among


@overload(operator.setitem)
def _ol_setitem(column, key, value):
    if isinstance(column, ColumnType | RowType | StreamType):
        raise immutable(column)
    return


# Iteration


@lower_builtin("getiter", ColumnType)
@lower_builtin("getiter", StreamType)
def _getiter(context, builder, sig, args):
    iterator = context.make_helper(builder, sig.return_type)
    zero = context.get_constant(types.uint64, 0)
    iterator.next = cgutils.alloca_once_value(builder, zero)
    iterator.run = cgutils.alloca_once_value(builder, zero)
    iterator.source = args[0]
    kind = sig.args[0]
    if isinstance(kind, ColumnType) and isinstance(kind.data_type, s.RunEndEncoded):
        at = Lowering(context, builder)
        has_slots = builder.icmp_signed(">", at.struct(kind, args[0]).length, ir.IntType(64)(0))
        with builder.if_then(has_slots):
            run_of = by_position(kind, "run").function
            builder.store(at.call(run_of, (kind, types.uint64), (args[0], zero)), iterator.run)
    return impl_ret_untracked(context, builder, sig.return_type, iterator._getvalue())


@lower_builtin("iternext", ColumnIteratorType)
@iternext_impl(RefType.UNTRACKED)
def _iternext(context, builder, sig, args, result):
    (kind,) = sig.args
    iterator = context.make_helper(builder, kind, value=args[0])
    source = context.make_helper(builder, kind.source, iterator.source)
    slot = builder.load(iterator.next)
    valid = builder.icmp_unsigned("<", slot, source.length)
    result.set_valid(valid)
    with builder.if_then(valid):
        result.yield_(_yielded(Lowering(context, builder), kind.source, iterator, slot))
        one = slot.type(1)
        builder.store(builder.add(slot, one, flags=["nsw", "nuw"]), iterator.next)


def _yielded(
    at: Lowering, kind: ColumnType | StreamType, iterator: cgutils._StructProxy, slot: ir.Value
) -> ir.Value:
    if isinstance(kind, StreamType) or not isinstance(kind.data_type, s.RunEndEncoded):
        return _at_slot(at, kind, iterator.source, slot)
    # The run is carried from one slot to the next.
    kinds = (kind, types.uint64, types.uint64)
    run = at.call(later_run(kind), kinds, (iterator.source, slot, at.builder.load(iterator.run)))
    at.builder.store(run, iterator.run)
    values = at.call(part_of, (kind, types.literal(1)), (iterator.source, run))
    return element_at(at, kind.part(1), values, run)
