"""Functions of numbers, named as in `pyarrow.compute`: a row function for each.

Floating-point numbers keep their width; integers are taken as float64 if results are no integers.
Floats without a result give NaN or an infinity, as in IEEE 754. Integers raise: `floor_divide` and `mod`
are Python's, also for floats, and so is a negative power.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.builders import array as build_array
from colkern.errors import UnsupportedError
from colkern.functions.row_functions import (
    INTEGERS,
    NUMBERS,
    ORDERED,
    WITH_DECIMALS,
    Values,
    boolean,
    element_wise,
    floating,
    named,
    over_rows,
    row_function,
    same,
)
from colkern.integers import integer
from colkern.operations import cast
from colkern.operations.casting.dispatch import retyped
from colkern.operations.decimal_arithmetic import wide_type
from colkern.operations.encodings import decoded
from colkern.operations.operands import number_of
from colkern.rows.encoded import decoded_type

# Classes of numbers


@row_function("Numbers", boolean, WITH_DECIMALS)
def is_nan(values: float) -> bool:
    """Whether each number is NaN: booleans."""
    return values != values


@row_function("Numbers", boolean, WITH_DECIMALS)
def is_finite(values: float) -> bool:
    """Whether each number is neither infinite nor NaN: booleans."""
    return values - values == 0


@row_function("Numbers", boolean, NUMBERS)
def is_inf(values: float) -> bool:
    """Whether each number is infinite: booleans."""
    return values == math.inf or values == -math.inf


@row_function("Numbers", same, ORDERED)
def clip(values: float, low: float | None = None, high: float | None = None) -> float:
    """Each number, date, time or string limited to at least `low` and at most `high`, if these are given.

    NaN stays.
    """
    if low is not None and values < low:
        return low
    if high is not None and values > high:
        return high
    return values


def _sign_type(*types: s.DataType) -> s.DataType:
    return types[0] if isinstance(types[0].storage, s.FloatingPoint) else s.int8()


def _sign(values: float) -> float:
    return values if values != values else 1 if values > 0 else -1 if values < 0 else 0


def _sign_of_decimals(values: Decimal) -> int:
    return 1 if values > 0 else -1 if values < 0 else 0


@element_wise("Numbers")
def sign(values: Array) -> Array:
    """1, 0 or -1 for each number by its sign, as int8 for integers, int64 for decimals; NaN stays."""
    if isinstance(decoded_type(values.type).storage, s.Decimal):
        return over_rows(_sign_of_decimals, [values], lambda *_: s.int64(), name="sign")
    return over_rows(_sign, [values], _sign_type, NUMBERS, name="sign")


# Roots, powers and logarithms


def _elementary(
    name: str, of_number: Callable[[float], float], text: str
) -> Callable[[Values], Values]:
    """The public function `name`, which applies a function of `math` to each number."""

    def elementary(values: float) -> float:
        return of_number(values)

    operation = row_function("Numbers", floating, NUMBERS, machine=True)(
        named(elementary, name, text)
    )
    return operation  # noqa: RET504 - mypy does not see the type of the call in its place


sqrt = _elementary("sqrt", math.sqrt, "The square root of each number; NaN of negative ones.")
exp = _elementary("exp", math.exp, "e to the power of each number.")
expm1 = _elementary("expm1", math.expm1, "e to the power of each number, less 1.")
ln = _elementary(
    "ln", math.log, "The natural logarithm of each number; -inf of 0, NaN of negative ones."
)
log10 = _elementary("log10", math.log10, "The logarithm to base 10 of each number; see `ln`.")
log2 = _elementary("log2", math.log2, "The logarithm to base 2 of each number; see `ln`.")
log1p = _elementary(
    "log1p", math.log1p, "The natural logarithm of 1 more than each number; see `ln`."
)


@row_function("Numbers", floating, NUMBERS, machine=True)
def logb(values: float, base: float) -> float:
    """The logarithm of each number to a base, which may be an array; see `ln`."""
    return math.log(values) / math.log(base)


def _power(base: float, exponent: float) -> Any:
    return base**exponent


def _power_of_integers(base: int, exponent: int, unsigned: bool, bits: int, sign: int) -> Any:
    if exponent < 0:
        if not unsigned:
            raise ValueError("exponent: integers have no power with a negative integer exponent")
        # With an exponent of 2**62 or any multiple, an odd word gives 1; even ones give 0 from 64
        # on.
        exponent = exponent & ((1 << 62) - 1) | (1 << 62)
    power = base**exponent
    if bits == 64:
        return power
    word = power & ((1 << bits) - 1)
    return word - ((word & sign) << 1)


@element_wise("Numbers")
def power(base: Array, exponent: Any) -> Array:
    """`base ** exponent`; integers wrap around in the type of `base`.

    Args:
        base: Integers or floating-point numbers.
        exponent: An array of the same length, or a number. A float makes the power of integers float64.

    Raises:
        TypeError: If they are no numbers.
        ValueError: If an integer has a negative integer exponent, or lengths or devices differ.
    """
    types = [decoded_type(each.type) for each in (base, exponent) if isinstance(each, Array)]
    whole = all(isinstance(type_.storage, s.Int) for type_ in types)
    if not whole or isinstance(exponent, float):
        exponent = exponent if isinstance(exponent, Array) else float(exponent)
        return over_rows(_power, [base, exponent], floating, NUMBERS, machine=True, name="power")
    if not isinstance(exponent, Array) and exponent < 0:
        raise ValueError("exponent: integers have no power with a negative integer exponent")
    unsigned = _storage(exponent) == s.uint64()
    return _of_bits("power", _power_of_integers, base, exponent, unsigned, sized=True)


# Trigonometry, in radians


sin = _elementary("sin", math.sin, "The sine of each number.")
cos = _elementary("cos", math.cos, "The cosine of each number.")
tan = _elementary("tan", math.tan, "The tangent of each number.")
asin = _elementary("asin", math.asin, "The angle of each sine; NaN outside of -1 to 1.")
acos = _elementary("acos", math.acos, "The angle of each cosine; NaN outside of -1 to 1.")
atan = _elementary("atan", math.atan, "The angle of each tangent.")


@row_function("Numbers", floating, NUMBERS, machine=True)
def atan2(y: float, x: float) -> float:
    """The angle of each point `(x, y)`, in radians; `x` may be an array."""
    return math.atan2(y, x)


@row_function("Numbers", floating, NUMBERS, machine=True)
def hypot(x: float, y: float) -> float:
    """The distance of each point `(x, y)` from the origin; `y` may be an array."""
    return math.hypot(x, y)


sinh = _elementary("sinh", math.sinh, "The hyperbolic sine of each number.")
cosh = _elementary("cosh", math.cosh, "The hyperbolic cosine of each number.")
tanh = _elementary("tanh", math.tanh, "The hyperbolic tangent of each number.")
asinh = _elementary("asinh", math.asinh, "The number with each hyperbolic sine.")
acosh = _elementary("acosh", math.acosh, "The number with each hyperbolic cosine; NaN below 1.")
atanh = _elementary(
    "atanh", math.atanh, "The number with each hyperbolic tangent; NaN beyond -1 to 1."
)


# Integers


def _quotient(dividend: int, divisor: int) -> int:
    return dividend // divisor


def _remainder(dividend: int, divisor: int) -> int:
    return dividend % divisor


# Python's `//` and `%` round decimals towards zero.


def _quotient_of_decimals(dividend: Decimal, divisor: Decimal) -> Decimal:
    quotient = dividend // divisor
    is_above = quotient * divisor != dividend and (dividend < 0) != (divisor < 0)
    return quotient - 1 if is_above else quotient


def _remainder_of_decimals(dividend: Decimal, divisor: Decimal) -> Decimal:
    if divisor == 0:
        raise ZeroDivisionError("decimal modulo by zero")
    rest = dividend % divisor
    return rest + divisor if rest != 0 and (rest < 0) != (divisor < 0) else rest


@element_wise("Numbers")
def floor_divide(dividend: Array, divisor: Any) -> Array:
    """`dividend // divisor`, rounded down as Python does it for integers, also for decimals.

    Args:
        dividend: Integers, floating-point numbers or decimals.
        divisor: An array of the same length, or a number.

    Raises:
        TypeError: If they are no numbers.
        ZeroDivisionError: If a divisor is 0, also of floats.
        OverflowError: If a quotient does not fit, as -128 // -1 of int8; it does not wrap around.
        ValueError: If lengths or devices differ.
    """
    type_ = _wide(dividend, divisor)
    if type_ is None:
        return over_rows(_quotient, [dividend, divisor], same, NUMBERS, name="floor_divide")
    whole = type(type_)(type_.bit_width, type_.precision, 0)
    return over_rows(
        _quotient_of_decimals, [dividend, divisor], lambda *_: whole, name="floor_divide"
    )


@element_wise("Numbers")
def mod(dividend: Array, divisor: Any) -> Array:
    """The remainder of `floor_divide`, with the sign of the divisor, also for decimals, as in pyarrow.

    Raises:
        TypeError, ZeroDivisionError, ValueError: As `floor_divide`.
    """
    type_ = _wide(dividend, divisor)
    if type_ is None:
        return over_rows(_remainder, [dividend, divisor], same, NUMBERS, name="mod")
    return over_rows(_remainder_of_decimals, [dividend, divisor], lambda *_: type_, name="mod")


def _storage(side: object) -> s.DataType:
    """The storage type of an array's values, or of a value."""
    return decoded_type((side if isinstance(side, Array) else build_array([side])).type).storage


