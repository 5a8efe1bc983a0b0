"""`int(s)` and `float(s)` of byte strings: Python's grammar in ASCII, without underscores.

Floats are rounded correctly, in three steps, each for what the one before leaves over: exact
arithmetic for few digits and small exponents; the product with a 128-bit power of five (Eisel and
Lemire: "Number Parsing at a Gigabyte per Second"); Python's own conversion, for which the thread
takes the GIL.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing import signature
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, overload, register_jitable

from colkern.jit.values.strings.methods import is_space
from colkern.jit.values.strings.views import ByteStringType

# Integers


@register_jitable
def _without_space(view):
    """Where the bytes start and stop without white space around them."""
    start, stop = 0, view._length
    while start < stop and is_space(view._data[start]):
        start += 1
    while start < stop and is_space(view._data[stop - 1]):
        stop -= 1
    return start, stop


@register_jitable
def _sign(view, start, stop):
    """`(negative, where the digits start)`."""
    if start < stop:
        if view._data[start] == 45:
            return True, start + 1
        if view._data[start] == 43:
            return False, start + 1
    return False, start


@register_jitable
def parse_int(view):
    """The int64 that the bytes spell.

    Raises:
        ValueError: If they spell no integer.
        OverflowError: If it does not fit.
    """
    start, stop = _without_space(view)
    negative, start = _sign(view, start, stop)
    if start == stop:
        raise ValueError("the byte string is no integer")
    value = np.uint64(0)
    overflow = False
    limit = np.uint64(0x7FFFFFFFFFFFFFFF) + np.uint64(negative)
    for i in range(start, stop):
        digit = np.uint64(view._data[i]) - np.uint64(48)
        if digit > np.uint64(9):
            raise ValueError("the byte string is no integer")
        overflow |= value > np.uint64(922337203685477580)
        value = value * np.uint64(10) + digit
        overflow |= value > limit
    if overflow:
        raise OverflowError("the integer does not fit 64 bits")
    return np.int64(np.uint64(0) - value) if negative else np.int64(value)


@overload(int)
def _ol_int(s):
    if isinstance(s, ByteStringType):
        return lambda s: parse_int(s)
    return None


# Powers of five: the upper 128 bits of 5 ** q for each q that a float can need

_LEAST, _MOST = -342, 308


def _upper_bits_of_power(q: int) -> int:
    """The 128 bits from the highest set one on of 5 ** q, cut off; rounded up for -27 <= q < 0."""
    if q >= 0:
        power: int = 5**q
        return (power << 128) >> power.bit_length()
    divisor: int = 5**-q
    bits = (divisor - 1).bit_length()
    return (1 << (bits + 127)) // divisor + (q >= -27)


def _table() -> tuple[list[int], list[int]]:
    powers = [_upper_bits_of_power(q) for q in range(_LEAST, _MOST + 1)]
    return [power >> 64 for power in powers], [power & (2**64 - 1) for power in powers]


_HIGH, _LOW = (np.array(words, np.uint64) for words in _table())
_EXACT_TENS = np.array([float(10**e) for e in range(23)])


@intrinsic
def _multiply(typingctx, a, b):
    """The upper and the lower 64 bits of the product of two uint64."""

    def codegen(context, builder, sig, args):
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(arg, wide) for arg in args))
        high = builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))
        low = builder.trunc(product, ir.IntType(64))
        return context.make_tuple(builder, sig.return_type, (high, low))

    return types.UniTuple(types.uint64, 2)(types.uint64, types.uint64), codegen


@intrinsic
def _leading_zeros(typingctx, word):
    def codegen(context, builder, sig, args):
        return builder.ctlz(args[0], cgutils.true_bit)

    return types.uint64(types.uint64), codegen


@intrinsic
def _float_of_bits(typingctx, bits):
    def codegen(context, builder, sig, args):
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.uint64), codegen


@register_jitable
def _scaled(digits, exponent):
    """`(known, float)`: `digits * 10 ** exponent` rounded, if the 128-bit product tells it.

    digits: uint64, not 0
    exponent: int64
    """
    if exponent < _LEAST:
        return True, 0.0
    if exponent > _MOST:
        return True, np.inf
    zeros = _leading_zeros(digits)
    normal = digits << zeros
    place = np.uint64(exponent - _LEAST)
    high, low = _multiply(normal, _HIGH[place])
    # Nine bits below the rounded ones; only if all are set can the rest of the product reach them.
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):
        carry, _ = _multiply(normal, _LOW[place])
        low += carry
        high += np.uint64(low < carry)
    if low == np.uint64(0xFFFFFFFFFFFFFFFF) and not -27 <= exponent <= 55:
        return False, 0.0
    upper = high >> np.uint64(63)
    shift = upper + np.uint64(9)
    mantissa = high >> shift
    # 217706 / 65536 is the logarithm of 10 to the base 2, closely enough for these exponents.
    power = ((217706 * exponent) >> 16) + 63 + np.int64(upper) - np.int64(zeros) + 1023
    if power <= 0:
        if power <= -63:
            return True, 0.0
        mantissa >>= np.uint64(1 - power)
        mantissa = (mantissa + (mantissa & np.uint64(1))) >> np.uint64(1)
        # A subnormal number that rounds up to 2 ** 52 has become the smallest normal one.
        return True, _float_of_bits(mantissa)
    # Exactly between two floats: to the even one.
    if (
        low <= np.uint64(1)
        and -4 <= exponent <= 23
        and mantissa & np.uint64(3) == np.uint64(1)
        and mantissa << shift == high
    ):
        mantissa ^= np.uint64(1)
    mantissa = (mantissa + (mantissa & np.uint64(1))) >> np.uint64(1)
    if mantissa >> np.uint64(53):
        mantissa >>= np.uint64(1)
        power += 1
    if power >= 2047:
        return True, np.inf
    fraction = mantissa & np.uint64(0xFFFFFFFFFFFFF)
    return True, _float_of_bits(np.uint64(power) << np.uint64(52) | fraction)


@intrinsic
def _python_float(typingctx, address):
    """`(value, failed)` of Python's own conversion of the NUL-terminated bytes at an address."""
    result = types.Tuple((types.float64, types.boolean))

    def codegen(context, builder, sig, args):
        pyapi = context.get_python_api(builder)
        gil = pyapi.gil_ensure()
        string = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.DoubleType(), [string, string.as_pointer(), string])
        convert = cgutils.get_or_insert_function(builder.module, kind, "PyOS_string_to_double")
        null = ir.Constant(string, None)
        value = builder.call(
            convert,
            [builder.inttoptr(args[0], string), ir.Constant(string.as_pointer(), None), null],
        )
        failed = cgutils.is_not_null(builder, pyapi.err_occurred())
        pyapi.err_clear()
        pyapi.gil_release(gil)
        return context.make_tuple(builder, sig.return_type, (value, failed))

    return result(types.uint64), codegen


