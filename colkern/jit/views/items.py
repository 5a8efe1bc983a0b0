"""`len(column)`, `column[...]` and a write to it; also for batches, rows and streams."""

from __future__ import annotations

import operator

from numba import types
from numba.core.errors import TypingError
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import lower_builtin, overload
from numpy import uint64

from colkern.cpu.compiler import compiled
from colkern.jit.lowering import Lowering
from colkern.jit.views.column_types import ColumnType, RowType, StreamType, immutable
from colkern.jit.views.columns import batch_of, cut
from colkern.jit.views.elements import element_type
from colkern.jit.views.fields import field_of_column, field_of_row
from colkern.jit.views.slots import element_at, slot_of
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
def _getitem(context, builder, sig, args):
    at, kind = Lowering(context, builder), sig.args[0]
    slot = slot_of(at, at.struct(kind, args[0]).length, sig.args[1], args[1])
    return element_at(at, kind, args[0], slot)


@lower_builtin(operator.getitem, StreamType, types.Integer)
def _getbatch(context, builder, sig, args):
    at, kind = Lowering(context, builder), sig.args[0]
    slot = slot_of(at, at.struct(kind, args[0]).length, sig.args[1], args[1])
    return at.call(batch_of, (kind, types.uint64), (args[0], slot))


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


@overload(operator.setitem)
def _ol_setitem(column, key, value):
    if isinstance(column, ColumnType | RowType | StreamType):
        raise immutable(column)
    return