def _wide(*sides: object) -> s.Decimal | None:
    """The widest decimals with the greatest scale of two sides; None if none of them is a decimal."""
    types = [*map(_storage, sides)]
    decimals = [wide_type(each) for each in types if isinstance(each, s.Decimal)]
    if not decimals or not all(isinstance(each, s.Decimal | s.Int) for each in types):
        return None
    widest = max(decimals, key=lambda each: each.precision)
    return type(widest)(widest.bit_width, widest.precision, max(each.scale for each in decimals))


# Integers that do not wrap around


@row_function("Numbers", same, NUMBERS)
def add_checked(left: int, right: int) -> int:
    """The sum of two numbers; raises `OverflowError` where `add` wraps around."""
    return left + right


@row_function("Numbers", same, NUMBERS)
def subtract_checked(left: int, right: int) -> int:
    """The difference of two numbers; raises `OverflowError` where `subtract` wraps around."""
    return left - right


@row_function("Numbers", same, NUMBERS)
def multiply_checked(left: int, right: int) -> int:
    """The product of two numbers; raises `OverflowError` where `multiply` wraps around."""
    return left * right


@row_function("Numbers", same, NUMBERS)
def negate_checked(values: int) -> int:
    """The negative of each number; raises `OverflowError` where `negate` wraps around."""
    return -values


