"""`owner.name` for a column or a row: an attribute of its data type comes first, then a field.

One resolver for types and code: with several, Numba would type a name by one and compile another.
"""

from __future__ import annotations

from numba.core.errors import TypingError
from numba.core.imputils import lower_getattr_generic, lower_setattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr

from colkern.jit.lowering import Lowering
from colkern.jit.views.column_types import (
    BatchType,
    ColumnType,
    EntriesType,
    RowType,
    element_type,
    immutable,
)
from colkern.jit.views.columns import emit_child
from colkern.jit.views.fields import emit_field, field_position
from colkern.jit.views.methods import (
    COLUMN_ATTRIBUTES,
    COLUMN_METHODS,
    ROW_ATTRIBUTES,
    ROW_METHODS,
    Attribute,
    Method,
    Owner,
)

_NAMES = {*COLUMN_ATTRIBUTES, *COLUMN_METHODS}


def _own(owner: Owner, name: str) -> Attribute | Method | None:
    """The attribute or method that a column or a row has by its data type."""
    is_row = isinstance(owner, RowType)
    attributes, methods = (
        (ROW_ATTRIBUTES, ROW_METHODS) if is_row else (COLUMN_ATTRIBUTES, COLUMN_METHODS)
    )
    own = attributes.get(name) or methods.get(name)
    return own if own is not None and own.had_by(owner) else None


class _Attributes(AttributeTemplate):
    def generic_resolve(self, owner, name):
        own = _own(owner, name)
        if isinstance(own, Method):
            return own.resolve(self, owner)
        if own is not None:
            return own.returns(owner)
        k = field_position(owner, name)
        if k is not None:
            is_row = isinstance(owner, RowType)
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
    at, own = Lowering(context, builder), _own(kind, name)
    if isinstance(own, Attribute):
        return own.emit(at, kind, value)
    emit = emit_field if isinstance(kind, RowType) else emit_child
    return emit(at, kind, value, field_position(kind, name))


@lower_setattr_generic(ColumnType)
@lower_setattr_generic(RowType)
def _refuse(context, builder, signature, arguments, name):
    raise immutable(signature.args[0])
