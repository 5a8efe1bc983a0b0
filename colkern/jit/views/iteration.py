"""Iteration over columns and streams; over run-end encoded columns it carries the run."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import RefType, impl_ret_untracked, iternext_impl
from numba.extending import lower_builtin

from colkern import schema as s
from colkern.jit.lowering import Lowering
from colkern.jit.views.column_types import ColumnIteratorType, ColumnType, StreamType
from colkern.jit.views.columns import batch_of, part_of
from colkern.jit.views.elements import by_position, later_run
from colkern.jit.views.slots import element_at


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
    at: Lowering,
    kind: ColumnType | StreamType,
    iterator: cgutils._StructProxy,
    slot: ir.Value,
) -> ir.Value:
    if isinstance(kind, StreamType):
        return at.call(batch_of, (kind, types.uint64), (iterator.source, slot))
    if not isinstance(kind.data_type, s.RunEndEncoded):
        return element_at(at, kind, iterator.source, slot)
    # The run is carried from one slot to the next.
    kinds = (kind, types.uint64, types.uint64)
    run = at.call(later_run(kind), kinds, (iterator.source, slot, at.builder.load(iterator.run)))
    at.builder.store(run, iterator.run)
    values = at.call(part_of, (kind, types.literal(1)), (iterator.source, run))
    return element_at(at, kind.part(1), values, run)