@row_function("Numbers", same, NUMBERS)
def abs_checked(values: int) -> int:
    """The absolute value of each number; raises `OverflowError` where `abs` wraps around."""
    return abs(values)


# Rounding


def _floor(values: float) -> Any:
    return np.floor(values)


def _ceil(values: float) -> Any:
    return np.ceil(values)


def _trunc(values: float) -> Any:
    return np.trunc(values)


def _whole(
    name: str, function: Callable[..., object], mode: RoundMode, text: str
) -> Callable[[Values], Values]:
    """The public function `name`, which rounds each number; `mode` is that of decimals."""

    def whole(values: Array) -> Array:
        storage = decoded_type(values.type).storage
        if isinstance(storage, s.Int):
            return cast(values, s.float64(), safe=False)
        if isinstance(storage, s.Decimal):
            return _of_decimals(values, storage, 0, mode)
        return over_rows(function, [values], same, NUMBERS, name=name, machine=True)

    text = f"Each number {text}, in its own type; float64 for integers."
    operation = element_wise("Numbers")(named(whole, name, text))
    return operation  # noqa: RET504 - mypy does not see the type of the call in its place


floor = _whole("floor", _floor, "down", "rounded down to an integer")
ceil = _whole("ceil", _ceil, "up", "rounded up to an integer")
trunc = _whole("trunc", _trunc, "towards_zero", "without its fraction")


