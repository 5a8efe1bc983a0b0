"""Casts of decimals: to another scale, precision or width, to and from integers, and to floats."""

from __future__ import annotations

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.kernels import Kernel, decimals
from colkern.layouts import Role, layout
from colkern.operations.casting.dispatch import Safety, converts, fixed_result, no_value
from colkern.operations.casting.numbers import limits
from colkern.operations.operands import WORDS, decimal_at, validity_of
from colkern.operations.selection.words import own_words
from colkern.targets import NOWHERE, Argument, Items, target_of

_WORD = (1 << 64) - 1
_FACTOR_DIGITS = 19
"""10**19 has 64 bits."""

_DIVISOR_DIGITS = 9
"""10**9 has less than 31."""


@converts([s.Decimal], [s.Decimal, s.Int])
@converts([s.Int], [s.Decimal])
def rescale(array: Array, type: s.DataType, safe: Safety) -> Array:
    """Integers and decimals as integers and decimals: the same numbers, at the scale of the type.

    If `safe`, numbers must have no digits below that scale, and fit the precision. If not, such digits
    are cut off, and numbers wrap around in the type's bits.
    """
    source = array.type
    up = _scale(type) - _scale(source)
    own, least, greatest = _range(source), *_range_before(type, up)
    if not safe:
        least, greatest = own
    ends = (max(least, own[0]), min(greatest, own[1]))
    bounds = _table(array, [end >> at & _WORD for end in ends for at in range(0, 256, 64)])
    target = target_of(array.device)
    words, width = own_words(array, Role.DATA)
    out = target.output(array.length * _words(type), WORDS[min(_bits(type), 64) // 8])
    bits = _bits(source)
    sign = 1 << bits - 1 if _signed(source) and bits < 64 else 0
    signed = np.uint64(_WORD if _signed(source) else 0)
    head = (words, width, sign, signed, *validity_of(array, target), bounds)
    if up >= 0:
        factors = _table(array, _powers(up, _FACTOR_DIGITS))
        args: tuple[Argument, ...] = (*head, factors, _words(type), out)
        kernel: Kernel = decimals.scale_up
    else:
        args = (*head, _table(array, _divisors(-up)), int(safe), _words(type), out)
        kernel = decimals.scale_down
    # Without limits there is nothing to wait for.
    run = target.reduce if safe else target.start
    slot = run(kernel, array.length, *args)
    if safe and slot != NOWHERE:
        value = decimal_at(target, words, slot, width, bits)
        value = value if _signed(source) else value % (1 << bits)
        why = "it has more decimals" if ends[0] <= value <= ends[1] else "it has more digits"
        raise no_value(array, type, slot, _text(value, _scale(source)), why) from None
    return fixed_result(array, type, out)


@converts([s.Decimal], [s.FloatingPoint])
def to_floats(array: Array, type: s.DataType, safe: Safety) -> Array:
    """Decimals as the nearest float64, rounded again for float32.

    With a negative scale, large numbers may become a float next to the nearest.
    """
    source = array.type.storage
    assert isinstance(source, s.Decimal)
    assert isinstance(type, s.FloatingPoint)
    if type.bit_width == 16:
        raise UnsupportedError(f"no cast from {array.type} to {type}")
    target = target_of(array.device)
    words, width = own_words(array, Role.DATA)
    out = target.output(array.length, layout(type).spec(Role.DATA).dtype)
    sign = 1 << source.bit_width - 1 if source.bit_width < 64 else 0
    up, down = max(-source.scale, 0), max(source.scale, 0)
    args = (words, width, sign, float(10**up), down, float(10**down), out)
    target.map(decimals.decimals_to_floats, array.length, *args)
    return fixed_result(array, type, out)


def division(divisor: int) -> tuple[int, int, int]:
    """A divisor with its `magic` and `shift`, as `colkern.kernels.casts.quotient` takes them."""
    length = (divisor - 1).bit_length()
    if length == 0:
        # For 1, the magic number would need one more bit: it halves twice the number instead.
        raise ValueError("divisor: must be more than 1")
    return divisor, -(-(1 << 63 + length) // divisor), length - 1


def _powers(exponent: int, digits: int) -> list[int]:
    """Powers of ten, of at most `digits` digits each, with the product `10**exponent`."""
    whole, rest = divmod(exponent, digits)
    return [10**digits] * whole + ([10**rest] if rest else [])


def _divisors(exponent: int) -> list[int]:
    """`divisors` as `colkern.kernels.decimals.scale_down` takes them."""
    product = division(10**exponent) if exponent <= 18 else (0, 0, 0)
    powers = _powers(exponent, _DIVISOR_DIGITS)
    return [*product, *(part for power in powers for part in division(power))]


def _range(type: s.DataType) -> tuple[int, int]:
    """The least and the greatest number that fit the bits of the type."""
    if isinstance(type, s.Int):
        return limits(type)
    half = 1 << _bits(type) - 1
    return -half, half - 1


def _range_before(type: s.DataType, up: int) -> tuple[int, int]:
    """The least and the greatest number that fit the type after scaling up by `up` digits (or down)."""
    if isinstance(type, s.Decimal):
        high = 10**type.precision - 1
        low = -high
    else:
        low, high = _range(type)
    if up >= 0:
        return -(-low // 10**up), high // 10**up
    rest = 10**-up - 1
    # Rounding is towards zero, so 0 stands for numbers on both sides.
    return (low * 10**-up - rest if low <= 0 else low), high * 10**-up + rest


def _scale(type: s.DataType) -> int:
    return type.scale if isinstance(type, s.Decimal) else 0


def _signed(type: s.DataType) -> bool:
    return type.signed if isinstance(type, s.Int) else True


def _bits(type: s.DataType) -> int:
    assert isinstance(type, s.Int | s.Decimal)
    return type.bit_width


def _words(type: s.DataType) -> int:
    return max(_bits(type) // 64, 1)


def _table(array: Array, values: list[int]) -> Items:
    return target_of(array.device).table(values, np.uint64)


def _text(number: int, scale: int) -> str:
    from decimal import Context, Decimal

    return str(Context(prec=80).scaleb(Decimal(number), -scale))
