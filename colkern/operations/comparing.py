"""Comparisons of two arrays of one type, or of an array and a value, for `equal` and `less`.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.dispatch import BINARY, TEXT
from colkern.layouts import LayoutKind, Role
from colkern.memory import HOST, Buffer
from colkern.missing import is_null
from colkern.operations.creation import nulls
from colkern.operations.devices import one_device
from colkern.operations.encodings import decoded, on_values
from colkern.operations.operands import (
    Plans,
    number_of,
    planned,
    planned_beside,
    unsigned,
)
from colkern.operations.position_checks import require_valid
from colkern.operations.selection import own_words
from colkern.operations.validity import combine_validity, with_nulls_of
from colkern.targets import Items, target_of

_Side = TypeVar("_Side")


class Order(NamedTuple):
    """An order.

    Args:
        swapped: Whether to test that the right value is less, not the left one.
        flip: 0, or 255 to test that this value is not less.
        nans_greatest: Whether NaN is greater than all numbers; else it is unordered.
    """

    swapped: bool
    flip: int
    nans_greatest: bool = False

    def placed(self, sides: tuple[_Side, _Side]) -> tuple[_Side, _Side]:
        """The side tested to be less (or not less), and then the other one."""
        return (sides[1], sides[0]) if self.swapped else sides


LESS, GREATER = Order(False, 0), Order(True, 0)
GREATER_EQUAL, LESS_EQUAL = Order(False, 255), Order(True, 255)


_BOOL = s.bool_()


_PLANNED = frozenset({LayoutKind.FIXED_SIZE, LayoutKind.BINARY, LayoutKind.BINARY_VIEW})
"""The layouts whose comparison is kept; the others are encoded or nested."""


Relation = TypeVar("Relation")
"""The relation that a comparison asks for: whether to flip the bits, or an `Order`."""


Comparer: TypeAlias = Callable[[Array, Any, Relation], Buffer]
"""Compares the values of an array with those of another, or with a Python value: a bit for each slot."""

_PLANS: defaultdict[object, Plans[Comparer[Any]]] = defaultdict(dict)
"""Function that gives comparers → its plans."""


def compared(
    left: Array, right: object, comparer: Callable[[Array], Comparer[Relation]], asked: Relation
) -> Array:
    """The comparison of values, slot by slot: booleans, null if either value is null.

    Args:
        left, right: As for `colkern.equal`, as are errors.
        comparer: Gives the function that compares values of an array without dictionary- or run-end
            encoding; raises `UnsupportedError` if they cannot be compared.
        asked: The relation, for the comparer.
    """
    plans = _PLANS[comparer]
    plan = planned(plans, left, right)
    if plan is not None:
        return bits_of_both(left, right, plan, asked)  # type: ignore[arg-type]
    plan = planned_beside(plans, left, right, others=True)
    if plan is not None:
        return with_nulls_of(left, _BOOL, [plan(left, right, asked)])
    require_valid(left)
    if isinstance(right, Array):
        return _compare_arrays(left, right, comparer, asked)
    return on_values(left, lambda values: _compare_value(values, right, comparer, asked))


def _compare_arrays(
    left: Array, right: Array, comparer: Callable[[Array], Comparer[Relation]], asked: Relation
) -> Array:
    if left.length != right.length:
        raise ValueError(f"right: {right.length} values, left has {left.length}")
    one_device((left, right), "left", "right")
    require_valid(right)
    left, right = decoded(left), decoded(right)
    kind = _kind(left)
    if (kind is None or kind is not _kind(right)) and not s.same_type(left.type, right.type):
        raise TypeError(f"right: expected {left.type}, got {right.type}; cast one of them")
    if left.layout.kind is LayoutKind.NULL:
        return nulls(left.length, _BOOL, left.device)
    if left.layout.kind in _PLANNED and right.layout.kind in _PLANNED:
        _PLANS[comparer][left.layout, right.layout] = comparer(left)
    return bits_of_both(left, right, comparer(left), asked)


def bits_of_both(left: Array, right: Array, comparer: Comparer[Relation], asked: Relation) -> Array:
    """The booleans that `comparer` gives for two arrays of one length, null where either is null."""
    validity, count = None, 0
    if left._null_count and right._null_count and left.device is not HOST:
        with target_of(left.device).together:
            validity, count = combine_validity((left, right))
            bits = comparer(left, right, asked)
        return Array.of_valid(_BOOL, left.length, (validity, bits), count)
    if left._null_count or right._null_count:
        validity, count = combine_validity((left, right))
    bits = comparer(left, right, asked)
    return Array.of_valid(_BOOL, left.length, (validity, bits), count)


def _compare_value(
    array: Array, value: object, comparer: Callable[[Array], Comparer[Relation]], asked: Relation
) -> Array:
    if is_null(value) or array.layout.kind is LayoutKind.NULL:
        return nulls(array.length, _BOOL, array.device)
    chosen = comparer(array)
    if array.layout.kind in _PLANNED:
        _PLANS[comparer][array.layout, array.layout] = chosen
    return with_nulls_of(array, _BOOL, [chosen(array, value, asked)])


def _kind(array: Array) -> type[str] | type[bytes] | None:
    """The Python type of values of variable size; None for others."""
    type_ = array.type.storage
    return str if isinstance(type_, TEXT) else bytes if isinstance(type_, BINARY) else None


def _about_value(what: object, array: Array) -> str:
    """The message of an error about the value that an array is compared with."""
    return f"right: {what}; the array is of {array.type}"


def item_of(array: Array, value: object) -> Items:
    """A value other than null as an item on the host: a floating-point number, or a row of words."""
    type_ = array.type.storage
    if isinstance(type_, _NUMBERS) and type_.bit_width != 16:
        number = number_of(value, type_, "right")
        item = np.array([number], number.dtype)
        return item if item.dtype.kind == "f" else unsigned(item)
    from colkern.builders.nested import build
    from colkern.builders.parts import BadValue

    try:
        single = build(type_, [value])
    except BadValue as error:
        raise error.kind(_about_value(error.message, array)) from None
    is_float = isinstance(type_, s.FloatingPoint)
    return single.items(Role.DATA) if is_float else own_words(single, Role.DATA)[0]


_NUMBERS = (s.Int, s.FloatingPoint)


def boolean_of(array: Array, value: object) -> bool:
    """The value as a boolean; raises `TypeError` if it is none."""
    from colkern.builders.parts import wrong

    if not isinstance(value, bool | np.bool_):
        raise TypeError(_about_value(wrong("bool", value), array))
    return bool(value)


def bytes_of(array: Array, value: object) -> bytes:
    """The value as bytes, as an array of strings or of binary values stores it."""
    from colkern.builders.parts import wrong

    expected = _kind(array) or bytes
    if not isinstance(value, str | bytes) or (expected is str and not isinstance(value, str)):
        raise TypeError(_about_value(wrong(expected.__name__, value), array))
    return value.encode() if isinstance(value, str) else value
