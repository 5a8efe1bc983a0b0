"""Boolean arrays: logic slot by slot, and conversion to bytes and back.

Columnar format 1.5: "Fixed-Size Primitive Layout", on booleans; "Validity bitmaps".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import UNKNOWN, Array
from colkern.bitmaps import bits_by, combine_bits, expand, packed_bits
from colkern.kernels import bitmaps
from colkern.layouts import Role
from colkern.memory import HOST, Buffer, Device
from colkern.operations.arguments import Kind, operation
from colkern.operations.comparing import bits_of_both
from colkern.operations.devices import one_device
from colkern.operations.encodings import decoded
from colkern.operations.operands import Plans, planned, value_type_of
from colkern.operations.position_checks import require_valid
from colkern.operations.validity import combine_validity, compact_validity
from colkern.targets import Items, target_of

_BOOL = s.bool_()

_PLANS: Plans[bool] = {}
"""True for booleans."""


@operation(kind=Kind.ELEMENT_WISE)
def and_(left: Array, right: Array) -> Array:
    """Whether both are true, slot by slot; null if either is null.

    Args:
        left: Booleans; the result of encoded ones is not encoded.
        right: Booleans of the same length, on the same device.

    Raises:
        TypeError: If they are not booleans.
        ValueError: If their lengths or devices differ.
    """
    return _strict(left, right, bitmaps.AND)


@operation(kind=Kind.ELEMENT_WISE)
def or_(left: Array, right: Array) -> Array:
    """Whether at least one is true, slot by slot; null if either is null. As `and_`."""
    return _strict(left, right, bitmaps.OR)


@operation(kind=Kind.ELEMENT_WISE)
def xor(left: Array, right: Array) -> Array:
    """Whether exactly one is true, slot by slot; null if either is null. As `and_`."""
    return _strict(left, right, bitmaps.XOR)


@operation(kind=Kind.ELEMENT_WISE)
def and_not(left: Array, right: Array) -> Array:
    """Whether `left` is true and `right` is false, slot by slot; null if either is null. As `and_`."""
    return _strict(left, right, bitmaps.AND_NOT)


@operation(kind=Kind.ELEMENT_WISE)
def invert(array: Array) -> Array:
    """The opposite of each boolean; null stays null. The result is not encoded.

    Raises:
        TypeError: If `array` is not of booleans.
    """
    if array.type is not _BOOL:
        array = _decoded(array, "array")
    validity = compact_validity(array) if array._null_count else None
    values = combined_values(array, array, bitmaps.NOT)
    return Array.of_valid(_BOOL, array.length, (validity, values), array._null_count)


@operation(kind=Kind.ELEMENT_WISE)
def and_kleene(left: Array, right: Array) -> Array:
    """`and_` with Kleene logic: false if either is false, else null if either is null.

    Args and Raises as `and_`.
    """
    return _kleene(left, right, bitmaps.AND, 0, 0)


@operation(kind=Kind.ELEMENT_WISE)
def or_kleene(left: Array, right: Array) -> Array:
    """`or_` with Kleene logic: true if either is true, else null if either is null.

    Args and Raises as `and_`.
    """
    return _kleene(left, right, bitmaps.OR, 1, 1)


@operation(kind=Kind.ELEMENT_WISE)
def and_not_kleene(left: Array, right: Array) -> Array:
    """`and_kleene` of `left` and the opposite of `right`. Args and Raises as `and_`."""
    return _kleene(left, right, bitmaps.AND_NOT, 0, 1)


@operation
def unpack_bits(bits: Array | Buffer, offset: int = 0, length: int | None = None) -> Items:
    """Booleans or a bitmap as bytes: a NumPy array of bools (CuPy's on a device); copied.

    Args:
        bits: Booleans without nulls, maybe encoded, or the buffer of a bitmap, such as an array's validity.
        offset: The first slot or bit.
        length: The number of slots or bits; all that follow if None.

    Raises:
        TypeError: If `bits` is another array.
        ValueError: If there are nulls, which a bool cannot express, or fewer bits than asked for.
    """
    first, there = 0, 0
    if isinstance(bits, Array):
        bits = _decoded(bits, "bits")
        if bits.null_count:
            raise ValueError(
                f"bits: {bits.null_count} of them are null; unpack the validity as well"
            )
        first, there = bits.offset, bits.length
        buffer = _values(bits)
    else:
        buffer, there = bits, 8 * bits.size
    count = there - offset if length is None else length
    if offset < 0 or count < 0 or offset + count > there:
        raise ValueError(f"bits {offset} to {offset + count} of {there}")
    return expand(target_of(buffer.device), buffer, first + offset, count)


def pack_bits(values: Any) -> Array:
    """Booleans from an array of bytes, true where a byte is not 0; copied.

    Args:
        values: A one-dimensional array of bool, uint8 or int8, of NumPy, or of CuPy for a result on its
            device.

    Raises:
        TypeError: If `values` is no such array.
    """
    if (
        getattr(values, "ndim", 0) != 1
        or values.dtype.itemsize != 1
        or values.dtype.kind not in "bui"
    ):
        raise TypeError("values: expected a one-dimensional array of bool, uint8 or int8")
    on_host = isinstance(values, np.ndarray)
    target = target_of(HOST if on_host else Device("cuda", int(values.device.id)))
    dense = values if values.flags.c_contiguous else values.copy()
    return _booleans(len(values), None, packed_bits(target, dense), 0)


def _strict(left: Array, right: Array, table: int) -> Array:
    if planned(_PLANS, left, right) is None:
        left, right = _pair(left, right)
    if left._null_count and right._null_count and left.device is not HOST:
        return bits_of_both(left, right, combined_values, table)
    nullable = left._null_count or right._null_count
    validity, nulls = combine_validity((left, right)) if nullable else (None, 0)
    values = combined_values(left, right, table)
    return Array.of_valid(_BOOL, left.length, (validity, values), nulls)


def _kleene(left: Array, right: Array, table: int, left_decides: int, right_decides: int) -> Array:
    """The result of a truth table; null if one side is null and the other one does not decide.

    Args:
        right: Booleans of the same length.
        table: The table for two known values.
        left_decides: Whether a true `left` decides, or (0) a false one does.
        right_decides: The same for `right`.
    """
    if planned(_PLANS, left, right) is None:
        left, right = _pair(left, right)
    values = combined_values(left, right, table)
    if not (left._null_count and left.null_count):
        if not (right._null_count and right.null_count):
            return _booleans(left.length, None, values, 0)
        validity = _known(right, left, left_decides)
    elif not (right._null_count and right.null_count):
        validity = _known(left, right, right_decides)
    else:
        validity = _both_known(left, right, left_decides, right_decides)
    return _booleans(left.length, validity, values)


def _known(one: Array, other: Array, decides: int) -> Buffer:
    """The bits that are set where `one` is valid, or `other` (without nulls) decides by its value."""
    valid = one.buffer(Role.VALIDITY)
    assert valid is not None
    table = bitmaps.OR if decides else bitmaps.OR_NOT
    return combine_bits(valid, one.offset, _values(other), other.offset, one.length, table)


def _both_known(left: Array, right: Array, left_decides: int, right_decides: int) -> Buffer:
    target, length = target_of(left.device), left.length
    args = (*_bits_of(left), *_bits_of(right), length, left_decides, right_decides)
    return bits_by(target, bitmaps.kleene_bits, length, args)


def _bits_of(array: Array) -> tuple[Items, int, Items, int]:
    """The values and the validity of booleans with nulls, in the form for kernels."""
    valid = array.buffers[0]
    assert valid is not None
    return _values(array).array, array.offset, valid.array, array.offset


def combined_values(left: Array, right: Array, table: int) -> Buffer:
    """The bits that a truth table of `colkern.kernels.bitmaps` gives for all values, valid or not."""
    values, others = left.buffers[1], right.buffers[1]
    if values is None or others is None:
        values, others = _values(left), _values(right)
    return combine_bits(values, left.offset, others, right.offset, left.length, table)


def _values(array: Array) -> Buffer:
    values = array.buffers[1]
    if values is not None:
        return values
    # Only an array without slots may lack the buffer.
    target = target_of(array.device)
    return target.buffer(target.allocate(0, np.uint8))


def _booleans(length: int, validity: Buffer | None, values: Buffer, nulls: int = UNKNOWN) -> Array:
    return Array.of_valid(_BOOL, length, (validity, values), nulls)


def _pair(left: Array, right: Array) -> tuple[Array, Array]:
    if left.length != right.length:
        raise ValueError(f"right: {right.length} values for the {left.length} of left")
    one_device((left, right), "left", "right")
    left, right = _decoded(left, "left"), _decoded(right, "right")
    _PLANS[left.layout, right.layout] = True
    return left, right


def _decoded(array: Array, name: str) -> Array:
    """The booleans of an array that may be encoded, one for each slot."""
    if not isinstance(value_type_of(array), s.Bool):
        raise TypeError(f"{name}: expected booleans, got {array.type}")
    require_valid(array)
    return decoded(array)
