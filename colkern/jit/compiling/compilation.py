"""What a user's function returns, found out by compiling it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from numba import types

from colkern import schema as s
from colkern.errors import CompileError
from colkern.jit.compiling.attempt import compile_or_explain
from colkern.jit.compiling.explanations import plain_types
from colkern.jit.results.kinds import Kind, ListKind, RowKind
from colkern.jit.rows.arguments import Value
from colkern.jit.rows.loop_names import numba_type
from colkern.jit.values.decimal_numbers import DecimalType
from colkern.jit.values.strings import ByteStringType
from colkern.jit.views.columns import ColumnType
from colkern.jit.views.elements import value_type


def returned_kinds(
    dispatcher: Any, values: Sequence[Value], nullable: Sequence[bool], verb: str = "returns"
) -> frozenset[Kind]:
    """What a function returns, compiling it if it has to.

    Args:
        dispatcher: The function.
        values: What it gets: names as in `Reader.value`.
        nullable: Which of them it also gets as None.
        verb: What messages say that it does with its results.

    Returns:
        What it returns for each combination of nulls.

    Raises:
        CompileError: If it does not compile, or returns something that no column holds.
    """
    return frozenset(
        returned_kind(dispatcher, signature, verb) for signature in signatures(values, nullable)
    )


def signatures(values: Sequence[Value], nullable: Sequence[bool]) -> list[tuple[Any, ...]]:
    """The Numba types of a function's arguments: one signature for each combination of nulls."""
    choices = [
        (numba_type(value), types.none) if may else (numba_type(value),)
        for value, may in zip(values, nullable, strict=True)
    ]
    return list(itertools.product(*choices))


def returned_kind(dispatcher: Any, signature: tuple[Any, ...], verb: str = "returns") -> Kind:
    """As `returned_kinds`, for arguments of given Numba types."""
    returned = returned_type(dispatcher, signature, verb)
    kind = _kind(returned)
    if kind is None or (verb != "returns" and not isinstance(kind, str)):
        inner = returned.type if isinstance(returned, types.Optional) else returned
        words = plain_types(str(inner))
        raise CompileError(f"{dispatcher.__name__} {verb} {words}, which no column holds")
    return kind


def returned_type(dispatcher: Any, signature: tuple[Any, ...], verb: str = "returns") -> Any:
    """The Numba type of what a function returns for arguments of given Numba types.

    Raises:
        CompileError: If it does not compile.
    """
    compile_or_explain(dispatcher, signature, verb)
    return dispatcher.overloads[signature].signature.return_type


def _kind(returned: Any) -> Kind | None:
    plain = types.unliteral(returned)
    if isinstance(plain, types.Optional):
        plain = types.unliteral(plain.type)
    if isinstance(plain, types.UnicodeType):
        return "unicode"
    if isinstance(plain, types.Bytes):
        return "binary"
    if isinstance(plain, ByteStringType):
        return "text" if plain.kind == "utf8" else "binary"
    if isinstance(plain, types.Boolean):
        return "boolean"
    if isinstance(plain, types.NoneType | types.Integer | types.Float):
        return str(plain)
    if isinstance(plain, DecimalType):
        return _widest_decimal(plain)
    if isinstance(plain, ColumnType):
        item = _kind(value_type(plain))
        return None if item is None else ListKind(item, plain.data_type)
    if isinstance(plain, types.List | types.ListType | types.Array):
        item = _kind(plain.dtype) if getattr(plain, "ndim", 1) == 1 else None
        return None if item is None else ListKind(item)
    if isinstance(plain, types.BaseTuple):
        kinds = tuple(map(_kind, plain.types))
        found = tuple(kind for kind in kinds if kind is not None)
        return RowKind(getattr(plain, "fields", None), found) if found == kinds else None
    return None


def _widest_decimal(kind: DecimalType) -> s.DataType | None:
    made = s.decimal128 if kind.words <= 2 else s.decimal256
    bits = 128 if kind.words <= 2 else 256
    precision = s.MAX_DECIMAL_PRECISION[bits]
    return made(precision, kind.scale)
