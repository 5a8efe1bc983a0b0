"""`equal` and `not_equal`, of two arrays or of an array and a value; as in `pyarrow.compute`.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

from colkern import schema as s
from colkern.arrays import Array
from colkern.dispatch import BINARY, ENCODED, NESTED, TEXT, TIMES, Dispatch, by_type
from colkern.errors import UnsupportedError
from colkern.kernels import bitmaps, comparison
from colkern.layouts import Role
from colkern.memory import Buffer
from colkern.operations.arguments import Kind, operation
from colkern.operations.booleans import combined_values
from colkern.operations.comparing import (
    Comparer,
    boolean_of,
    bytes_of,
    compared,
    item_of,
    output_for,
)
from colkern.operations.operands import items_of_value, unsigned
from colkern.operations.selection import own_words
from colkern.operations.strings import equal_string, equal_strings
from colkern.targets import Items, target_of

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
        InvalidArrowError: If an array points outside its own memory.
    """
    return compared(left, right, _comparer, 0)


@operation(kind=Kind.ELEMENT_WISE)
def not_equal(left: Array, right: object) -> Array:
    """Whether values differ, slot by slot; the opposite of `equal`, of which see the arguments."""
    return compared(left, right, _comparer, _FLIP)


def _comparer(array: Array) -> Comparer[int]:
    comparer = _COMPARERS.get(type(array.type.storage))
    if comparer is None:
        raise UnsupportedError(f"comparing {array.type}; compare its children")
    return comparer


def _equal_words(left: Array, right: Array, flip: int) -> Buffer:
    return _equal_to_words(left, *own_words(right, Role.DATA), flip)


def _equal_word(array: Array, value: object, flip: int) -> Buffer:
    return _equal_to_words(array, items_of_value(array, value, item_of), 0, flip)


def _equal_to_words(array: Array, others: Items, stride: int, flip: int) -> Buffer:
    """The bits for an array beside others that begin `stride` words apart, or one if that is 0."""
    target = target_of(array.device)
    out = output_for(target, array)
    words, width = own_words(array, Role.DATA)
    rest = (array.length, flip, out)
    if width != 1:
        target.map(comparison.equal_wide, len(out), words, others, width, stride, *rest)
    else:
        kernel = comparison.equal_items if stride else comparison.equal_item
        target.map(kernel, len(out), words, others, *rest)
    return target.buffer(out)


def _equal_floats(left: Array, right: Array, flip: int) -> Buffer:
    return _equal_to_floats(left, right.items(Role.DATA), 1, flip)


def _equal_float(array: Array, value: object, flip: int) -> Buffer:
    return _equal_to_floats(array, items_of_value(array, value, item_of), 0, flip)


def _equal_to_floats(array: Array, others: Items, stride: int, flip: int) -> Buffer:
    """The bits for an array beside others, or beside one number if the stride is 0."""
    target = target_of(array.device)
    out = output_for(target, array)
    items = array.items(Role.DATA)
    rest = (array.length, flip, out)
    if items.dtype.itemsize == 2:
        sides = unsigned(items), unsigned(others)
        target.map(comparison.equal_halves, len(out), *sides, stride, *rest)
    else:
        kernel = comparison.equal_items if stride else comparison.equal_item
        target.map(kernel, len(out), items, others, *rest)
    return target.buffer(out)


def _equal_booleans(left: Array, right: Array, flip: int) -> Buffer:
    return combined_values(left, right, bitmaps.EQUAL ^ (flip & 1))


def _equal_boolean(array: Array, value: object, flip: int) -> Buffer:
    table = bitmaps.SAME if boolean_of(array, value) else bitmaps.NOT
    return combined_values(array, array, table ^ (flip & 1))


def _equal_string(array: Array, value: object, flip: int) -> Buffer:
    return equal_string(array, bytes_of(array, value), flip)


_WORDS = Comparer(_equal_words, _equal_word)
_STRINGS = Comparer(equal_strings, _equal_string)

_COMPARERS: Dispatch[type[s.DataType], Comparer[int]] = by_type(
    "equal", s.Null, s.Extension, *NESTED, *ENCODED
)
_COMPARERS.of(s.Int, s.Decimal, *TIMES, s.Interval, s.FixedSizeBinary)(_WORDS)
_COMPARERS.of(s.FloatingPoint)(Comparer(_equal_floats, _equal_float))
_COMPARERS.of(*TEXT, *BINARY)(_STRINGS)
_COMPARERS.of(s.Bool)(Comparer(_equal_booleans, _equal_boolean))
