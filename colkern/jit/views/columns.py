"""Columns, batches, streams and rows in compiled code: their structures, and the way in from Python.

A structure is filled from a record (`colkern.jit.views.records`), whose words never change.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import NumbaTypeError
from numba.core.imputils import lower_constant
from numba.core.pythonapi import _UnboxContext
from numba.extending import NativeValue, box, make_attribute_wrapper, models, register_model, unbox
from numba.np.numpy_support import from_dtype

from colkern.jit.lowering import Lowering
from colkern.jit.values.borrowing import keep_within_calls
from colkern.jit.views.column_types import (
    BatchType,
    ColumnIteratorType,
    ColumnType,
    EntriesType,
    RowType,
    StreamType,
)
from colkern.jit.views.records import (
    ASCII,
    COUNTS,
    HEADER,
    TABLE,
    members,
    part_position,
    record_address,
)
from colkern.kernels.intrinsics import instructions
from colkern.layouts import Role, layout

_WORDS = types.CPointer(types.int64)


# Models


_SIGNED = (*COUNTS, ASCII)


@register_model(ColumnType)
@register_model(BatchType)
@register_model(EntriesType)
class _ColumnModel(models.StructModel):
    def __init__(self, dmm, fe_type):
        words = members(fe_type.data_type)
        own = [(name, types.int64 if name in _SIGNED else types.uint64) for name in words]
        super().__init__(dmm, fe_type, [("record", _WORDS), *own])


@register_model(StreamType)
class _StreamModel(models.StructModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, [("length", types.intp), ("table", _WORDS)])


@register_model(RowType)
class _RowModel(models.StructModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, [("column", fe_type.column), ("slot", types.uint64)])


@register_model(ColumnIteratorType)
class _ColumnIteratorModel(models.StructModel):
    def __init__(self, dmm, fe_type):
        counter = types.EphemeralPointer(types.uint64)
        members = [("next", counter), ("run", counter), ("source", fe_type.source)]
        super().__init__(dmm, fe_type, members)


# Attributes of compiled code's own; a field of a struct may have any other name.
for _name in (*HEADER, *(role.value for role in Role), TABLE, ASCII):
    make_attribute_wrapper(ColumnType, _name, f"_ck_{_name}")
make_attribute_wrapper(StreamType, "length", "_ck_length")
make_attribute_wrapper(RowType, "column", "_ck_column")
make_attribute_wrapper(RowType, "slot", "_ck_slot")


# From records to structures


def _load(builder: ir.IRBuilder, record: ir.Value, word: int) -> ir.Value:
    """A word of a record, which never changes: it may be read once and kept."""
    loaded = builder.load(builder.gep(record, [ir.IntType(64)(word)]))
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


def column_from_record(at: Lowering, kind: ColumnType, record: ir.Value) -> ir.Value:
    """A column, from the pointer to its record."""
    column = at.struct(kind)
    column.record = record
    for word, name in enumerate(members(kind.data_type)):
        setattr(column, name, _load(at.builder, record, word))
    return column._getvalue()


def emit_part(at: Lowering, kind: ColumnType, column: ir.Value, k: int) -> ir.Value:
    """Child `k` of a column, or its dictionary for 0: whole, with its own offset."""
    position = ir.IntType(64)(part_position(kind.data_type, k))
    record = at.builder.gep(at.struct(kind, column).record, [position])
    return column_from_record(at, kind.part(k), record)


def emit_cut(
    at: Lowering, kind: ColumnType, column: ir.Value, start: ir.Value, length: ir.Value
) -> ir.Value:
    """`length` slots of a column from slot `start` on; its nulls are counted when asked for."""
    builder, part = at.builder, at.struct(kind, column)
    zero, unknown = part.null_count.type(0), part.null_count.type(-1)
    same_start = builder.icmp_unsigned("==", start, start.type(0))
    whole = builder.and_(same_start, builder.icmp_unsigned("==", length, part.length))
    known = builder.or_(whole, builder.icmp_unsigned("==", part.null_count, zero))
    part.null_count = builder.select(known, part.null_count, unknown)
    part.offset, part.length = builder.add(part.offset, start), length
    return part._getvalue()


def emit_child(at: Lowering, kind: ColumnType, column: ir.Value, k: int) -> ir.Value:
    """Child `k` of a struct column or a batch: its slots that stand beside the column's own."""
    parent, child = at.struct(kind, column), emit_part(at, kind, column, k)
    return emit_cut(at, kind.part(k), child, parent.offset, parent.length)


@instructions(lambda column, k: column.part(k.literal_value)(column, k), prefer_literal=True)
def part_of(context, builder, signature, args):
    """Child `k` (a literal) of a column, or its dictionary for 0: whole."""
    column, k = signature.args
    return emit_part(Lowering(context, builder), column, args[0], k.literal_value)


