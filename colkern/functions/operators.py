"""Python's operators on columns: each is an operation, by the types of what stands on its sides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from colkern import functions, operations
from colkern import schema as s
from colkern.arrays import Array, ChunkedArray, Column
from colkern.builders import array
from colkern.builders.infer import from_dtype
from colkern.dispatch import TEXT
from colkern.layouts import Role, layout
from colkern.operations.chunks import as_columns
from colkern.operations.moving import to_device


def applied(operator: str, *operands: object) -> Any:
    """The operator of that name (`"add"` for `+`) on its operands, of which one is a column.

    - Numbers of two types are cast to the type that NumPy promotes them to, if it holds all their
      values: int32 beside int64 to int64, integers beside floats to float64. A Python number has no
      type of its own, but a float beside integers is float64. uint64 beside signed integers is refused.
    - `/` is division of floating-point numbers: integers are cast to float64 first.
    - `+` of text puts the texts behind each other.
    - `&`, `|`, `^` and `~` are logical on booleans, as far as is known where one is null, and bit-wise
      on integers.

    Raises:
        TypeError: As the operation does, or if two types have none that holds the values of both.
        ValueError: If a value does not fit the type that it is cast to.
    """
    sides = [as_columns(operand) for operand in operands]
    kinds = [_type_of(side) for side in sides if isinstance(side, Column)]
    are_texts = all(isinstance(side, str | Column) for side in sides)
    if operator == "add" and are_texts and all(isinstance(kind, TEXT) for kind in kinds):
        return functions.binary_join_element_wise(*sides)
    name = operator
    if operator in _ON_BOOLEANS and all(isinstance(kind, s.Bool) for kind in kinds):
        name = _ON_BOOLEANS[operator]
    elif all(isinstance(kind, s.Int | s.FloatingPoint) for kind in kinds):
        sides = _promoted(sides, operator == "divide")
    if operator in _OF_COLUMNS and not isinstance(sides[0], Column):
        sides[0] = _repeated(sides[0], sides[1])
    return _operation(name)(*sides)


_ON_BOOLEANS = {
    "bit_wise_and": "and_kleene",
    "bit_wise_or": "or_kleene",
    "bit_wise_xor": "xor",
    "bit_wise_not": "invert",
}


_OF_COLUMNS = ("floor_divide", "mod", "power")
"""Operations whose first argument is always a column."""


def _repeated(value: object, column: Column) -> Array:
    """A value for each slot of a column, where that is."""
    assert isinstance(column, Array | ChunkedArray)
    one = array([value], _type_of(column))
    return operations.repeat(to_device(one, column.device), len(column))


def _operation(name: str) -> Callable[..., Any]:
    """An operation, of whichever of the two packages has it."""
    found: Callable[..., Any] = getattr(
        functions if name in functions.__all__ else operations, name
    )
    return found


def _type_of(column: Column) -> s.DataType:
    """The type of the values of a column, whatever encodes them."""
    assert isinstance(column, Array | ChunkedArray)
    type_ = column.type.storage
    while isinstance(type_, s.RunEndEncoded | s.Dictionary):
        type_ = type_.value_type.storage
    return type_


def _promoted(sides: list[Any], as_float: bool) -> list[Any]:
    """Columns of numbers as columns of one type; Python's numbers as they are."""
    kinds: list[Any] = [
        layout(_type_of(side)).spec(Role.DATA).dtype if isinstance(side, Column) else side
        for side in sides
        if isinstance(side, Column | int | float | np.number)
    ]
    dtypes = {kind for kind in kinds if isinstance(kind, np.dtype)}
    common = np.result_type(*kinds)
    if common.kind == "f" and all(dtype.kind in "iu" for dtype in dtypes) and len(dtypes) > 1:
        names = " and ".join(sorted(map(str, dtypes)))
        raise TypeError(f"no type of integers holds the values of {names}: cast one of them first")
    if as_float and common.kind != "f":
        common = np.dtype(np.float64)
    type_ = from_dtype(common)
    return [
        operations.cast(side, type_)
        if isinstance(side, Column) and _type_of(side) != type_
        else side
        for side in sides
    ]