RoundMode = Literal[
    "down",
    "up",
    "towards_zero",
    "towards_infinity",
    "half_down",
    "half_up",
    "half_towards_zero",
    "half_towards_infinity",
    "half_to_even",
    "half_to_odd",
]

_NEVER, _ALWAYS, _ODD, _EVEN = range(4)
"""When to choose the integer above: never, always, if the one below is odd, if that is even."""


def _choice(mode: RoundMode, is_negative: bool) -> tuple[int, bool]:
    """When a mode chooses the integer above, and whether it rounds only halves in that way."""
    halves = mode.startswith("half_")
    way = mode.removeprefix("half_")
    ways = {
        "down": _NEVER,
        "up": _ALWAYS,
        "towards_zero": _ALWAYS if is_negative else _NEVER,
        "towards_infinity": _NEVER if is_negative else _ALWAYS,
        "to_even": _ODD,
        "to_odd": _EVEN,
    }
    return ways[way], halves


@lru_cache(maxsize=3 * len(get_args(RoundMode)))
def _rounding(mode: RoundMode, is_float: bool, is_large: bool) -> Callable[..., object]:
    """The row function of a mode. It takes a number and the unit to round to, or, if small, 1 / unit."""
    (positive, halves), (negative, _) = _choice(mode, False), _choice(mode, True)
    is_usual = mode == "half_to_even"

    def goes_up(rest: float, unit: float, is_odd: bool, is_negative: bool) -> bool:
        if halves and rest + rest != unit:
            return rest + rest > unit
        choice = negative if is_negative else positive
        return choice == _ALWAYS or (choice >= _ODD and is_odd == (choice == _ODD))

    def round_float(values: float, unit: float) -> float:
        scaled = values / unit if is_large else values * unit
        if is_large and scaled == 0.0 and values != 0.0:
            scaled = math.copysign(5e-324, values)
        low = np.floor(scaled)
        rest = scaled - low
        if is_usual:
            rounded = np.rint(scaled)
        else:
            half = low * 0.5
            is_up = goes_up(rest, 1.0, np.floor(half) != half, scaled < 0.0)
            rounded = low + 1.0 if is_up else low
        rounded = rounded * unit if is_large and rounded != 0.0 else rounded / unit
        rounded = math.copysign(rounded, values)
        return rounded if rest > 0.0 else values

    def round_integer(values: int, unit: int) -> int:
        low = values // unit
        rest = values - low * unit
        if rest == 0:
            return values
        return (low + 1 if goes_up(rest, unit, low % 2 == 1, values < 0) else low) * unit

    return round_float if is_float else round_integer


_OF_DECIMALS = {
    "down": decimal.ROUND_FLOOR,
    "up": decimal.ROUND_CEILING,
    "towards_zero": decimal.ROUND_DOWN,
    "towards_infinity": decimal.ROUND_UP,
    "half_towards_zero": decimal.ROUND_HALF_DOWN,
    "half_towards_infinity": decimal.ROUND_HALF_UP,
    "half_to_even": decimal.ROUND_HALF_EVEN,
}
"""Mode → its name in the module `decimal`, for the modes that it has."""


@lru_cache(maxsize=len(_OF_DECIMALS))
def _quantizing(rounding: str) -> Callable[..., object]:
    def round(values: Decimal, shift: Decimal, last: Decimal, unit: Decimal) -> Decimal:
        return (values * shift).quantize(last, rounding) * unit

    return round