@instructions(lambda column, start, length: column(column, types.uint64, types.intp))
def cut(context, builder, signature, args):
    """`length` slots of a column from slot `start` (uint64) on."""
    return emit_cut(Lowering(context, builder), signature.return_type, *args)


@instructions(lambda column, slot: RowType(column)(column, types.uint64))
def row_of(context, builder, signature, args):
    """Slot `slot` (uint64) of a column as a row."""
    row = context.make_helper(builder, signature.return_type)
    row.column, row.slot = args
    return row._getvalue()


@instructions(lambda stream, k: stream.batch(stream, types.uint64))
def batch_of(context, builder, signature, args):
    """Batch `k` (uint64) of a stream."""
    table = context.make_helper(builder, signature.args[0], args[0]).table
    record = builder.inttoptr(builder.load(builder.gep(table, [args[1]])), table.type)
    return column_from_record(Lowering(context, builder), signature.return_type, record)


@instructions(lambda column, slot: types.boolean(column, types.uint64))
def valid_by_bitmap(context, builder, signature, args):
    """Whether a slot (uint64) is valid by the column's own bitmap; yes, if there is none.

    Written in LLVM's terms, as `item_at` is: each function that Numba compiles costs a tenth of a second,
    and every user's function needs these.
    """
    own = context.make_helper(builder, signature.args[0], args[0])
    valid = cgutils.alloca_once_value(builder, ir.IntType(1)(1))
    has_bitmap = builder.icmp_unsigned("!=", own.validity, own.validity.type(0))
    with builder.if_then(has_bitmap):
        position = builder.add(own.offset, args[1])
        bitmap = builder.inttoptr(own.validity, ir.IntType(8).as_pointer())
        byte = builder.load(builder.gep(bitmap, [builder.lshr(position, position.type(3))]))
        shift = builder.trunc(builder.and_(position, position.type(7)), byte.type)
        builder.store(builder.trunc(builder.lshr(byte, shift), ir.IntType(1)), valid)
    return builder.load(valid)


def _item(column: ColumnType) -> types.Type:
    return from_dtype(layout(column.data_type).spec(Role.DATA).dtype)


@instructions(lambda column, slot: _item(column)(column, types.uint64))
def item_at(context, builder, signature, args):
    """The item of the data buffer for a slot (uint64)."""
    own = context.make_helper(builder, signature.args[0], args[0])
    item = context.get_data_type(signature.return_type)
    items = builder.inttoptr(own.data, item.as_pointer())
    return builder.load(builder.gep(items, [builder.add(own.offset, args[1])]))


# In and out of Python


@unbox(ColumnType)
@unbox(BatchType)
@unbox(StreamType)
def _unbox_column(typ, obj, c):
    record, failed = _record(obj, c)
    value = cgutils.alloca_once(c.builder, c.context.get_value_type(typ))
    from_record = _stream_from_record if isinstance(typ, StreamType) else column_from_record
    # A record that could not be made is not to be read.
    with c.builder.if_then(c.builder.not_(failed), likely=True):
        c.builder.store(from_record(Lowering(c.context, c.builder), typ, record), value)
    return NativeValue(c.builder.load(value), is_error=failed)


def _stream_from_record(at: Lowering, kind: StreamType, record: ir.Value) -> ir.Value:
    stream = at.struct(kind)
    stream.length = _load(at.builder, record, 0)
    stream.table = at.builder.inttoptr(_load(at.builder, record, 1), record.type)
    return stream._getvalue()


def _record(obj: ir.Value, c: _UnboxContext) -> tuple[ir.Value, ir.Value]:
    """The LLVM pointer to the record of a Python object; whether that failed, with an exception set."""
    keep_within_calls()
    function = c.pyapi.unserialize(c.pyapi.serialize_object(record_address))
    address = c.pyapi.call_function_objargs(function, (obj,))
    c.pyapi.decref(function)
    failed = cgutils.is_null(c.builder, address)
    number = cgutils.alloca_once_value(c.builder, ir.IntType(64)(0))
    with c.builder.if_then(c.builder.not_(failed), likely=True):
        c.builder.store(c.pyapi.long_as_longlong(address), number)
        c.pyapi.decref(address)
    pointer = c.context.get_value_type(_WORDS)
    return c.builder.inttoptr(c.builder.load(number), pointer), failed


@box(ColumnType)
@box(BatchType)
@box(EntriesType)
@box(StreamType)
@box(RowType)
def _box_column(typ, value, c):
    # At the call, not before it: compiled functions may return views to each other.
    c.pyapi.err_set_string(
        "PyExc_TypeError",
        f"a compiled function cannot return {typ} to Python: it is a view of an argument's memory. "
        f"Return positions or values, or append them to a builder",
    )
    return c.pyapi.get_null_object()


@lower_constant(ColumnType)
@lower_constant(BatchType)
def _refuse_constant(context, builder, typ, value):
    raise NumbaTypeError(
        f"{typ} is a global or a variable of an outer function here, and compiled code would keep the "
        f"address of its memory for good: pass it as an argument"
    )
