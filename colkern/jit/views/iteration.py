"""Iteration over columns and streams; over run-end encoded columns it carries the run."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import RefType, impl_ret_untracked, iternext_impl
from numba.extending import lower_builtin, register_jitable
from numpy import uint64

from colkern import schema as s
from colkern.jit.lowering import Lowering
from colkern.jit.views.column_types import ColumnIteratorType, ColumnType, StreamType
from colkern.jit.views.columns import batch_of, part_of
from colkern.jit.views.elements import run_end, run_of
from colkern.jit.views.slots import element_at


@lower_builtin("getiter", ColumnType)
@lower_builtin("getiter", StreamType)
def _getiter(context, builder, sig, args):
    iterator = context.make_helper(builder, sig.return_type)
    zero = context.get_constant(types.uint64, 0)
    iterator.next = cgutils.alloca_once_value(builder, zero)
    iterator.run = cgutils.alloca_once_value(builder, zero)
    iterator.source = args[0]
    if isinstance(sig.args[0], ColumnType) and isinstance(sig.args[0].data_type, s.RunEndEncoded):
        first = context.compile_internal(builder, _first_run, types.uint64(sig.args[0]), (args[0],))
        builder.store(first, iterator.run)
    return impl_ret_untracked(context, builder, sig.return_type, iterator._getvalue())


@register_jitable
def _first_run(column):
    return run_of(column, uint64(0)) if column._ck_length > 0 else uint64(0)


@register_jitable
def _run_at(column, slot, run):
    while run_end(column, run) <= column._ck_offset + slot:
        run += uint64(1)
    return run


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
    run = at.call(_run_at, kinds, (iterator.source, slot, at.builder.load(iterator.run)))
    at.builder.store(run, iterator.run)
    values = at.call(part_of, (kind, types.literal(1)), (iterator.source, run))
    return element_at(at, kind.part(1), values, run)
