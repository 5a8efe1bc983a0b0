"""Whether values are equal, or in an order: of two arrays, or of an array and a value.

Names and meaning are those of `pyarrow.compute`.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import bits_by
from colkern.dispatch import BINARY, ENCODED, NESTED, TEXT, TIMES, Dispatch, by_type
from colkern.errors import UnsupportedError
from colkern.kernels import bitmaps, comparison, ordering, relations
from colkern.kernels.ordering import SIDE_BY_SIDE
from colkern.layouts import Role
from colkern.memory import Buffer
from colkern.operations.arguments import Kind, operation
from colkern.operations.booleans import combined_values
from colkern.operations.comparing import (
    GREATER,
    GREATER_EQUAL,
    LESS,
    LESS_EQUAL,
    Comparer,
    Order,
    boolean_of,
    bytes_of,
    compared,
    item_of,
)
from colkern.operations.operands import items_of_value, unsigned
from colkern.operations.remedies import instead_of_order
from colkern.operations.selection import own_words
from colkern.operations.string_data import as_strings, ordered_string, ordered_strings
from colkern.operations.strings import equal_string, equal_strings
from colkern.targets import Items, Target, on_its_device, target_of

_FLIP = 255


@operation(kind=Kind.ELEMENT_WISE)
def equal(left: Array, right: object) -> Array:
    """Whether values are equal, slot by slot: booleans, null where either is null.

    Numbers are compared as such: NaN equals nothing, -0.0 equals 0.0. Dictionary- and run-end-encoded
    arrays are compared by their values; strings may be stored in different ways.

    Args:
        left: An array of numbers, booleans, times, decimals, strings or binary values.
        right: An array of the same length and type on the same device, or a value of that type as
            `to_pylist` gives it; None makes all null.

    Raises:
        TypeError: If the types differ, or the value is of another one.
        ValueError: If the lengths or the devices differ, or the value does not fit the type.
        UnsupportedError: If the type is nested.
    """
    return compared(left, right, _comparer, 0)


@operation(kind=Kind.ELEMENT_WISE)
def not_equal(left: Array, right: object) -> Array:
    """Whether values differ, slot by slot; the opposite of `equal`, with the same arguments."""
    return compared(left, right, _comparer, _FLIP)


def _comparer(array: Array) -> Comparer[int]:
    comparer = _COMPARERS.get(type(array.type.storage))
    if comparer is None:
        raise UnsupportedError(f"comparing {array.type}; compare its children")
    return comparer


def _equal_words(left: Array, right: object, flip: int) -> Buffer:
    # Those of an array begin `stride` words apart.
    if isinstance(right, Array):
        others, stride = own_words(right, Role.DATA)
    else:
        others, stride = items_of_value(left, right, item_of), 0
    target, length = target_of(left.device), left.length
    words, width = own_words(left, Role.DATA)
    if width != 1:
        sides = (words, others, width, stride)
        return bits_by(target, comparison.equal_wide, length, (*sides, length, flip))
    kernel = comparison.equal_items if stride else comparison.equal_item
    return bits_by(target, kernel, length, (words, others, length, flip))


def _equal_floats(left: Array, right: object, flip: int) -> Buffer:
    if isinstance(right, Array):
        others, stride = right.items(Role.DATA), 1
    else:
        others, stride = items_of_value(left, right, item_of), 0
    target, length = target_of(left.device), left.length
    items = left.items(Role.DATA)
    if items.dtype.itemsize == 2:
        sides = unsigned(items), unsigned(others), stride
        return bits_by(target, comparison.equal_halves, length, (*sides, length, flip))
    kernel = comparison.equal_items if stride else comparison.equal_item
    return bits_by(target, kernel, length, (items, others, length, flip))


def _equal_booleans(left: Array, right: object, flip: int) -> Buffer:
    if isinstance(right, Array):
        return combined_values(left, right, bitmaps.EQUAL ^ (flip & 1))
    table = bitmaps.SAME if boolean_of(left, right) else bitmaps.NOT
    return combined_values(left, left, table ^ (flip & 1))


def _equal_strings(left: Array, right: object, flip: int) -> Buffer:
    if isinstance(right, Array):
        return equal_strings(left, right, flip)
    return equal_string(left, bytes_of(left, right), flip)


_COMPARERS: Dispatch[type[s.DataType], Comparer[int]] = by_type(
    "equal", s.Null, s.Extension, *NESTED, *ENCODED
)
_COMPARERS.of(s.Int, s.Decimal, *TIMES, s.Interval, s.FixedSizeBinary)(_equal_words)
_COMPARERS.of(s.FloatingPoint)(_equal_floats)
_COMPARERS.of(*TEXT, *BINARY)(_equal_strings)
_COMPARERS.of(s.Bool)(_equal_booleans)


@operation(kind=Kind.ELEMENT_WISE)
def less(left: Array, right: object) -> Array:
    """Whether each value of `left` is less than that of `right`: booleans, null if either is null.

    Numbers and decimals compare by value; a comparison with NaN is false. Earlier times, shorter
    durations and false are less. Strings and binary values compare by their bytes, which for strings is
    the order of code points; they may be stored in different ways. Dictionary- and run-end-encoded
    arrays are compared by their values.

    Args:
        left: An array of numbers, decimals, booleans, times, strings or binary values.
        right: An array of the same length and type on the same device, or a value of that type as
            `to_pylist` gives it; None makes all null.

    Raises:
        TypeError: If the types differ, or the value is of another one.
        ValueError: If the lengths or the devices differ, or the value does not fit the type.
        UnsupportedError: If the type has no order: nested ones and intervals.
    """
    return compared(left, right, _order_comparer, LESS)


@operation(kind=Kind.ELEMENT_WISE)
def less_equal(left: Array, right: object) -> Array:
    """Whether each value of `left` is less than that of `right`, or equal to it; see `less`."""
    return compared(left, right, _order_comparer, LESS_EQUAL)


@operation(kind=Kind.ELEMENT_WISE)
def greater(left: Array, right: object) -> Array:
    """Whether each value of `left` is greater than that of `right`; see `less`."""
    return compared(left, right, _order_comparer, GREATER)


@operation(kind=Kind.ELEMENT_WISE)
def greater_equal(left: Array, right: object) -> Array:
    """Whether each value of `left` is greater than that of `right`, or equal to it; see `less`."""
    return compared(left, right, _order_comparer, GREATER_EQUAL)


def ordered(left: Array, right: object, order: Order, *, nans_greatest: bool = False) -> Array:
    """Whether values are in an order, slot by slot: booleans, null if either is null.

    Args:
        nans_greatest: Whether NaN is greater than all numbers, and all NaNs are equal, as SQL engines
            have it; else NaN is in no order with anything.

    Raises:
        TypeError, ValueError, UnsupportedError, InvalidArrowError: As `less`.
    """
    asked = order._replace(nans_greatest=True) if nans_greatest else order
    return compared(left, right, _order_comparer, asked)


def _order_comparer(array: Array) -> Comparer[Order]:
    comparer = _ORDER_COMPARERS.get(type(array.type.storage))
    if comparer is None:
        remedy = instead_of_order(array.type)
        raise UnsupportedError(f"no order of the values of {array.type}; {remedy}")
    return comparer


_Side: TypeAlias = tuple[Items, int]
"""Floating-point numbers, or words of other items; and their stride: 1, or 0 for one value."""


def _one(array: Array, value: object) -> _Side:
    """A value in the form of an array's items."""
    return items_of_value(array, value, _side_by_side), 0


