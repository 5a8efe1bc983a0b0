"""Arithmetic on decimals. Results have pyarrow's precision and scale; all but quotients are exact.

Columnar format 1.5: "Fixed-Size Primitive Layout".
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.kernels import decimal_arithmetic as kernels
from colkern.layouts import Role
from colkern.operations.casting import cast
from colkern.operations.selection.words import own_words
from colkern.operations.validity import combine_validity
from colkern.targets import NOWHERE, Argument, target_of


def combine_decimals(
    name: str, left: Array | Decimal | float, right: Array | Decimal | float, *, fits: bool = False
) -> Array:
    """An operation ("add", "subtract", "multiply", "divide") of decimals, or of an array and a number.

    Arrays must be checked, and not encoded. Results are decimal128, or decimal256 if an operand is one.
    If `fits`, the caller knows that they fit the digits of the type.

    Raises:
        TypeError: If an operand is neither decimals nor an integer.
        ValueError: If lengths or devices differ, or a result needs more digits than there are.
        ZeroDivisionError: If a decimal is divided by 0, in a slot that is not null.
    """
    arrays = [side for side in (left, right) if isinstance(side, Array)]
    length, device = arrays[0].length, arrays[0].device
    sides = [
        side if isinstance(side, Array) else _single(side, arrays[0]) for side in (left, right)
    ]
    for side, operand in zip(sides, (left, right), strict=True):
        if not isinstance(side.type.storage, s.Decimal):
            raise TypeError(f"{name}: {sides[0].type} and {sides[1].type}; cast one of them first")
        if isinstance(operand, Array) and (operand.length != length or operand.device != device):
            raise ValueError(
                f"{name}: arrays of {length} and {operand.length} values on one device"
            )
    types = [side.type.storage for side in sides]
    bits = max(128, *(type_.bit_width for type_ in types))  # type: ignore[attr-defined]
    precision, scale, scales = _digits(name, *types)  # type: ignore[arg-type]
    most = s.MAX_DECIMAL_PRECISION[bits]
    if precision > most and not fits:
        raise ValueError(
            f"{name}: {sides[0].type} and {sides[1].type} need {precision} digits, decimal{bits} has "
            f"{most}; cast one of them to fewer, or to decimal256"
        )
    make = s.decimal128 if bits == 128 else s.decimal256
    target, width = target_of(device), bits // 64
    arguments: list[Argument] = []
    for side, operand, own in zip(sides, (left, right), scales, strict=True):
        scaled = _at_scale(side, make(most, own))
        arguments += [own_words(scaled, Role.DATA)[0], width if isinstance(operand, Array) else 0]
    out = target.output(length * width, np.uint64)
    with target.together:
        validity, nulls = combine_validity(arrays)
        if name == "multiply":
            target.map(kernels.multiply_decimals, length, *arguments, width, out)
        elif name != "divide":
            flip = np.uint64((1 << 64) - 1 if name == "subtract" else 0)
            target.map(kernels.add_decimals, length, *arguments, flip, width, out)
    if name == "divide":
        bitmap = target.no_bits if validity is None else validity.array
        slot = target.reduce(kernels.divide_decimals, length, *arguments, bitmap, 0, width, out)
        if slot != NOWHERE:
            raise ZeroDivisionError(f"divide: by 0 in slot {slot}")
    return Array.of_valid(
        make(min(precision, most), scale), length, (validity, target.buffer(out)), nulls
    )


def _at_scale(array: Array, type_: s.Decimal) -> Array:
    """Decimals with the scale and the bits of a type, which are not copied if they have them."""
    own = array.type.storage
    assert isinstance(own, s.Decimal)
    is_same = (own.scale, own.bit_width) == (type_.scale, type_.bit_width)
    return array if is_same else cast(array, type_, safe=False)


def _digits(name: str, left: s.Decimal, right: s.Decimal) -> tuple[int, int, tuple[int, int]]:
    """The precision and scale of a result, and the scales to which the operands are brought first."""
    whole = max(left.precision - left.scale, right.precision - right.scale)
    if name == "multiply":
        scale = left.scale + right.scale
        return left.precision + right.precision + 1, scale, (left.scale, right.scale)
    if name == "divide":
        scale = max(4, left.scale + right.precision - right.scale + 1)
        precision = left.precision - left.scale + right.scale + scale
        return precision, scale, (scale + right.scale, right.scale)
    scale = max(left.scale, right.scale)
    return whole + 1 + scale, scale, (scale, scale)


def _single(number: Decimal | float, array: Array) -> Array:
    """A number as an array of one decimal, to be combined with another array."""
    from colkern.builders import array as build_array
    from colkern.operations.moving import to_device

    if isinstance(number, bool) or not isinstance(number, (Decimal, int)):
        raise TypeError(f"expected a decimal or an integer for {array.type}, got {number!r}")
    return to_device(build_array([Decimal(number)]), array.device)


def wide_decimals(array: Array) -> Array:
    """Decimals cast to a precision with room for sums: 38 or 76 digits."""
    type_ = array.type.storage
    assert isinstance(type_, s.Decimal)
    return cast(array, wide_type(type_))


def wide_type(type_: s.Decimal) -> s.Decimal:
    """The type of sums of decimals of a type."""
    make = s.decimal256 if type_.bit_width == 256 else s.decimal128
    return make(sum_digits(type_), type_.scale)


def sum_digits(type_: s.Decimal) -> int:
    """The precision of sums of decimals of that type."""
    return 76 if type_.bit_width == 256 else 38
