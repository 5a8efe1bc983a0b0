"""What compiled code does with columns, batches, rows and streams: the spelling of `colkern.Array`.

`len(column)`, `column[i]`, `column[a:b]`, iteration, `is_valid(i)`, `value(i)`, `null_count`; fields of
structs and batches by name; what unions, maps, dictionaries and runs have besides. CPU target only.
"""

# Numba's decorators and the bodies that it compiles are untyped.
# mypy: disallow-untyped-decorators=False, disallow-untyped-defs=False
# mypy: disallow-untyped-calls=False, disallow-incomplete-defs=False, check-untyped-defs=False

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.imputils import RefType, impl_ret_untracked, iternext_impl, lower_getattr_generic
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    bound_function,
    infer_getattr,
    infer_global,
    signature,
)
from numba.extending import (
    intrinsic,
    lower_builtin,
    overload,
    overload_attribute,
    overload_method,
    register_jitable,
)
from numpy import uint64

from colkern import schema as s
from colkern.jit.rows.support import bit
from colkern.jit.views.columns import (
    BatchType,
    ColumnIteratorType,
    ColumnType,
    EntriesType,
    RowType,
    StreamType,
    batch_of,
    child_of,
    cut,
    emit_child,
    part_of,
)
from colkern.jit.views.elements import (
    child_slot,
    element_type,
    index_at,
    reader_of,
    run_end,
    run_of,
    tester_of,
    type_id_at,
    value_type,
)
from colkern.jit.views.records import parts
from colkern.layouts import layout

# Positions. What takes one is not an `overload`: Numba compiles those once for all callers, whether they
# want their indices checked or not.


def _is_checked(context: Any) -> bool:
    """Whether indices are checked: with `boundscheck=True`, or CK_CHECKED=1 in the environment."""
    return bool(context.enable_boundscheck) or os.environ.get("CK_CHECKED") == "1"


def _slot(context: Any, builder: Any, length: Any, kind: Any, index: Any) -> Any:
    """An index as a slot: from the end, if it is negative."""
    position = context.cast(builder, index, kind, types.int64 if kind.signed else types.uint64)
    if kind.signed:
        negative = builder.icmp_signed("<", position, position.type(0))
        position = builder.select(negative, builder.add(position, length), position)
    if _is_checked(context):
        with builder.if_then(builder.icmp_unsigned(">=", position, length), likely=False):
            message = "column index out of range"
            context.call_conv.return_user_exc(builder, IndexError, (message,))
    return position


def _called(context: Any, builder: Any, function: Any, kinds: Sequence[Any], args: Any) -> Any:
    """A call of a function that Numba knows."""
    known = context.typing_context.resolve_value_type(function)
    signature = known.get_call_type(context.typing_context, tuple(kinds), {})
    return context.get_function(known, signature)(builder, args)


@overload(len)
def _ol_len(column):
    if isinstance(column, ColumnType | StreamType):
        return lambda column: column._ck_length
    return None


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):  # type: ignore[misc]
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
    kind = sig.args[0]
    column = cgutils.create_struct_proxy(kind)(context, builder, value=args[0])
    slot = _slot(context, builder, column.length, sig.args[1], args[1])
    return _element(context, builder, kind, args[0], slot)


def _element(context: Any, builder: Any, kind: ColumnType, column: Any, slot: Any) -> Any:
    """The LLVM value of a slot: optional, if it may be null."""
    kinds, args = (kind, types.uint64), (column, slot)
    found = element_type(kind)
    if not isinstance(found, types.Optional):
        return _called(context, builder, reader_of(kind), kinds, args)
    made = context.make_helper(builder, found)
    valid = _called(context, builder, tester_of(kind), kinds, args)
    place = cgutils.alloca_once(builder, context.get_value_type(found.type), zfill=True)
    with builder.if_then(valid):
        builder.store(_called(context, builder, reader_of(kind), kinds, args), place)
    made.valid, made.data = valid, builder.load(place)
    return made._getvalue()


@lower_builtin(operator.getitem, StreamType, types.Integer)
def _getbatch(context, builder, sig, args):
    kind = sig.args[0]
    stream = cgutils.create_struct_proxy(kind)(context, builder, value=args[0])
    slot = _slot(context, builder, stream.length, sig.args[1], args[1])
    return _called(context, builder, batch_of, (kind, types.uint64), (args[0], slot))


@overload(operator.getitem, prefer_literal=True)
def _ol_getitem(column, key):
    if isinstance(column, RowType):
        return _field_of_row(column, key)
    if not isinstance(column, ColumnType) or isinstance(key, types.Integer):
        return None
    if isinstance(key, types.StringLiteral):
        return _field_of_column(column, key)
    if isinstance(key, types.SliceType):
        return _slice_of(key)
    raise TypingError(f"{column} is indexed by integers, slices and names of fields, not by {key}")


def _slice_of(key: Any) -> Any:
    if key.has_step:
        raise TypingError("columns are sliced with a step of 1")

    def part(column, key):
        start = _clamp(key.start, column._ck_length)
        length = max(_clamp(key.stop, column._ck_length) - start, 0)
        return cut(column, uint64(start), length)

    return part


