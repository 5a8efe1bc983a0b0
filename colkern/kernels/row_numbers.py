"""Arithmetic of row functions with Python's meaning, where one expression does not say it.

An integer that leaves 64 bits leaves the row to Python. What is exact on floats (`%`, `//`) is computed on
their bits, as the instructions of GPUs are not exact.
"""

from __future__ import annotations

import math

from numpy import float64, int64, uint64

from colkern.kernels.arguments import Truth
from colkern.kernels.float_digits import fraction_and_exponent, power_of_ten
from colkern.kernels.kernel import helper
from colkern.kernels.primitives import (
    bits_of_float,
    float_of_bits,
    leading_zeros,
    popcount,
    product_overflows,
    shifted_right,
    wrapped,
)
from colkern.kernels.row_values import (
    DONE,
    LEAST,
    LEFT,
    OVERFLOW_ERROR,
    VALUE_ERROR,
    ZERO_DIVISION_ERROR,
    Code,
)

_EXACT = 1 << 53
"""Up to here, floats are all the integers."""

_FRACTION = (1 << 52) - 1
_WHOLE = 4503599627370496.0
"""From 2**52 on, all floats are integers."""

_LARGEST = 1.7976931348623157e308

# Integers


@helper
def divide_integers(left: int64, right: int64) -> tuple[float64, Code]:
    """`left / right`; large integers are left to Python, which rounds their quotient once."""
    if right == 0:
        return float64(0.0), ZERO_DIVISION_ERROR
    if left > _EXACT or left < -_EXACT or right > _EXACT or right < -_EXACT:
        return float64(0.0), LEFT
    return float64(left) / float64(right), DONE


@helper
def floor_divide_integers(left: int64, right: int64) -> tuple[int64, Code]:
    """`left // right`."""
    if right == 0:
        return int64(0), ZERO_DIVISION_ERROR
    if right == -1:
        return (int64(0), LEFT) if left == LEAST else (-left, DONE)
    return left // right, DONE


@helper
def modulo_integers(left: int64, right: int64) -> tuple[int64, Code]:
    """`left % right`."""
    if right == 0:
        return int64(0), ZERO_DIVISION_ERROR
    if right == -1:
        return int64(0), DONE
    return left % right, DONE


@helper
def divmod_integers(left: int64, right: int64) -> tuple[tuple[int64, int64], Code]:
    """`divmod(left, right)`."""
    quotient, code = floor_divide_integers(left, right)
    if code != DONE:
        return (int64(0), int64(0)), code
    return (quotient, left - quotient * right), DONE


@helper
def power_of_integers(base: int64, exponent: int64) -> tuple[int64, Code]:
    """`base ** exponent`; a negative exponent, which gives a float, is left to Python."""
    if exponent < 0:
        return int64(0), (ZERO_DIVISION_ERROR if base == 0 else LEFT)
    if exponent == 2:
        # Without a loop: the exponent that most powers have.
        return (int64(0), LEFT) if product_overflows(base, base) else (base * base, DONE)
    result = int64(1)
    while exponent > 0:
        if exponent & 1:
            if product_overflows(result, base):
                return int64(0), LEFT
            result = result * base
        exponent = exponent >> 1
        # Some bit of the exponent is left, so the result would leave 64 bits too.
        if exponent > 0:
            if product_overflows(base, base):
                return int64(0), LEFT
            base = base * base
    return result, DONE


@helper
def power_modulo(base: int64, exponent: int64, modulus: int64) -> tuple[int64, Code]:
    """`pow(base, exponent, modulus)`; inverses, and a modulus whose square has no 64 bits, are left."""
    if modulus == 0:
        return int64(0), VALUE_ERROR
    if exponent < 0 or modulus > 3037000499 or modulus < -3037000499:
        return int64(0), LEFT
    size = abs(modulus)
    base = base % size
    result = int64(1)
    while exponent > 0:
        if exponent & 1:
            result = result * base % size
        base = base * base % size
        exponent = exponent >> 1
    return result % modulus, DONE


