"""The kinds of a user's results, found out by compiling the function."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from numba import types
from numba.core.registry import CPUDispatcher

from colkern import schema as s
from colkern.errors import CompileError
from colkern.jit.compiling.attempt import compile_or_explain
from colkern.jit.compiling.explanations import plain_types
from colkern.jit.elements.types import BytesType, TextType
from colkern.jit.results.kinds import Kind, ListKind, MapKind, RowKind
from colkern.jit.rows.arguments import Value
from colkern.jit.rows.loop_names import numba_type
from colkern.jit.values.decimal_numbers import DecimalType
from colkern.jit.views.column_types import ColumnType, EntriesType, RowType, value_type


def returned_kinds(
    dispatcher: CPUDispatcher,
    values: Sequence[Value],
    nullable: Sequence[bool],
) -> frozenset[Kind]:
    """The kinds that a function returns, compiling it if it must be.

    Args:
        dispatcher: The function.
        values: Its arguments: names as in `Reader.value`.
        nullable: Which of them it also gets as None.

    Returns:
        The kinds of results for all combinations of nulls.

    Raises:
        CompileError: If it does not compile, or returns something that no column holds.
    """
    return frozenset(
        returned_kind(dispatcher, signature) for signature in signatures(values, nullable)
    )


def signatures(values: Sequence[Value], nullable: Sequence[bool]) -> list[tuple[types.Type, ...]]:
    """The Numba types of a function's arguments: one signature for each combination of nulls."""
    choices = [
        (numba_type(value), types.none) if may else (numba_type(value),)
        for value, may in zip(values, nullable, strict=True)
    ]
    return list(itertools.product(*choices))


def returned_kind(dispatcher: CPUDispatcher, signature: tuple[types.Type, ...]) -> Kind:
    """As `returned_kinds`, for arguments of given Numba types."""
    returned = returned_type(dispatcher, signature)
    kind = _kind(returned)
    if kind is None:
        inner = returned.type if isinstance(returned, types.Optional) else returned
        words = plain_types(str(inner))
        raise CompileError(f"{dispatcher.py_func.__name__} returns {words}, which no column holds")
    return kind


def returned_type(dispatcher: CPUDispatcher, signature: tuple[types.Type, ...]) -> types.Type:
    """The Numba type that a function returns for arguments of given Numba types.

    Raises:
        CompileError: If it does not compile.
    """
    compile_or_explain(dispatcher, signature)
    return dispatcher.overloads[signature].signature.return_type


def _kind(returned: types.Type) -> Kind | None:
    plain = types.unliteral(returned)
    if isinstance(plain, types.Optional):
        plain = types.unliteral(plain.type)
    if isinstance(plain, types.UnicodeType):
        return "unicode"
    if isinstance(plain, TextType):
        return "text"
    if isinstance(plain, types.Bytes | BytesType):
        return "binary"
    if isinstance(plain, types.Boolean):
        return "boolean"
    if isinstance(plain, types.NoneType | types.Integer | types.Float):
        return str(plain)
    if isinstance(plain, DecimalType):
        return _widest_decimal(plain)
    if isinstance(plain, EntriesType):
        pair = _kinds([value_type(plain.part(k)) for k in range(2)])
        map_type = s.Map(s.field("entries", plain.data_type, nullable=False))
        return None if pair is None else MapKind(pair[0], pair[1], map_type)
    if isinstance(plain, ColumnType):
        item = _kind(value_type(plain))
        return None if item is None else ListKind(item, plain.data_type)
    if isinstance(plain, types.List | types.ListType | types.Array):
        return _list_kind(plain)
    if isinstance(plain, types.DictType):
        pair = _kinds((plain.key_type, plain.value_type))
        return None if pair is None else MapKind(pair[0], pair[1])
    if isinstance(plain, types.BaseTuple):
        fields = _kinds(plain.types)
        return None if fields is None else RowKind(getattr(plain, "fields", None), fields)
    if isinstance(plain, RowType):
        return _slot_kind(plain.column)
    return None


def _kinds(returned: Sequence[types.Type]) -> tuple[Kind, ...] | None:
    """The kinds of several values; None if no column holds one of them."""
    kinds = tuple(map(_kind, returned))
    known = tuple(kind for kind in kinds if kind is not None)
    return known if known == kinds else None


def _list_kind(returned: types.Type) -> Kind | None:
    kind = _kind(returned.dtype)
    for _ in range(getattr(returned, "ndim", 1)):
        kind = None if kind is None else ListKind(kind)
    return kind


def _slot_kind(column: ColumnType) -> Kind | None:
    """The kind of a row of a struct column, or of a union's slot."""
    fields = column.data_type.fields
    kinds = _kinds([value_type(column.part(k)) for k in range(len(fields))])
    if kinds is None:
        return None
    is_struct = isinstance(column.data_type, s.Struct)
    names = tuple(field.name for field in fields) if is_struct else None
    return RowKind(names, kinds, column.data_type)


def _widest_decimal(kind: DecimalType) -> s.DataType | None:
    decimal, bits = (s.decimal128, 128) if kind.words <= 2 else (s.decimal256, 256)
    return decimal(s.MAX_DECIMAL_PRECISION[bits], kind.scale)