@register_jitable
def _convert_slowly(view, start, stop):
    """The float that checked bytes spell, by Python's conversion."""
    spelled = np.zeros(stop - start + 1, np.uint8)
    for i in range(start, stop):
        spelled[i - start] = view._data[i]
    value, failed = _python_float(np.uint64(spelled.ctypes.data))
    # The address is a number: this use keeps the memory until here.
    if failed or spelled[-1] != 0:
        raise MemoryError("float()")
    return value


@register_jitable
def _spells(view, start, stop, word):
    """Whether the bytes are an ASCII word in lower case, in whatever case."""
    same = stop - start == len(word)
    if same:
        for i in range(len(word)):
            same &= view._data[start + i] | 0x20 == word[i]
    return same


_INF = tuple(b"inf")
_INFINITY = tuple(b"infinity")
_NAN = tuple(b"nan")


@register_jitable
def _parse_word(view, start, stop):
    if _spells(view, start, stop, _INF) or _spells(view, start, stop, _INFINITY):
        return np.inf
    if _spells(view, start, stop, _NAN):
        return np.nan
    raise ValueError("the byte string is no number")


@register_jitable
def _parse_exponent(view, start, stop):
    """The number after an `e`; a very large one is as good as any."""
    negative, start = _sign(view, start, stop)
    if start == stop:
        raise ValueError("the byte string is no number")
    value = 0
    for i in range(start, stop):
        digit = np.int64(view._data[i]) - 48
        if digit < 0 or digit > 9:
            raise ValueError("the byte string is no number")
        if value < 10**15:
            value = value * 10 + digit
    return -value if negative else value


@register_jitable
def _parse_digits(view, start, stop):
    """`(digits, exponent, cut, end)`: up to 19 significant digits, whether others were cut off.

    `end` is where the digits end; -1 if there is none.
    """
    digits = np.uint64(0)
    significant = 0
    exponent = 0
    cut = False
    seen = 0
    point = False
    i = start
    while i < stop:
        byte = view._data[i]
        if byte == 46 and not point:
            point = True
        elif 48 <= byte <= 57:
            seen += 1
            if significant < 19:
                digits = digits * np.uint64(10) + np.uint64(byte - 48)
                significant += digits != 0
                exponent -= point
            else:
                cut |= byte != 48
                exponent += not point
        else:
            break
        i += 1
    return digits, exponent, cut, i if seen else -1


@register_jitable
def parse_float(view):
    """The float64 next to the number that the bytes spell; ValueError if they spell none."""
    start, stop = _without_space(view)
    negative, first = _sign(view, start, stop)
    digits, exponent, cut, end = _parse_digits(view, first, stop)
    if end < 0:
        value = _parse_word(view, first, stop)
        return -value if negative else value
    if end < stop:
        if view._data[end] | 0x20 != 101:
            raise ValueError("the byte string is no number")
        exponent += _parse_exponent(view, end + 1, stop)
    if digits == 0:
        value = 0.0
    elif not cut and digits >> np.uint64(53) == 0 and -22 <= exponent <= 22:
        value = float(np.int64(digits))
        if exponent < 0:
            value /= _EXACT_TENS[-exponent]
        else:
            value *= _EXACT_TENS[exponent]
    else:
        known, value = _scaled(digits, exponent)
        if known and cut:
            # What was cut off lies between these two.
            known, above = _scaled(digits + np.uint64(1), exponent)
            known = known and above == value
        if not known:
            value = _convert_slowly(view, first, stop)
    return -value if negative else value


@infer_global(float)
class _FloatOfView(AbstractTemplate):
    def generic(self, args, kws):
        """`float(s)` for a byte string."""
        if len(args) == 1 and isinstance(args[0], ByteStringType):
            return signature(types.float64, args[0])
        return None


@lower_builtin(float, ByteStringType)
def _lower_float(context, builder, sig, args):
    return context.compile_internal(builder, parse_float, sig, args)