@register_jitable
def _clamp(position, length):
    """A slice's bound as a position in `length` slots."""
    if position < 0:
        position += length
    return min(max(position, 0), length)


@overload(operator.setitem)
def _ol_setitem(column, key, value):
    if isinstance(column, ColumnType | RowType | StreamType):
        raise TypingError(
            f"{column} cannot be written to: Arrow columns are immutable. Write to a NumPy array, or "
            f"append to a builder"
        )
    return


# Nulls


@overload_attribute(ColumnType, "null_count")
def _ol_null_count(column):
    return lambda column: _null_count(column)


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


# Fields of structs, batches and unions


def _position_of(data_type: s.DataType, key: Any) -> int | None:
    """Which child a literal index or name means; None if it is no literal."""
    if isinstance(key, types.StringLiteral):
        return _position_of_name(data_type, key.literal_value)
    if isinstance(key, types.IntegerLiteral):
        count = len(parts(data_type))
        if not -count <= key.literal_value < count:
            raise TypingError(f"{data_type} has {count} fields, and none at {key.literal_value}")
        return int(key.literal_value) % count
    return None


def _position_of_name(data_type: s.DataType, name: str) -> int:
    names = [field.name for field in data_type.fields]
    if names.count(name) != 1:
        found = "more than one field" if name in names else "no field"
        raise TypingError(f"{data_type} has {found} {name!r}; its fields are {', '.join(names)}")
    return names.index(name)


def _field_of_column(column: ColumnType, key: Any) -> Any:
    if not isinstance(column.data_type, s.Struct):
        raise TypingError(f"{column} has no fields")
    k = _position_of(column.data_type, key)
    return lambda column, key: child_of(column, k)


def _field_of_row(row: RowType, key: Any) -> Any:
    if not isinstance(row.column.data_type, s.Struct):
        raise TypingError(f"{row} has no fields; a union's slot has type_id and child(k)")
    k = _position_of(row.column.data_type, key)
    if k is None:
        raise TypingError("a row's field is named by a literal, as its type depends on it")
    return lambda column, key: row_field(column, k)


@intrinsic(prefer_literal=True)
def row_field(typingctx, row, k):
    """Field `k` (a literal) of a row, None where it is null."""
    if not (isinstance(row, RowType) and isinstance(k, types.IntegerLiteral)):
        return None

    def codegen(context, builder, signature, args):
        return _emit_field(context, builder, row, args[0], k.literal_value)

    return element_type(row.column.part(k.literal_value))(row, k), codegen


def _emit_field(context: Any, builder: Any, kind: RowType, row: Any, k: int) -> Any:
    made = cgutils.create_struct_proxy(kind)(context, builder, value=row)
    child = emit_child(context, builder, kind.column, made.column, k)
    return _element(context, builder, kind.column.part(k), child, made.slot)


class _FieldAttribute(AttributeTemplate):  # type: ignore[misc]
    """Fields as attributes: columns of columns, elements of rows."""

    def generic_resolve(self, owner, attr):
        k = _field_position(owner, attr)
        if k is None:
            return None
        if isinstance(owner, RowType):
            return element_type(owner.column.part(k))
        return owner.part(k)


@infer_getattr
class _RowField(_FieldAttribute):
    key = RowType


@infer_getattr
class _ColumnAttribute(_FieldAttribute):
    key = ColumnType


def _field_position(owner: Any, name: str) -> int | None:
    """The position of the field that an attribute means; None if it means none."""
    column = owner.column if isinstance(owner, RowType) else owner
    if not isinstance(column.data_type, s.Struct) or name.startswith("_ck_"):
        return None
    if name not in [field.name for field in column.data_type.fields]:
        return None
    return _position_of_name(column.data_type, name)


@lower_getattr_generic(ColumnType)
@lower_getattr_generic(BatchType)
@lower_getattr_generic(EntriesType)
@lower_getattr_generic(RowType)
def _lower_field(context, builder, typ, value, attr):
    emit = _emit_field if isinstance(typ, RowType) else emit_child
    return emit(context, builder, typ, value, _field_position(typ, attr))


# Methods that take a position


@dataclass(frozen=True, slots=True)
class _Method:
    """What `column.method(i)` gives.

    Args:
        returns: From the column's type to the type of the result.
        body: From the column's type to the function of `(column, slot)`.
        only: The data types that have it.
    """

    returns: Callable[[ColumnType], types.Type]
    body: Callable[[ColumnType], Any]
    only: type[s.DataType] = s.DataType


_METHODS: dict[str, _Method] = {
    "is_valid": _Method(lambda _: types.boolean, tester_of),
    "value": _Method(value_type, reader_of),
    "type_id": _Method(lambda _: types.int8, lambda _: type_id_at, s.Union),
    "child_index": _Method(lambda _: types.int64, lambda _: child_slot, s.Union),
    "index": _Method(lambda _: types.int64, lambda _: index_at, s.Dictionary),
    "run": _Method(lambda _: types.int64, lambda _: run_of, s.RunEndEncoded),
}


