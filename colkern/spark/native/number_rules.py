"""Rules for numbers: arithmetic, comparisons, rounding, functions of `math`, and conversions between them.

Functions whose last digits differ between Java and C have no rule: `sin`, `exp`, `log`, powers of floats.
The translation itself writes sums, differences and products of integers, their comparisons and signs.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from decimal import Decimal
from functools import reduce
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as f

from colkern.spark.native.rule import (
    COMPARED,
    LEAST,
    MOST,
    Operand,
    Rule,
    Rules,
    comparisons,
    of_columns,
    where_null,
)

_EXACT = 1 << 53
"""All integers up to this one are exact as doubles."""

_BEYOND = float(1 << 63)


def as_long(number: Column | int) -> Column:
    """Returns a number as a bigint."""
    return (f.lit(number) if isinstance(number, int) else number).cast("bigint")


# Comparisons. In Spark, NaN equals itself and is above all numbers; in Python every comparison with NaN but
# `!=` is false.


def _may_be_nan(operand: Operand) -> bool:
    return not isinstance(operand.constant, float | int) or operand.constant != operand.constant


def _compared(test: Callable[[Any, Any], Column], asked: int) -> Rule:
    """A comparison of floats that is false where the operand at a place is NaN; Spark's is false for the
    other one."""

    def value(*operands: Operand) -> Column:
        outcome = test(*(operand.column for operand in operands))
        if _may_be_nan(operands[asked]):
            return outcome & ~f.isnan(operands[asked].column)
        return outcome

    return Rule(value)


def less(left: Column, right: Column) -> Column:
    """`left < right` of floats."""
    return (left < right) & ~f.isnan(right)


def _equal_floats(left: Operand, right: Operand) -> Column:
    test = left.column == right.column
    if _may_be_nan(left) and _may_be_nan(right):
        test = test & ~f.isnan(left.column)
    return test


def _mixed(sign: str) -> Callable[[Operand, Operand], Column]:
    """A comparison of an integer with a float, neither of them rounded.

    The rounded integer compares with a float as the integer does, unless it equals the float. Then the
    float is an integer itself, which only 2**63 makes too large for a bigint.
    """

    def value(whole: Operand, other: Operand) -> Column:
        number, x = whole.column, other.column
        rounded = number.cast("double")
        is_small = isinstance(whole.constant, int) and abs(whole.constant) <= _EXACT
        if isinstance(other.constant, float) and abs(other.constant) < _EXACT:
            is_small = True
        exact, is_bigint = x.try_cast("bigint"), x < f.lit(_BEYOND)
        equals = rounded == x if is_small else (rounded == x) & is_bigint & (number == exact)
        if sign in ("==", "!="):
            return ~equals if sign == "!=" else equals
        is_less = sign in ("<", "<=")
        strict = rounded < x if is_less else rounded > x
        if is_less and _may_be_nan(other):
            strict = strict & ~f.isnan(x)
        if not is_small:
            tie = (number < exact) | ~is_bigint if is_less else number > exact
            strict = strict | ((rounded == x) & tie)
        return strict | equals if "=" in sign else strict

    return value


_MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _comparisons() -> Rules:
    floats = {
        "==": Rule(_equal_floats),
        "!=": Rule(lambda x, y: ~_equal_floats(x, y)),
        **{sign: _compared(COMPARED[sign], 1) for sign in ("<", "<=")},
        **{sign: _compared(COMPARED[sign], 0) for sign in (">", ">=")},
    }
    rules = comparisons("bool")
    for sign, other in _MIRRORED.items():
        mirrored = _mixed(other)
        rules[sign, "(float, float) -> bool"] = floats[sign]
        rules[sign, "(int, float) -> bool"] = Rule(_mixed(sign))
        rules[sign, "(float, int) -> bool"] = Rule(lambda x, y, _mirrored=mirrored: _mirrored(y, x))
    return rules


# Integers


def floor_quotient(x: Operand, y: Operand) -> Column:
    """`x // y` of integers."""
    left, right = x.column, y.column
    # Null for zero; a divisor may also be -1, beside the smallest integer.
    divides = isinstance(y.constant, int) and y.constant not in (0, -1)
    quotient = f.call_function("div", left, right if divides else f.nullif(right, as_long(0)))
    if isinstance(y.constant, int) and y.constant > 0:
        if x.is_within(0, MOST):
            return quotient
        below = f.call_function("div", left + as_long(1), right) - as_long(1)
        return f.when(left < 0, below).otherwise(quotient)
    rest = _rest(x, y)
    return f.when((rest != 0) & ((rest < 0) != (right < 0)), quotient - as_long(1)).otherwise(
        quotient
    )


def _rest(x: Operand, y: Operand) -> Column:
    """Returns the remainder of a division that rounds towards zero."""
    return f.try_mod(x.column, y.column)


def modulo(x: Operand, y: Operand) -> Column:
    """`x % y` of integers."""
    if isinstance(y.constant, int) and y.constant > 0:
        return f.pmod(x.column, y.column)
    rest = _rest(x, y)
    is_beside = (rest != 0) & ((rest < 0) != (y.column < 0))
    return f.when(is_beside, rest + y.column).otherwise(rest)


def is_zero(x: Operand, y: Operand) -> Column | None:
    """True where a division raises."""
    return None if y.is_constant and y.constant != 0 else y.column == 0


def no_quotient(x: Operand, y: Operand) -> Column | None:
    """True where `x // y` of integers raises, or exceeds 64 bits."""
    if y.is_constant and y.constant not in (0, -1):
        return None
    return (y.column == 0) | ((y.column == -1) & (x.column == as_long(LEAST)))


def _shifted_left(x: Operand, y: Operand) -> Column:
    return f.call_function("shiftleft", x.column, _places(y))


def _places(y: Operand) -> Column:
    if isinstance(y.constant, int):
        return f.lit(min(max(y.constant, 0), 63))
    return f.least(f.greatest(y.column, f.lit(0)), f.lit(63)).cast("int")


def _no_shift_left(x: Operand, y: Operand) -> Column:
    back = f.call_function("shiftright", _shifted_left(x, y), _places(y))
    return (y.column < 0) | ((x.column != 0) & ((y.column > 63) | (back != x.column)))


def true_quotient(x: Operand, y: Operand) -> Column:
    """`x / y` of integers: the float nearest to their quotient.

    If both integers are exact as doubles, the doubles are divided. Otherwise both are shifted to about 62
    bits, and a quotient of 57 bits or more is computed in decimals; its last bit tells whether there is a
    remainder, so that it is rounded only once.
    """
    left, right = x.column, y.column
    near = f.try_divide(left.cast("double"), right.cast("double"))
    sizes = [f.abs(o.column.cast("double")) for o in (x, y) if not o.is_within(-_EXACT, _EXACT)]
    if not sizes:
        return near
    shifts = [_room(number) for number in (x, y)]
    scaled, divisor = (
        f.abs(f.call_function("shiftleft", number, shift).cast("decimal(19,0)"))
        for number, shift in zip((left, right), shifts, strict=True)
    )
    scaled = scaled * f.lit(Decimal(1 << 60))
    sticky = (f.try_mod(scaled, divisor) != 0).cast("bigint")
    whole = f.call_function("div", scaled, divisor).bitwiseOR(sticky)
    # Java's powers of two are exact.
    unscaled = whole.cast("double") * f.pow(f.lit(2.0), shifts[1] - shifts[0] - 60)
    largest = f.greatest(*sizes) if len(sizes) > 1 else sizes[0]
    is_near = (largest < float(_EXACT)) | (right == 0)
    return f.when(is_near, near).otherwise(unscaled * f.signum(near))


def _room(number: Operand) -> Column:
    """Returns the number of places by which an integer is shifted to the left to have 61 or 62 bits."""
    if isinstance(number.constant, int):
        return f.lit(max(62 - number.constant.bit_length(), 0))
    exponent = f.floor(f.log2(f.abs(number.column.cast("double"))))
    return f.greatest(f.lit(61) - exponent, f.lit(0)).cast("int")


def _power(x: Operand, y: Operand) -> Column | None:
    if not isinstance(y.constant, int) or not 0 <= y.constant <= 4:
        return None
    result = as_long(1)
    for _ in range(y.constant):
        result = f.try_multiply(result, x.column)
    return result


# Floats


def _rest_of_floats(x: Operand, y: Operand) -> Column:
    """`x % y`, which has the sign of `y`."""
    rest = f.try_mod(x.column, y.column)
    below = f.when((rest < 0) != (y.column < 0), rest + y.column).otherwise(rest)
    if isinstance(y.constant, float) and y.constant > 0:
        below = f.when(rest < 0, rest + y.column).otherwise(rest)
    return f.when(rest == 0, _zero(y.column)).otherwise(below)


def _zero(number: Column) -> Column:
    """Returns the zero with a number's sign. Spark's optimizer takes 0.0 and -0.0 for the same literal."""
    return f.signum(number) * 0.0


_HIDDEN = float(1 << 52)
"""From here on, each double is an integer."""


def floor(x: Column) -> Column:
    """Returns the floor of a double as a double."""
    down = f.rint(x)
    return f.when(down > x, down - 1.0).otherwise(down)


def _floor_quotient_of_floats(x: Operand, y: Operand) -> Column:
    """As CPython computes it: `(x - rest) / y`, which is an integer except for rounding."""
    left, right = x.column, y.column
    rest = f.try_mod(left, right)
    near = f.try_divide(left - rest, right)
    near = f.when((rest != 0) & ((rest < 0) != (right < 0)) & ~f.isnan(rest), near - 1.0).otherwise(
        near
    )
    down = floor(near)
    down = f.when(near - down > 0.5, down + 1.0).otherwise(down)
    return f.when(near == 0, _zero(f.try_divide(left, right))).otherwise(down)


def _rounded(x: Operand, digits: Operand) -> Column | None:
    """`round(x, digits)`: the float nearest to the decimal nearest to `x`; of two decimals, the even one.

    The integer nearest to `x * 10**digits` is the one nearest to the rounded product, unless that lies
    midway between two integers. Then the error of the product decides; halves of 26 bits make it exact.
    """
    if not isinstance(digits.constant, int) or not 1 <= digits.constant <= 8:
        return f.rint(x.column) if digits.constant == 0 else None
    power = f.lit(float(10**digits.constant))
    number = x.column
    product = number * power
    shifted = number * f.lit(134217729.0)
    high = shifted - (shifted - number)
    error = (high * power - product) + (number - high) * power
    is_between = f.abs(product - f.rint(product)) == 0.5
    back = f.when(is_between, f.signum(error) * -0.5).otherwise(0.0)
    # For large products: such a double has so few fraction bits that these times the power are exact.
    whole = f.rint(number)
    large = whole + f.rint((number - whole) * power) / power
    # In Spark, NaN is above all numbers.
    return (
        f.when(f.abs(product) < _HIDDEN, f.rint(product - back) / power)
        .when(f.abs(number) < _HIDDEN, large)
        .otherwise(number)
    )


def _no_integer(rounded: Callable[[Column], Column]) -> Callable[[Operand], Column]:
    """True for floats that do not fit into 64 bits once rounded, NaN included."""

    def fails(x: Operand) -> Column:
        number = rounded(x.column)
        return ~((number >= -_BEYOND) & (number < _BEYOND))

    return fails


def _as_integer(rounded: Callable[[Column], Column]) -> Rule:
    return Rule(lambda x: rounded(x.column).try_cast("bigint"), _no_integer(rounded))


def _with_sign(x: Operand, y: Operand) -> Column | None:
    """`math.copysign` with a constant sign: Spark does not show the sign of a zero."""
    if not isinstance(y.constant, float) or y.constant != y.constant:
        return None
    size = f.abs(x.column)
    return -size if math.copysign(1.0, y.constant) < 0 else size


def _is_close(x: Operand, y: Operand, relative: Operand, absolute: Operand) -> Column:
    left, right = x.column, y.column
    distance = f.abs(right - left)
    share = relative.column
    bounds = (f.abs(share * right), f.abs(share * left), absolute.column)
    near = reduce(operator.or_, ((distance <= bound) & ~f.isnan(bound) for bound in bounds))
    are_numbers = (f.abs(left) < math.inf) & (f.abs(right) < math.inf)
    return ((left == right) & ~f.isnan(left)) | (are_numbers & near)


def _no_remainder(x: Operand, y: Operand) -> Column:
    """True where `math.fmod` raises: for an infinite dividend or a zero divisor, without a NaN."""
    return ((f.abs(x.column) == math.inf) & ~f.isnan(y.column)) | (
        (y.column == 0) & ~f.isnan(x.column)
    )


def _least(x: Operand, y: Operand) -> Column:
    """`min`: the second argument if it is less, else the first.

    In Spark, NaN is above all numbers, so its `least` is that only if the first one is no NaN, and its
    `greatest` if the second one is none. Negated, the one becomes the other; Spark has no literal -0.0.
    """
    if not _may_be_nan(x):
        return f.least(x.column, y.column)
    if not _may_be_nan(y) and y.constant != 0:
        return -f.greatest(-x.column, f.lit(-y.constant))
    return f.when(less(y.column, x.column), y.column).otherwise(x.column)


def _greatest(x: Operand, y: Operand) -> Column:
    """`max`: the second argument if it is greater, else the first. See `_least`."""
    if not _may_be_nan(y):
        return f.greatest(x.column, y.column)
    if not _may_be_nan(x):
        return f.greatest(x.column, f.nanvl(y.column, x.column))
    return f.when(less(x.column, y.column), y.column).otherwise(x.column)


_FLOAT = "(float) -> float"
_FLOATS = "(float, float) -> float"
_INTS = "(int, int) -> int"
_TEST = "(float) -> bool"


_SHOWN: dict[str, Callable[[Column], Column]] = {
    "int": lambda x: x.cast("string"),
    "bool": lambda x: f.when(x, "True").otherwise("False"),
}


RULES: Rules = {
    **_comparisons(),
    ("//", _INTS): Rule(floor_quotient, no_quotient),
    ("%", _INTS): Rule(modulo, is_zero),
    ("divmod", "(int, int) -> tuple[int, int]"): Rule(
        lambda x, y: (floor_quotient(x, y), modulo(x, y)), no_quotient
    ),
    ("/", "(int, int) -> float"): Rule(true_quotient, is_zero),
    ("<<", _INTS): Rule(_shifted_left, _no_shift_left),
    (">>", _INTS): Rule(
        lambda x, y: f.call_function("shiftright", x.column, _places(y)), lambda x, y: y.column < 0
    ),
    ("&", _INTS): Rule(of_columns(lambda x, y: x.bitwiseAND(y))),
    ("|", _INTS): Rule(of_columns(lambda x, y: x.bitwiseOR(y))),
    ("^", _INTS): Rule(of_columns(lambda x, y: x.bitwiseXOR(y))),
    ("~", "(int) -> int"): Rule(of_columns(f.bitwise_not)),
    ("**", _INTS): where_null(_power),
    ("pow", _INTS): where_null(_power),
    ("&", "(bool, bool) -> bool"): Rule(of_columns(lambda x, y: x & y)),
    ("|", "(bool, bool) -> bool"): Rule(of_columns(lambda x, y: x | y)),
    ("^", "(bool, bool) -> bool"): Rule(of_columns(lambda x, y: x != y)),
    ("bool", "(int) -> bool"): Rule(of_columns(lambda x: x != 0)),
    ("bool", "(float) -> bool"): Rule(of_columns(lambda x: x != 0.0)),
    **{
        (name, "(int) -> int"): Rule(lambda x: x.column)
        for name in ("int", "round", "math.floor", "math.ceil", "math.trunc", "pos")
    },
    **{(name, _FLOAT): Rule(lambda x: x.column) for name in ("float", "pos")},
    **{
        (name, f"({kind}) -> str"): Rule(of_columns(shown))
        for kind, shown in _SHOWN.items()
        for name in ("str", "repr", "format")
    },
    ("+", _FLOATS): Rule(of_columns(lambda x, y: x + y)),
    ("-", _FLOATS): Rule(of_columns(lambda x, y: x - y)),
    ("*", _FLOATS): Rule(of_columns(lambda x, y: x * y)),
    ("/", _FLOATS): Rule(of_columns(f.try_divide), is_zero),
    ("%", _FLOATS): Rule(_rest_of_floats, is_zero),
    ("//", _FLOATS): Rule(_floor_quotient_of_floats, is_zero),
    ("divmod", "(float, float) -> tuple[float, float]"): Rule(
        lambda x, y: (_floor_quotient_of_floats(x, y), _rest_of_floats(x, y)), is_zero
    ),
    ("neg", _FLOAT): Rule(of_columns(lambda x: -x)),
    ("abs", _FLOAT): Rule(of_columns(f.abs)),
    ("math.fabs", _FLOAT): Rule(of_columns(f.abs)),
    ("min", _FLOATS): Rule(_least),
    ("max", _FLOATS): Rule(_greatest),
    ("round", "(float) -> int"): _as_integer(f.rint),
    ("round", "(float, ndigits: int) -> float"): Rule(_rounded),
    ("round", "(int, ndigits: int) -> int"): Rule(
        lambda x, n: x.column if isinstance(n.constant, int) and n.constant >= 0 else None
    ),
    ("int", "(float) -> int"): _as_integer(lambda x: x),
    ("math.trunc", "(float) -> int"): _as_integer(lambda x: x),
    ("math.floor", "(float) -> int"): Rule(of_columns(f.floor), _no_integer(lambda x: x)),
    ("math.ceil", "(float) -> int"): Rule(of_columns(f.ceil), _no_integer(lambda x: x)),
    ("math.sqrt", _FLOAT): Rule(of_columns(f.sqrt), of_columns(lambda x: x < 0)),
    ("math.isnan", _TEST): Rule(of_columns(f.isnan)),
    ("math.isinf", _TEST): Rule(of_columns(lambda x: f.abs(x) == math.inf)),
    ("math.isfinite", _TEST): Rule(of_columns(lambda x: f.abs(x) < math.inf)),
    ("float.is_integer", _TEST): Rule(
        of_columns(lambda x: (f.abs(x) < math.inf) & (f.rint(x) == x))
    ),
    ("math.copysign", _FLOATS): Rule(_with_sign),
    ("math.degrees", _FLOAT): Rule(of_columns(lambda x: x * f.lit(180.0 / math.pi))),
    ("math.radians", _FLOAT): Rule(of_columns(lambda x: x * f.lit(math.pi / 180.0))),
    ("math.fmod", _FLOATS): Rule(
        of_columns(lambda x, y: f.coalesce(f.try_mod(x, y), f.lit(math.nan))), _no_remainder
    ),
    ("math.isclose", "(float, float, rel_tol: float = 1e-09, abs_tol: float = 0.0) -> bool"): Rule(
        _is_close, lambda x, y, relative, absolute: (relative.column < 0) | (absolute.column < 0)
    ),
}
"""The rules for numbers."""