@helper
def shift_left(value: int64, places: int64) -> tuple[int64, Code]:
    """`value << places`."""
    if places < 0:
        return int64(0), VALUE_ERROR
    if value == 0:
        return int64(0), DONE
    if places > 62:
        return int64(0), LEFT
    shifted = wrapped(value << places)
    if shifted >> places != value:
        return int64(0), LEFT
    return shifted, DONE


@helper
def shift_right(value: int64, places: int64) -> tuple[int64, Code]:
    """`value >> places`."""
    if places < 0:
        return int64(0), VALUE_ERROR
    return value >> (places if places < 63 else int64(63)), DONE


@helper
def floor_divide_unsigned(left: int64, right: int64) -> tuple[int64, Code]:
    """`left // right` of integers without a sign."""
    if right == 0:
        return int64(0), ZERO_DIVISION_ERROR
    return int64(uint64(left) // uint64(right)), DONE


@helper
def modulo_unsigned(left: int64, right: int64) -> tuple[int64, Code]:
    """`left % right` of integers without a sign."""
    if right == 0:
        return int64(0), ZERO_DIVISION_ERROR
    return int64(uint64(left) % uint64(right)), DONE


@helper
def modulo_of_signed(left: int64, right: int64) -> tuple[int64, Code]:
    """`left % right` of an integer without a sign; a negative divisor is left to Python."""
    if right < 0:
        return int64(0), LEFT
    return modulo_unsigned(left, right)


@helper
def divmod_unsigned(left: int64, right: int64) -> tuple[tuple[int64, int64], Code]:
    """`divmod(left, right)` of an integer without a sign; a negative divisor is left to Python."""
    rest, code = modulo_of_signed(left, right)
    if code != DONE:
        return (int64(0), int64(0)), code
    return (int64(uint64(left) // uint64(right)), rest), DONE


@helper
def shift_right_unsigned(value: int64, places: int64) -> tuple[int64, Code]:
    """`value >> places` of an integer without a sign."""
    if places < 0:
        return int64(0), VALUE_ERROR
    return (shifted_right(value, places) if places < 64 else int64(0)), DONE


@helper
def float_of_unsigned(value: int64) -> float64:
    """`float(value)` of an integer without a sign."""
    return float64(uint64(value))


@helper
def bit_count_of_word(value: int64) -> int64:
    """`value.bit_count()` of an integer without a sign."""
    return int64(popcount(uint64(value)))


@helper
def bit_length_of_word(value: int64) -> int64:
    """`value.bit_length()` of an integer without a sign."""
    return int64(0) if value == 0 else 64 - int64(leading_zeros(uint64(value)))


@helper
def magnitude_of_integer(value: int64) -> uint64:
    """The absolute value, which the least integer has none of as an int64."""
    if value < 0:
        return uint64(-(value + 1)) + uint64(1)
    return uint64(value)


@helper
def bit_count(value: int64) -> int64:
    """`value.bit_count()`."""
    return bit_count_of_word(int64(magnitude_of_integer(value)))


@helper
def bit_length(value: int64) -> int64:
    """`value.bit_length()`."""
    return bit_length_of_word(int64(magnitude_of_integer(value)))


@helper
def round_integer(value: int64, digits: int64) -> tuple[int64, Code]:
    """`round(value, digits)`: to tens, hundreds..., halves to the even one."""
    if digits >= 0:
        return value, DONE
    if digits < -18:
        # 10**19 is more than twice all that have 64 bits, but for a half of it.
        return int64(0), LEFT
    unit = power_of_ten(-digits)
    rest = value % unit
    down = value // unit
    half = unit // 2
    if rest > half or (rest == half and down & 1 != 0):
        down = down + 1
    if product_overflows(down, unit):
        return int64(0), LEFT
    return down * unit, DONE


@helper
def gcd(left: int64, right: int64) -> tuple[int64, Code]:
    """`math.gcd(left, right)`."""
    if left == LEAST or right == LEAST:
        return int64(0), LEFT
    left, right = abs(left), abs(right)
    while right != 0:
        left, right = right, left % right
    return left, DONE


@helper
def lcm(left: int64, right: int64) -> tuple[int64, Code]:
    """`math.lcm(left, right)`."""
    divisor, code = gcd(left, right)
    if code != DONE or divisor == 0:
        return int64(0), code
    factor = abs(left) // divisor
    if product_overflows(factor, abs(right)):
        return int64(0), LEFT
    return factor * abs(right), DONE


@helper
def factorial(n: int64) -> tuple[int64, Code]:
    """`math.factorial(n)`."""
    if n < 0:
        return int64(0), VALUE_ERROR
    if n > 20:
        return int64(0), LEFT
    result = int64(1)
    for k in range(n):
        result = result * (int64(k) + 1)
    return result, DONE


@helper
def arrangements(n: int64, k: int64, ordered: int64) -> tuple[int64, Code]:
    """`math.perm(n, k)`; `math.comb(n, k)` if `ordered` is 0."""
    if n < 0 or k < 0:
        return int64(0), VALUE_ERROR
    if k > n:
        return int64(0), DONE
    if ordered == 0:
        k = min(k, n - k)
    result = int64(1)
    done = int64(0)
    while done < k:
        if product_overflows(result, n - done):
            return int64(0), LEFT
        result = result * (n - done)
        done = done + 1
        if ordered == 0:
            result = result // done
    return result, DONE


@helper
def isqrt(n: int64) -> tuple[int64, Code]:
    """`math.isqrt(n)`."""
    if n < 0:
        return int64(0), VALUE_ERROR
    root = int64(math.sqrt(float64(n)))
    if root > 3037000499 or root * root > n:
        root = root - 1
    elif root < 3037000499 and (root + 1) * (root + 1) <= n:
        root = root + 1
    return root, DONE


# Floats


@helper
def divide_floats(left: float64, right: float64) -> tuple[float64, Code]:
    """`left / right`."""
    if right == 0.0:
        return float64(0.0), ZERO_DIVISION_ERROR
    return left / right, DONE


@helper
def exact_product(left: float, right: float) -> tuple[float, float]:
    """A product as the sum of two floats (Dekker's), of values far from where floats end."""
    product = left * right
    upper = left * 134217729.0
    upper = upper - (upper - left)
    lower = left - upper
    high = right * 134217729.0
    high = high - (high - right)
    low = right - high
    return product, ((upper * high - product) + upper * low + lower * high) + lower * low


@helper
def modulus_of_bits(left: int64, right: int64) -> int64:
    """The remainder of a positive float divided by another, which is not larger, all as bits."""
    divisor, lower = fraction_and_exponent(float_of_bits(right))
    rest, exponent = fraction_and_exponent(float_of_bits(left))
    exponent = exponent - lower
    lower = lower + 1075
    rest = rest % divisor
    while exponent > 0 and rest != 0:
        # 53 bits and ten more are an int64.
        step = exponent if exponent < 10 else int64(10)
        rest = (rest << step) % divisor
        exponent = exponent - step
    if rest == 0:
        return int64(0)
    while rest <= _FRACTION and lower > 1:
        rest = rest << 1
        lower = lower - 1
    return rest if rest <= _FRACTION else (lower << 52) | (rest & _FRACTION)


@helper
def float_modulus(left: float64, right: float64) -> float:
    """C's `fmod(left, right)` of a divisor that is not zero, and no infinite `left`."""
    if left != left or right != right:
        return left + right
    rest, divisor = float64(abs(left)), float64(abs(right))
    if rest >= divisor:
        quotient = rest / divisor
        if quotient < _WHOLE and rest < 1e290:
            product, error = exact_product(float64(int64(quotient)), divisor)
            rest = (rest - product) - error
            # Of a quotient that was rounded up to an integer, one is too much.
            rest = rest + divisor if rest < 0.0 else rest
        else:
            rest = float_of_bits(modulus_of_bits(bits_of_float(rest), bits_of_float(divisor)))
    return math.copysign(rest, left)


@helper
def fmod(left: float64, right: float64) -> tuple[float, Code]:
    """`math.fmod(left, right)`."""
    if left != left or right != right:
        return left + right, DONE
    if abs(left) > _LARGEST or right == 0.0:
        return float64(0.0), VALUE_ERROR
    return float_modulus(left, right), DONE


@helper
def modulo_floats(left: float64, right: float64) -> tuple[float, Code]:
    """`left % right`."""
    if right == 0.0:
        return float64(0.0), ZERO_DIVISION_ERROR
    if abs(left) > _LARGEST:
        return float64(math.nan), DONE
    rest = float_modulus(left, right)
    if rest == 0.0:
        return math.copysign(float64(0.0), right), DONE
    if (right < 0.0) != (rest < 0.0):
        rest = rest + right
    return rest, DONE


@helper
def floor_divide_floats(left: float64, right: float64) -> tuple[float, Code]:
    """`left // right`."""
    if right == 0.0:
        return float64(0.0), ZERO_DIVISION_ERROR
    if abs(left) > _LARGEST:
        return float64(math.nan), DONE
    rest = float_modulus(left, right)
    quotient = (left - rest) / right
    if rest != 0.0 and (right < 0.0) != (rest < 0.0):
        quotient = quotient - 1.0
    if quotient == 0.0:
        return math.copysign(float64(0.0), left / right), DONE
    if not abs(quotient) < _WHOLE:
        return quotient, DONE
    whole = float64(int64(quotient))
    if whole > quotient:
        whole = whole - 1.0
    if quotient - whole > 0.5:
        whole = whole + 1.0
    return math.copysign(whole, quotient), DONE


@helper
def divmod_floats(left: float64, right: float64) -> tuple[tuple[float, float], Code]:
    """`divmod(left, right)`."""
    quotient, code = floor_divide_floats(left, right)
    rest, code = modulo_floats(left, right)
    return (quotient, rest), code


@helper
def c_power(base: float64, exponent: float64) -> float64:
    """C's `pow` of finite floats that have a finite or infinite power.

    What is taken away is zero. LLVM does not know that, so it does not see exponents such as 2.0, for which
    it would not call `pow`, and round otherwise.
    """
    return float64(base - (exponent - exponent)) ** float64(exponent - (base - base))


@helper
def is_whole(value: float64) -> Truth:
    """`value.is_integer()`."""
    if not abs(value) < _WHOLE:
        return abs(value) <= _LARGEST
    return float64(int64(value)) == value


@helper
def is_odd(value: float64) -> Truth:
    """Whether a float is an odd integer."""
    if not abs(value) < 9007199254740992.0:
        return False
    return float64(int64(value)) == value and int64(value) & 1 != 0


@helper
def last_place(value: float) -> float64:
    """The value of the last bit of a positive float, far from where floats end."""
    return float_of_bits((bits_of_float(float64(value)) & (0x7FF << 52)) - (52 << 52))


@helper
def power_of_floats(base: float64, exponent: float64) -> tuple[float, Code]:
    """`base ** exponent`; infinities and complex results are left to Python.

    Python calls C's `pow`, which errs by up to 0.54 units of the last place. A product errs by 0.5, so it
    is the square or the third power but near the middle of two floats.
    """
    if (exponent == 2.0 or exponent == 3.0) and 1e-90 < abs(base) < 1e90:
        result, rest = exact_product(base, base)
        if exponent == 3.0:
            below = rest * base
            product, rest = exact_product(result, base)
            rest += below
            result = product + rest
            rest -= result - product
        is_power_of_two = bits_of_float(float64(result)) & _FRACTION == 0
        if abs(rest) < 0.44 * last_place(result) and not is_power_of_two:
            return result, DONE
    if exponent == 0.0:
        return float64(1.0), DONE
    if base != base:
        return base, DONE
    if not (abs(base) <= _LARGEST and abs(exponent) <= _LARGEST):
        return float64(0.0), LEFT
    if base == 0.0:
        if exponent < 0.0:
            return float64(0.0), ZERO_DIVISION_ERROR
        return (base if is_odd(exponent) else float64(0.0)), DONE
    if base < 0.0 and not is_whole(exponent):
        return float64(0.0), LEFT
    result = c_power(abs(base), exponent)
    if result > _LARGEST:
        return float64(0.0), OVERFLOW_ERROR
    return (-result if base < 0.0 and is_odd(exponent) else result), DONE


@helper
def hypot(x: float64, y: float64) -> tuple[float, Code]:
    """`math.hypot(x, y)`, which is the nearest float but where it is near the middle of two.

    Those rows are left to Python, as are very small and large numbers.
    """
    if x == 0.0 and y == 0.0:
        return float64(0.0), DONE
    x, y = abs(x), abs(y)
    if not (x < 1e140 and y < 1e140 and (x > 1e-140 or y > 1e-140)):
        return float64(0.0), LEFT
    longer, shorter = (x, y) if x > y else (y, x)
    upper, rest = exact_product(longer, longer)
    other, other_rest = exact_product(shorter, shorter)
    total = upper + other
    rest = ((upper - total) + other) + (rest + other_rest)
    root = math.sqrt(total)
    product, product_rest = exact_product(root, root)
    more = (((total - product) - product_rest) + rest) / (2.0 * root)
    result = root + more
    if abs((root - result) + more) > 0.499 * last_place(result):
        return float64(0.0), LEFT
    # Below a power of two, floats stand closer.
    return result, (
        LEFT if bits_of_float(float64(result)) & _FRACTION == 0 and more != 0.0 else DONE
    )


@helper
def math_pow(base: float64, exponent: float64) -> tuple[float, Code]:
    """`math.pow(base, exponent)`; infinities and NaN are left to Python."""
    if not (abs(base) <= _LARGEST and abs(exponent) <= _LARGEST):
        return float64(0.0), LEFT
    if (base == 0.0 and exponent < 0.0) or (base < 0.0 and not is_whole(exponent)):
        return float64(0.0), VALUE_ERROR
    result = c_power(base, exponent)
    return result, (OVERFLOW_ERROR if abs(result) > _LARGEST else DONE)


@helper
def rint(value: float64) -> float:
    """`np.rint(value)`: with 2**52 added, a float has no other places than whole ones."""
    most = math.copysign(_WHOLE, value)
    return math.copysign((value + most) - most, value) if abs(value) < _WHOLE else value


@helper
def floor(value: float64) -> float:
    """`np.floor(value)`."""
    whole = rint(value)
    return whole - 1.0 if whole > value else whole


@helper
def ceil(value: float64) -> float:
    """`np.ceil(value)`."""
    return -floor(-value)


@helper
def trunc(value: float64) -> float:
    """`np.trunc(value)`."""
    return math.copysign(floor(abs(value)), value)


@helper
def modf(value: float64) -> tuple[tuple[float, float], Code]:
    """`math.modf(value)`; infinities are left to Python."""
    if abs(value) > _LARGEST:
        return (value, value), LEFT
    whole = value if not abs(value) < _WHOLE else math.copysign(float64(int64(value)), value)
    rest = value - whole
    return (rest if rest != rest else math.copysign(rest, value), whole), DONE


@helper
def is_close(
    left: float64, right: float64, rel_tol: float64, abs_tol: float64
) -> tuple[Truth, Code]:
    """`math.isclose(left, right, rel_tol=rel_tol, abs_tol=abs_tol)`."""
    if rel_tol < 0.0 or abs_tol < 0.0:
        return False, VALUE_ERROR
    if left == right:
        return True, DONE
    if abs(left) > _LARGEST or abs(right) > _LARGEST:
        return False, DONE
    apart = abs(right - left)
    near = apart <= abs(rel_tol * right) or apart <= abs(rel_tol * left)
    return near or apart <= abs_tol, DONE


# The machine's arithmetic: nothing raises, and no row is left to Python


@helper
def floor_divide_wrapping(left: int64, right: int64) -> int64:
    """`left // right` as NumPy has it: 0 of a division by zero."""
    if right == 0:
        return int64(0)
    return wrapped(-left) if right == -1 else left // right


@helper
def modulo_wrapping(left: int64, right: int64) -> int64:
    """`left % right` as NumPy has it: 0 of a division by zero."""
    return int64(0) if right == 0 or right == -1 else left % right


@helper
def divmod_wrapping(left: int64, right: int64) -> tuple[int64, int64]:
    """`divmod(left, right)` as NumPy has it."""
    return floor_divide_wrapping(left, right), modulo_wrapping(left, right)


@helper
def power_wrapping(base: int64, exponent: int64) -> tuple[int64, Code]:
    """`base ** exponent` that wraps around; a negative exponent is left to Python."""
    if exponent < 0:
        return int64(0), LEFT
    result = int64(1)
    while exponent > 0:
        if exponent & 1:
            result = wrapped(result * base)
        exponent = exponent >> 1
        base = wrapped(base * base)
    return result, DONE


@helper
def shift_left_wrapping(value: int64, places: int64) -> int64:
    """`value << places` as NumPy has it: nothing is left after 64 places."""
    return wrapped(value << places) if 0 <= places < 64 else int64(0)


@helper
def shift_right_wrapping(value: int64, places: int64) -> int64:
    """`value >> places` as NumPy has it: the sign alone is left after 64 places."""
    return value >> (places if 0 <= places < 63 else int64(63))


@helper
def quotient(left: float64, right: float64) -> float64:
    """`left / right` of IEEE 754."""
    return left / right


@helper
def lost_by_addition(total: float64, value: float64, lost: float64) -> float64:
    """`lost`, and what `total + value` loses by rounding (Neumaier's sum, as of Python 3.12)."""
    rounded = total + value
    if abs(total) >= abs(value):
        return lost + ((total - rounded) + value)
    return lost + ((value - rounded) + total)


@helper
def may_lose_nothing(
    total: float64,
    value: float64,
    known: float64,
    lost: float64,
    total_is_float: bool,
    value_is_float: bool,
) -> bool:
    """Whether Python's addition would leave `known` and not `lost`: if one of the two was an integer."""
    may_be_integer = not total_is_float and total == floor(total)
    if not value_is_float and value == floor(value):
        may_be_integer = True
    return lost != known and may_be_integer


@helper
def with_lost(total: float64, lost: float64) -> float64:
    """A sum and what its additions have lost, which may be no number or infinite."""
    # 0.0 would turn a sum of -0.0.
    return total + lost if lost != 0.0 and lost - lost == 0.0 else total


@helper
def floor_divide_loosely(left: float64, right: float64) -> float:
    """`left // right` as NumPy has it: by zero, it is the quotient."""
    return quotient(left, right) if right == 0.0 else floor_divide_floats(left, right)[0]


@helper
def modulo_loosely(left: float64, right: float64) -> float:
    """`left % right` as NumPy has it: NaN of a division by zero."""
    return float64(math.nan) if right == 0.0 else modulo_floats(left, right)[0]


@helper
def divmod_loosely(left: float64, right: float64) -> tuple[float, float]:
    """`divmod(left, right)` as NumPy has it."""
    return floor_divide_loosely(left, right), modulo_loosely(left, right)


@helper
def as_integer(value: float) -> int64:
    """A float as an integer; the least one for what is none of 64 bits, as x86 processors have it."""
    return int64(value) if -9223372036854775808.0 <= value < 9223372036854775808.0 else int64(LEAST)


@helper
def fmod_loosely(left: float64, right: float64) -> float64:
    """C's `fmod`: NaN of a division by zero, and of an infinite `left`."""
    if right == 0.0 or abs(left) > _LARGEST:
        return float64(math.nan)
    return float64(float_modulus(left, right))