def _define_method(name: str, method: _Method) -> None:
    key = f"column.{name}"

    def resolve(self, column, args, kws):
        _require(column, method.only, name)
        if kws or len(args) != 1 or not isinstance(args[0], types.Integer):
            raise TypingError(f"{name} takes a position, an integer")
        return signature(method.returns(column), *args)

    setattr(_ColumnAttribute, f"resolve_{name}", bound_function(key)(resolve))

    @lower_builtin(key, ColumnType, types.Integer)
    def lower(context, builder, sig, args):
        kind = sig.args[0]
        column = cgutils.create_struct_proxy(kind)(context, builder, value=args[0])
        slot = _slot(context, builder, column.length, sig.args[1], args[1])
        kinds = (kind, types.uint64)
        return _called(context, builder, method.body(kind), kinds, (args[0], slot))


for _name, _method in _METHODS.items():
    _define_method(_name, _method)


# Unions


@overload_method(ColumnType, "child", prefer_literal=True)
def _ol_child(column, k):
    _require(column, s.Union, "child")
    position = _child_position(column, k)
    return lambda column, k: child_of(column, position)


@overload_attribute(RowType, "type_id")
def _ol_row_type_id(row):
    _require(row.column, s.Union, "type_id")
    return lambda row: type_id_at(row._ck_column, row._ck_slot)


@overload_method(RowType, "child", prefer_literal=True)
def _ol_row_child(row, k):
    _require(row.column, s.Union, "child")
    position = _child_position(row.column, k)

    def child(row, k):
        column = row._ck_column
        return child_of(column, position)[child_slot(column, row._ck_slot)]

    return child


def _child_position(column: ColumnType, k: Any) -> int:
    position = _position_of(column.data_type, k)
    if position is None:
        raise TypingError("child: the position is a literal, as the child's type depends on it")
    return position


# Maps, dictionaries, runs


def _require(column: ColumnType, kind: type[s.DataType], name: str) -> None:
    if not isinstance(column.data_type, kind):
        raise TypingError(f"{column} has no {name!r}")


@overload_attribute(ColumnType, "dictionary")
def _ol_dictionary(column):
    _require(column, s.Dictionary, "dictionary")
    return lambda column: part_of(column, 0)


@overload_attribute(ColumnType, "run_ends")
def _ol_run_ends(column):
    _require(column, s.RunEndEncoded, "run_ends")
    return lambda column: part_of(column, 0)


@overload_attribute(ColumnType, "keys")
def _ol_keys(column):
    if not isinstance(column, EntriesType):
        raise TypingError(f"{column} has no 'keys'")
    return lambda column: child_of(column, 0)


@overload_attribute(ColumnType, "values")
def _ol_values(column):
    if isinstance(column, EntriesType):
        return lambda column: child_of(column, 1)
    _require(column, s.RunEndEncoded, "values")
    return lambda column: part_of(column, 1)


_UNITS = (s.Date, s.Time, s.Timestamp, s.Duration, s.Interval)


@overload_attribute(ColumnType, "unit")
def _ol_unit(column):
    if not isinstance(column.data_type, _UNITS):
        raise TypingError(f"{column} has no 'unit'")
    unit = column.data_type.unit
    return lambda column: unit


# Iteration


@lower_builtin("getiter", ColumnType)
@lower_builtin("getiter", StreamType)
def _getiter(context, builder, sig, args):
    made = context.make_helper(builder, sig.return_type)
    zero = context.get_constant(types.uint64, 0)
    made.next = cgutils.alloca_once_value(builder, zero)
    made.run = cgutils.alloca_once_value(builder, zero)
    made.source = args[0]
    if isinstance(sig.args[0], ColumnType) and isinstance(sig.args[0].data_type, s.RunEndEncoded):
        first = context.compile_internal(builder, _first_run, types.uint64(sig.args[0]), (args[0],))
        builder.store(first, made.run)
    return impl_ret_untracked(context, builder, sig.return_type, made._getvalue())


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
    source = cgutils.create_struct_proxy(kind.source)(context, builder, value=iterator.source)
    slot = builder.load(iterator.next)
    valid = builder.icmp_unsigned("<", slot, source.length)
    result.set_valid(valid)
    with builder.if_then(valid):
        result.yield_(_yielded(context, builder, kind.source, iterator, slot))
        one = slot.type(1)
        builder.store(builder.add(slot, one, flags=["nsw", "nuw"]), iterator.next)


def _yielded(context: Any, builder: Any, kind: Any, iterator: Any, slot: Any) -> Any:
    if isinstance(kind, StreamType):
        return _called(context, builder, batch_of, (kind, types.uint64), (iterator.source, slot))
    if not isinstance(kind.data_type, s.RunEndEncoded):
        return _element(context, builder, kind, iterator.source, slot)
    # The run is carried from one slot to the next.
    kinds = (kind, types.uint64, types.uint64)
    args = (iterator.source, slot, builder.load(iterator.run))
    run = _called(context, builder, _run_at, kinds, args)
    builder.store(run, iterator.run)
    values = _called(context, builder, part_of, (kind, types.literal(1)), (iterator.source, run))
    return _element(context, builder, kind.part(1), values, run)