def _of_decimals(values: Array, type_: s.Decimal, ndigits: int, mode: RoundMode) -> Array:
    if mode not in _OF_DECIMALS:
        raise UnsupportedError(f"round_mode: decimals have no {mode!r}, but {[*_OF_DECIMALS]}")
    if ndigits >= type_.scale:
        return values
    one = Decimal(1)
    places = [
        one.scaleb(min(ndigits, 0)),
        one.scaleb(-max(ndigits, 0)),
        Decimal(10 ** max(-ndigits, 0)),
    ]
    return over_rows(_quantizing(_OF_DECIMALS[mode]), [values, *places], same, name="round")


@element_wise("Numbers")
def round(values: Array, ndigits: int = 0, round_mode: RoundMode = "half_to_even") -> Array:
    """Each number rounded to `ndigits` decimal places; a negative `ndigits` rounds to powers of ten.

    The type is kept. Numbers of 32 and 16 bits are rounded as float64 would be.

    Args:
        values: Integers, floating-point numbers or decimals.
        ndigits: The number of decimal places.
        round_mode: As in pyarrow: the direction in which numbers, or only halves, are rounded.

    Raises:
        ValueError: If there is no such mode, a rounded decimal needs more digits than its type has, or
            integers are to be rounded to more than 10**19.
        TypeError: If the array has no such numbers.
        UnsupportedError: If the mode is not there for decimals: "half_down", "half_up", "half_to_odd".
    """
    if round_mode not in get_args(RoundMode):
        raise ValueError(f"round_mode: expected one of {get_args(RoundMode)}, got {round_mode!r}")
    storage = decoded_type(values.type).storage
    if isinstance(storage, s.Decimal):
        return _of_decimals(values, storage, ndigits, round_mode)
    if not isinstance(storage, s.Int | s.FloatingPoint):
        raise TypeError(f"round: expected numbers, got {values.type}")
    if isinstance(storage, s.FloatingPoint):
        function = _rounding(round_mode, True, ndigits < 0)
        unit = float(f"1e{abs(ndigits)}")  # Infinity from 309 on.
        return over_rows(function, [values, unit], same, NUMBERS, machine=True, name="round")
    if ndigits >= 0:
        return values
    if ndigits < -19:
        raise ValueError(f"ndigits: expected -19 or more for {values.type}, got {ndigits}")
    return over_rows(
        _rounding(round_mode, False, True), [values, 10**-ndigits], same, NUMBERS, name="round"
    )


@element_wise("Numbers")
def round_to_multiple(
    values: Array, multiple: float = 1.0, round_mode: RoundMode = "half_to_even"
) -> Array:
    """Each number rounded to a multiple of a positive number; the type is kept. See `round`.

    Raises:
        ValueError: If there is no such mode, or `multiple` is not positive.
        TypeError: If the array has no integers or floating-point numbers, or it has integers and `multiple`
            is none.
        OverflowError: If an integer has no such multiple in its type.
    """
    if round_mode not in get_args(RoundMode):
        raise ValueError(f"round_mode: expected one of {get_args(RoundMode)}, got {round_mode!r}")
    if not multiple > 0:
        raise ValueError(f"multiple: must be positive, got {multiple}")
    is_float = isinstance(decoded_type(values.type).storage, s.FloatingPoint)
    if not is_float and multiple == int(multiple):
        multiple = int(multiple)
    return over_rows(
        _rounding(round_mode, is_float, True),
        [values, float(multiple) if is_float else integer(multiple, "multiple")],
        same,
        NUMBERS,
        machine=is_float,
        name="round_to_multiple",
    )


# Bits


def _and(left: int, right: int) -> int:
    return left & right


def _or(left: int, right: int) -> int:
    return left | right


def _xor(left: int, right: int) -> int:
    return left ^ right


def _shift_left(values: int, places: int, bits: int, sign: int) -> int:
    if not 0 <= places < bits - int(sign != 0):
        return values
    moved = values << places
    if bits == 64:
        return moved
    word = moved & ((1 << bits) - 1)
    return word - ((word & sign) << 1)


