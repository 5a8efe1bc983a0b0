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
from colkern.targets import target_of

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
    target = target_of(left.device)
    out = output_for(target, left)
    words, width = own_words(left, Role.DATA)
    rest = (left.length, flip, out)
    if width != 1:
        target.map(comparison.equal_wide, len(out), words, others, width, stride, *rest)
    else:
        kernel = comparison.equal_items if stride else comparison.equal_item
        target.map(kernel, len(out), words, others, *rest)
    return target.buffer(out)


def _equal_floats(left: Array, right: object, flip: int) -> Buffer:
    if isinstance(right, Array):
        others, stride = right.items(Role.DATA), 1
    else:
        others, stride = items_of_value(left, right, item_of), 0
    target = target_of(left.device)
    out = output_for(target, left)
    items = left.items(Role.DATA)
    rest = (left.length, flip, out)
    if items.dtype.itemsize == 2:
        sides = unsigned(items), unsigned(others)
        target.map(comparison.equal_halves, len(out), *sides, stride, *rest)
    else:
        kernel = comparison.equal_items if stride else comparison.equal_item
        target.map(kernel, len(out), items, others, *rest)
    return target.buffer(out)


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
