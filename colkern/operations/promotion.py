"""The rule by which numbers, or text, of two types are cast to a common type."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array, ChunkedArray, Column
from colkern.builders import array
from colkern.builders.infer import from_dtype
from colkern.dispatch import BINARY, TEXT
from colkern.layouts import Role, layout
from colkern.operations.casting import cast
from colkern.operations.operands import value_type_of


def are_numbers(sides: Iterable[object]) -> bool:
    """Whether all columns among the operands have integers or floating-point numbers."""
    kinds = [value_type_of(side) for side in sides if isinstance(side, Column)]
    return all(isinstance(kind, s.Int | s.FloatingPoint) for kind in kinds)


def cast_alike(sides: Sequence[Any]) -> Sequence[Any]:
    """The operands, with columns cast to a common type if their types have one; else as they are.

    Numbers are cast as by `promoted`, or, with decimals among integers, as by `with_decimals`. Text takes
    the type of the first column, whichever of the three layouts that has, and is decoded; so do binary
    values.

    Raises:
        TypeError, ValueError: As `promoted`.
        LimitExceededError: If text does not fit the offsets of the first column's type.
    """
    columns = [side for side in sides if isinstance(side, Array | ChunkedArray)]
    if len(columns) == len(sides) and len({id(column.type) for column in columns}) == 1:
        return sides
    if any(isinstance(column.type, s.Extension) for column in columns):
        return sides
    kinds = [value_type_of(column) for column in columns]
    for family in (TEXT, BINARY):
        if all(isinstance(kind, family) for kind in kinds):
            if all(s.same_type(column.type, columns[0].type) for column in columns):
                return sides
            retype: Any = cast
            return [retype(side, kinds[0]) if isinstance(side, Column) else side for side in sides]
    if are_numbers(columns):
        return promoted([*sides])
    if all(isinstance(kind, s.Int | s.Decimal) for kind in kinds):
        return with_decimals([*sides], alike=True)
    return sides


def with_decimals(sides: list[Any], alike: bool) -> list[Any]:
    """The operands, with integer columns cast to decimals that hold all values of their type.

    Args:
        sides: Columns, and values, of which some are of decimals.
        alike: Whether to cast all decimals to one type.
    """
    kinds = [
        value_type_of(side)
        if isinstance(side, Column)
        else array([side]).type
        if isinstance(side, Decimal)
        else None
        for side in sides
    ]
    types: list[Any] = [
        s.decimal128(len(str(1 << kind.bit_width - kind.signed)), 0)
        if isinstance(kind, s.Int)
        else kind
        for kind in kinds
    ]
    known = [type_ for type_ in types if isinstance(type_, s.Decimal)]
    if alike and len(set(known)) > 1:
        scale = max(type_.scale for type_ in known)
        digits = scale + max(type_.precision - type_.scale for type_ in known)
        common = s.decimal128(digits, scale) if digits <= 38 else s.decimal256(digits, scale)
        types = [common if isinstance(type_, s.Decimal) else type_ for type_ in types]
    retype: Any = cast
    return [
        side if type_ == kind or not isinstance(side, Column) else retype(side, type_)
        for side, kind, type_ in zip(_plain_integers(sides), kinds, types, strict=True)
    ]


def _plain_integers(sides: Iterable[Any]) -> list[Any]:
    """The operands, with NumPy's integers as Python's, which have no type of their own."""
    return [int(side) if isinstance(side, np.integer) else side for side in sides]


def promoted(sides: list[Any], as_float: bool = False) -> list[Any]:
    """The operands, with columns of numbers cast to one type; Python's numbers stay as they are.

    Numbers of two types are cast to the type that NumPy promotes them to, if it holds all their values:
    int32 beside int64 to int64, integers beside floats to float64. A Python number has no type of its
    own, but a float beside integers is float64. Nor has an integer of NumPy where no type of integers
    holds all values of its type and of the column's.

    Args:
        as_float: Whether to cast to float64 if all are integers, too.

    Raises:
        TypeError: If no type holds the values of both: of uint64 beside signed integers.
        ValueError: If a value does not fit the type that it is cast to.
    """
    kinds: list[Any] = [
        layout(value_type_of(side)).spec(Role.DATA).dtype if isinstance(side, Column) else side
        for side in sides
        if isinstance(side, Column | int | float | np.number)
    ]
    dtypes = {kind for kind in kinds if isinstance(kind, np.dtype)}
    common = np.result_type(*kinds)
    if common.kind == "f" and all(np.result_type(kind).kind in "iu" for kind in kinds):
        if len(dtypes) > 1:
            names = " and ".join(sorted(map(str, dtypes)))
            raise TypeError(
                f"no type of integers holds the values of {names}: cast one of them first"
            )
        (common,) = dtypes
        sides = _plain_integers(sides)
    if as_float and common.kind != "f":
        common = np.dtype(np.float64)
    type_ = from_dtype(common)
    # `cast` takes chunked arrays, too.
    retype: Any = cast
    return [
        retype(side, type_) if isinstance(side, Column) and value_type_of(side) != type_ else side
        for side in sides
    ]