def _shift_right(values: int, places: int, bits: int, sign: int) -> int:
    if not 0 < places < bits - int(sign != 0):
        return values
    moved = values >> places
    # Unsigned words of 64 bits are read as signed ones, so the bits of the sign are removed.
    return moved if sign or bits < 64 else moved & ((1 << (64 - places)) - 1)


IntegersOrNumber: TypeAlias = Array | int


@element_wise("Bits")
def bit_wise_and(left: Array, right: IntegersOrNumber) -> Array:
    """The bits that are set in both integers; `right` is an array or a number."""
    return _of_bits("bit_wise_and", _and, left, right)


@element_wise("Bits")
def bit_wise_or(left: Array, right: IntegersOrNumber) -> Array:
    """The bits that are set in either of two integers; `right` is an array or a number."""
    return _of_bits("bit_wise_or", _or, left, right)


@element_wise("Bits")
def bit_wise_xor(left: Array, right: IntegersOrNumber) -> Array:
    """The bits that are set in exactly one of two integers; `right` is an array or a number."""
    return _of_bits("bit_wise_xor", _xor, left, right)


@element_wise("Bits")
def bit_wise_not(values: Array) -> Array:
    """The bits that are not set in each integer."""
    type_ = decoded_type(values.type).storage
    ones = (1 << type_.bit_width) - 1 if isinstance(type_, s.Int) and not type_.signed else -1
    return _of_bits("bit_wise_not", _xor, values, ones)


@element_wise("Bits")
def shift_left(values: Array, places: IntegersOrNumber) -> Array:
    """The bits of each integer, shifted up by `places`, if these are fewer than its bits without the sign.

    As in pyarrow, nothing is shifted by more places, or fewer than none. Bits beyond the type are lost.
    """
    return _of_bits("shift_left", _shift_left, values, places, sized=True)


@element_wise("Bits")
def shift_right(values: Array, places: IntegersOrNumber) -> Array:
    """The bits of each integer, shifted down by `places`; the sign is kept. See `shift_left`."""
    return _of_bits("shift_right", _shift_right, values, places, sized=True)


def _of_bits(
    name: str,
    function: Callable[..., object],
    left: Array,
    right: IntegersOrNumber,
    *options: object,
    sized: bool = False,
) -> Array:
    """A function of 64-bit words; unsigned integers of 64 bits are read as such words, too.

    If it is not `sized`, both sides are bits of one kind: none is past the other's type.
    """
    type_ = decoded_type(left.type).storage
    if not isinstance(type_, s.Int):
        raise TypeError(f"{name}: expected integers, got {left.type}")
    sides: list[object] = [_signed(left, name), _signed(right, name), *options]
    if sized:
        bits = type_.bit_width
        # For 64 bits, 1 stands for a signed type, as a number has no room for the bit of its sign.
        sides += [bits, int(type_.signed) << (bits - 1 if bits < 64 else 0)]
    elif not isinstance(right, Array):
        number_of(int(right), type_, "right")
    else:
        types = type_, decoded_type(right.type).storage
        if s.uint64() in types and any(isinstance(each, s.Int) and each.signed for each in types):
            raise TypeError(f"{name}: no type holds the values of {left.type} and {right.type}")
    result = over_rows(function, sides, same, INTEGERS, name=name, machine=True)
    return retyped(result, s.uint64()) if type_ == s.uint64() else result


def _signed(side: IntegersOrNumber, name: str) -> IntegersOrNumber:
    """Unsigned words of 64 bits reinterpreted as signed integers."""
    if isinstance(side, Array):
        plain = decoded(side) if decoded_type(side.type) == s.uint64() else side
        return retyped(plain, s.int64()) if plain.type == s.uint64() else side
    number = int(side) if isinstance(side, bool | np.bool_) else integer(side, name)
    return number - (1 << 64) if number >> 63 == 1 else number