def _side_by_side(array: Array, value: object) -> Items:
    item = item_of(array, value)
    return item.repeat(SIDE_BY_SIDE) if len(item) == 1 else np.tile(item, SIDE_BY_SIDE)


def _ordered_words(left: Array, right: object, order: Order) -> Buffer:
    dtype, target = left.layout.buffers[1].dtype, target_of(left.device)
    words = own_words(left, Role.DATA)[0], 1
    if isinstance(right, Array):
        others = own_words(right, Role.DATA)[0], 1
    else:
        others = _one(left, right)
    less, greater = order.placed((words, others))
    if dtype.itemsize > 8:
        kernel, number = ordering.less_decimals, dtype.itemsize // 8
    else:
        kernel = ordering.less_integers
        number = 0 if dtype.kind == "u" else 8 * dtype.itemsize - 1
    args = (*less, *greater, number, left.length, order.flip)
    return bits_by(target, kernel, left.length, args)


def _ordered_floats(left: Array, right: object, order: Order) -> Buffer:
    target = target_of(left.device)
    less, stride = left.items(Role.DATA), 1
    greater, other_stride = (
        (right.items(Role.DATA), 1) if isinstance(right, Array) else _one(left, right)
    )
    swapped, flip, nans_greatest = order
    relation = relations.LESS_OR_NAN
    if not nans_greatest:
        # Less or equal: the opposite of greater, except for NaN.
        relation = relations.LESS_OR_EQUAL if flip else relations.LESS
        swapped, flip = swapped != (flip != 0), 0
    if swapped:
        less, stride, greater, other_stride = greater, other_stride, less, stride
    if less.dtype.itemsize == 2:
        less, greater = _single(target, less), _single(target, greater)
    args = (less, stride, greater, other_stride, relation, left.length, flip)
    return bits_by(target, ordering.less_floats, left.length, args)


@on_its_device
def _single(target: Target, items: Items) -> Items:
    """32-bit floats for 16-bit ones, which a CPU cannot compare."""
    return items.astype(np.float32)


def _ordered_booleans(left: Array, right: object, order: Order) -> Buffer:
    if isinstance(right, Array):
        # With true as the greater value: the greater one is true and the other is not.
        greater, other = order.placed((right, left))
        return combined_values(greater, other, bitmaps.AND_NOT ^ (order.flip & 1))
    if boolean_of(left, right):
        table = bitmaps.NEVER if order.swapped else bitmaps.NOT
    else:
        table = bitmaps.SAME if order.swapped else bitmaps.NEVER
    return combined_values(left, left, table ^ (order.flip & 1))


def _ordered_strings(left: Array, right: object, order: Order) -> Buffer:
    if isinstance(right, Array):
        return ordered_strings(left, right, order)
    return ordered_string(left, bytes_of(left, right), order)


def _ordered_fixed(left: Array, right: object, order: Order) -> Buffer:
    if isinstance(right, Array):
        return ordered_strings(as_strings(left), as_strings(right), order)
    return ordered_string(as_strings(left), item_of(left, right).tobytes(), order)


_ORDER_COMPARERS: Dispatch[type[s.DataType], Comparer[Order]] = by_type(
    "less", s.Null, s.Interval, s.Extension, *NESTED, *ENCODED
)
_ORDER_COMPARERS.of(s.Int, s.Decimal, *TIMES)(_ordered_words)
_ORDER_COMPARERS.of(s.FloatingPoint)(_ordered_floats)
_ORDER_COMPARERS.of(*TEXT, *BINARY)(_ordered_strings)
_ORDER_COMPARERS.of(s.FixedSizeBinary)(_ordered_fixed)
_ORDER_COMPARERS.of(s.Bool)(_ordered_booleans)
