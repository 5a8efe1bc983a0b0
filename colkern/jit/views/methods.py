"""What columns have besides items: their nulls, values by position, the parts of encoded columns."""

# Numba's decorators and the bodies that it compiles are untyped.
# mypy: disallow-untyped-decorators=False, disallow-untyped-defs=False
# mypy: disallow-untyped-calls=False, disallow-incomplete-defs=False, check-untyped-defs=False

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.typing.templates import bound_function, signature
from numba.extending import lower_builtin, overload, overload_attribute, overload_method
from numpy import uint64

from colkern import schema as s
from colkern.jit.rows.support import bit
from colkern.jit.views.columns import ColumnType, EntriesType, RowType, child_of, part_of
from colkern.jit.views.elements import (
    child_slot,
    index_at,
    reader_of,
    run_of,
    tester_of,
    type_id_at,
    value_type,
)
from colkern.jit.views.fields import ColumnAttribute, position_of
from colkern.jit.views.slots import called, slot_of
from colkern.layouts import layout


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

    setattr(ColumnAttribute, f"resolve_{name}", bound_function(key)(resolve))

    @lower_builtin(key, ColumnType, types.Integer)
    def lower(context, builder, sig, args):
        kind = sig.args[0]
        column = cgutils.create_struct_proxy(kind)(context, builder, value=args[0])
        slot = slot_of(context, builder, column.length, sig.args[1], args[1])
        kinds = (kind, types.uint64)
        return called(context, builder, method.body(kind), kinds, (args[0], slot))


for _name, _method in _METHODS.items():
    _define_method(_name, _method)


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
    position = position_of(column.data_type, k)
    if position is None:
        raise TypingError("child: the position is a literal, as the child's type depends on it")
    return position


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
