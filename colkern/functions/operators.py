"""Python's operators on columns: each calls the operation that fits the types of its operands."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from operator import is_
from typing import Any

import numpy as np

from colkern import functions, operations
from colkern import schema as s
from colkern.arrays import Array, ChunkedArray, Column
from colkern.builders import array
from colkern.dispatch import TEXT
from colkern.layouts import Layout
from colkern.operations.chunks import as_columns
from colkern.operations.moving import there, to_device
from colkern.operations.operands import value_type_of
from colkern.operations.promotion import are_numbers, promoted, with_decimals
from colkern.operations.time_arithmetic import is_duration


def applied(operator: str, *operands: object) -> Any:
    """Applies the operator with that name (`"add"` for `+`) to operands, at least one of them a column.

    - Numbers of two types are cast to a common one: see `colkern.operations.promotion.promoted`.
    - Integers beside decimals, or a `Decimal`, become decimals; columns of type null take the type of
      the other side.
    - `/` is division of floating-point numbers: integers are cast to float64 first.
    - `+` of text concatenates.
    - `&`, `|`, `^` and `~` are logical on booleans, with Kleene logic for nulls, and bit-wise on
      integers.

    Raises:
        TypeError: As the operation, or if no common type holds the values of both types.
        ValueError: If a value does not fit the type that it is cast to.
    """
    decision = (operator, *map(_mark, operands))
    known = _KNOWN.get(decision)
    if known is not None:
        return known(*operands)
    column = next(each for each in operands if isinstance(each, Column))
    sides = [
        there(operand, column) if isinstance(operand, list) else as_columns(operand)
        for operand in operands
    ]
    sides = _typed(sides)
    column = next(side for side in sides if isinstance(side, Column))
    kinds = [value_type_of(side) for side in sides if isinstance(side, Column)]
    are_texts = all(isinstance(side, str | Column) for side in sides)
    if operator == "add" and are_texts and all(isinstance(kind, TEXT) for kind in kinds):
        return functions.binary_join_element_wise(*sides, "")
    name = operator
    if operator in _ON_BOOLEANS and all(isinstance(kind, s.Bool) for kind in kinds):
        name = _ON_BOOLEANS[operator]
    elif _have_decimals(sides, kinds):
        sides = with_decimals(sides, operator in _COMPARISONS)
    elif are_numbers(sides) and not any(map(is_duration, sides)):
        sides = promoted(sides, operator == "divide")
    if operator in _OF_COLUMNS and not isinstance(sides[0], Column):
        sides[0] = _repeated(sides[0], sides[1])
    if name != operator:
        sides = [side if isinstance(side, Column) else _repeated(side, column) for side in sides]
    operation = getattr(operations, name, None) or getattr(functions, name)
    if None not in decision and all(map(is_, sides, operands)) and len(_KNOWN) < _MOST_KNOWN:
        _KNOWN[decision] = operation
    return operation(*sides)


_OF_NUMPY = {
    "remainder": "mod",
    "negative": "negate",
    "absolute": "abs",
    **{f"bitwise_{word}": f"bit_wise_{word}" for word in ("and", "or", "xor")},
    "invert": "bit_wise_not",
    "left_shift": "shift_left",
    "right_shift": "shift_right",
}
"""NumPy's names of operators that have another one here."""

_OF_OPERATORS = frozenset(
    (
        *("add", "subtract", "multiply", "divide", "floor_divide", "power", *_OF_NUMPY),
        *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    )
)


def of_numpy(self: Column, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
    """A universal function of NumPy, such as `numpy.sqrt`, applied to columns on the host.

    Those that stand for operators, `numpy.add` for example, are the operators of columns. All others are
    NumPy's own, of the values; nulls stay null. (`ufunc.reduce` and its like get NumPy arrays, as do
    functions with options such as `out=`, and give what NumPy gives.)
    """
    if method == "__call__" and not options and ufunc.__name__ in _OF_OPERATORS:
        name = _OF_NUMPY.get(ufunc.__name__, ufunc.__name__)
        if name.startswith("bit_wise") and not isinstance(inputs[0], Column):
            inputs = inputs[::-1]
        return applied(name, *inputs)
    columns: list[Any] = [each for each in inputs if isinstance(each, Column)]
    plain = [_for_numpy(each) if isinstance(each, Column) else each for each in inputs]
    results = getattr(ufunc, method)(*plain, **options)
    if method != "__call__" or options:
        return results
    is_null = np.logical_or.reduce([each.is_null().to_numpy() for each in columns])
    if ufunc.nout == 1:
        return array(np.ma.MaskedArray(results, is_null))
    return tuple([array(np.ma.MaskedArray(each, is_null)) for each in results])


def _for_numpy(column: Any) -> Any:
    """The values for NumPy, with 1 in place of null numbers, of which every function has a value."""
    numbers = isinstance(value_type_of(column), s.Int | s.FloatingPoint)
    return (column.fill_null(1) if numbers else column).to_numpy()


def _typed(sides: list[Any]) -> list[Any]:
    """The operands, with columns of type null cast to the type of the other side, if it has one."""
    untyped = [
        isinstance(side, Column) and isinstance(value_type_of(side), s.Null) for side in sides
    ]
    if not any(untyped) or all(untyped):
        return sides
    other = sides[untyped.index(False)]
    type_ = value_type_of(other) if isinstance(other, Column) else array([other]).type
    retype: Any = operations.cast
    return [
        retype(side, type_) if is_null else side
        for side, is_null in zip(sides, untyped, strict=True)
    ]


_KNOWN: dict[tuple[object, ...], Callable[..., Any]] = {}
"""An operator and a mark of each operand → the operation, where it takes the operands as they are."""

_MOST_KNOWN = 1 << 12
"""The most decisions kept, since the types of a process have no limit."""

_VALUES = frozenset({bool, int, float, str, date, datetime, time, timedelta})
"""Classes of values whose class alone says which operation is meant."""


def _mark(operand: object) -> Layout | type | None:
    """An operand's part of a key of `_KNOWN`: its layout or class; None if these do not decide."""
    kind = operand.__class__
    if kind is Array:
        return operand.layout  # type: ignore[attr-defined, no-any-return]
    return kind if kind in _VALUES else None


_ON_BOOLEANS = {
    "bit_wise_and": "and_kleene",
    "bit_wise_or": "or_kleene",
    "bit_wise_xor": "xor",
    "bit_wise_not": "invert",
}


_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")


def _have_decimals(sides: list[Any], kinds: list[s.DataType]) -> bool:
    """Whether one side has decimals, or is a decimal beside integers."""
    if any(isinstance(side, Decimal) for side in sides):
        return all(isinstance(kind, s.Int | s.Decimal) for kind in kinds)
    return any(isinstance(kind, s.Decimal) for kind in kinds)


_OF_COLUMNS = ("floor_divide", "mod", "power", "shift_left", "shift_right")
"""Operations whose first argument is always a column."""


def _repeated(value: object, column: Column) -> Array:
    """A column that has a value in each slot, with the length and device of `column`."""
    assert isinstance(column, Array | ChunkedArray)
    type_ = value_type_of(column)
    if isinstance(type_, s.Decimal) and isinstance(value, int | Decimal):
        one = array([Decimal(value)])
    else:
        one = array([value], type_)
    return operations.repeat(to_device(one, column.device), len(column))
