"""`owner.name` for a column or a row: an attribute or method of its data type comes first, then a field.

One resolver for types and code: with several, Numba would type a name by one and compile another.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core.errors import TypingError
from numba.core.imputils import lower_getattr_generic, lower_setattr_generic
from numba.core.typing.templates import AttributeTemplate, bound_function, infer_getattr, signature
from numba.extending import lower_builtin

from colkern import schema as s
from colkern.jit.device.columns import ATTRIBUTES, BY_POSITION
from colkern.jit.lowering import Lowering
from colkern.jit.stored_elements import AS_OTHER
from colkern.jit.views.column_types import (
    BatchType,
    ColumnType,
    EntriesType,
    RowType,
    column_type,
    immutable,
)
from colkern.jit.views.columns import emit_child
from colkern.jit.views.elements import (
    Owner,
    attribute,
    by_position,
    child,
    element_type,
    reader_of,
    tester_of,
)
from colkern.jit.views.slots import (
    checks_positions,
    emit_field,
    field_position,
    position_of,
    slot_of,
)

Resolve = Any
"""From an attribute template and the type of a column or row to the type of the bound method."""


def _by_position(name: str) -> Resolve:
    """`column.name(i)`, which calls a function of the column and a slot."""
    key = f"column.{name}"
    short = {"is_valid": tester_of, "value": reader_of}.get(name)

    def resolve(self, column, args, kws):
        if kws or len(args) != 1 or not isinstance(args[0], types.Integer):
            raise TypingError(f"{name} takes a position, an integer")
        return signature(by_position(column, name).type, *args)

    @lower_builtin(key, ColumnType, types.Integer)
    def lower(context, builder, sig, args):
        at, kind = Lowering(context, builder), sig.args[0]
        slot = slot_of(at, at.struct(kind, args[0]).length, sig.args[1], args[1])
        read = by_position(kind, name).function if short is None else short(kind)
        return at.call(read, (kind, types.uint64), (args[0], slot))

    return bound_function(key)(resolve)


def _as_other(name: str) -> Resolve:
    """`column.name()`: the same memory, as a column of another type with the same buffers."""
    key = f"column.{name}"

    def resolve(self, column, args, kws):
        if args or kws:
            raise TypingError(f"{name} takes no arguments")
        return signature(column_type(AS_OTHER[name][1](column.data_type)))

    @lower_builtin(key, ColumnType)
    def lower(context, builder, sig, args):
        return args[0]

    return bound_function(key)(resolve)


def _by_child(key: str, owner: type[Owner]) -> Resolve:
    """`owner.child(k)` for a literal."""

    def resolve(self, kind, args, kws):
        k = position_of(kind, args[0]) if len(args) == 1 and not kws else None
        if k is None:
            raise TypingError("child takes a literal position, as the child's type depends on it")
        return signature(child(kind, k, False).type, *args)

    @lower_builtin(key, owner, types.Literal)
    def lower(context, builder, sig, args):
        kind, k = sig.args[0], position_of(*sig.args)
        read = child(kind, k, checks_positions(context))
        return Lowering(context, builder).call(read.function, (kind,), args[:1])

    return bound_function(key)(resolve)


_Types = type[s.DataType] | tuple[type[s.DataType], ...]

_OF_COLUMNS: dict[str, tuple[_Types, Resolve]] = {
    **{name: (had_by, _by_position(name)) for name, (had_by, _) in BY_POSITION.items()},
    **{name: (had_by, _as_other(name)) for name, (had_by, _) in AS_OTHER.items()},
    "child": (s.Union, _by_child("column.child", ColumnType)),
}
_OF_ROWS: dict[str, tuple[_Types, Resolve]] = {"child": (s.Union, _by_child("row.child", RowType))}

_NAMES = {*_OF_COLUMNS, *ATTRIBUTES, "keys", "values"}


class _Attributes(AttributeTemplate):
    def generic_resolve(self, owner, name):
        is_row = isinstance(owner, RowType)
        had_by, resolve = (_OF_ROWS if is_row else _OF_COLUMNS).get(name, ((), None))
        if resolve is not None and isinstance(owner.column.data_type, had_by):
            return resolve(self, owner)
        read = attribute(owner, name)
        if read is not None:
            return read.type
        k = field_position(owner, name)
        if k is not None:
            return element_type(owner.column.part(k)) if is_row else owner.part(k)
        if name in _NAMES:
            raise TypingError(f"{owner} has no {name!r}")
        return None


@infer_getattr
class _RowAttributes(_Attributes):
    key = RowType


@infer_getattr
class _ColumnAttributes(_Attributes):
    key = ColumnType


@lower_getattr_generic(ColumnType)
@lower_getattr_generic(BatchType)
@lower_getattr_generic(EntriesType)
@lower_getattr_generic(RowType)
def _lower(context, builder, kind, value, name):
    at, read = Lowering(context, builder), attribute(kind, name)
    if read is not None:
        return at.call(read.function, (kind,), (value,))
    emit = emit_field if isinstance(kind, RowType) else emit_child
    return emit(at, kind, value, field_position(kind, name))


@lower_setattr_generic(ColumnType)
@lower_setattr_generic(RowType)
def _refuse(context, builder, signature, arguments, name):
    raise immutable(signature.args[0])
