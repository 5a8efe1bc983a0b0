"""Decimals in users' kernels and loops: words of 64 bits, and a scale that the kind knows.

Results of `+`, `-` and `*` have 128 bits at least, and 256 where an operand has. A result that
does not fit raises OverflowError in loops, and in kernels that check indices; other kernels keep its
lowest words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from colkern import schema as s
from colkern.jit.device.emitter import Emitter, Value, integer, items
from colkern.jit.device.kinds import (
    BOOL,
    INTEGER,
    PLAIN,
    UNSIGNED,
    Decimal,
    Number,
    Record,
    is_plain,
)
from colkern.kernels import decimal_words, decimals
from colkern.rows.methods import COMPARISONS

_WORD = 64
_FACTOR_DIGITS = 18
"""The digits of the largest power of ten below 2**63."""
_DIVISOR_DIGITS = 9
"""As many digits have a power of ten below 2**31."""


# Words


def _number(e: Emitter, value: Value) -> tuple[list[str], int]:
    """The words of a decimal or an integer, and its scale."""
    if isinstance(value.kind, Decimal):
        return list(value.parts), value.kind.scale
    if not is_plain(value.kind):
        raise e.failure(f"a decimal meets {value.kind.words}")
    if value.kind == Number("f4") or value.kind == Number("f8"):
        raise e.failure("a decimal meets a float; float(d) makes one of it")
    return words_of_integer(e, value), 0


def words_of_integer(e: Emitter, value: Value) -> list[str]:
    """The words of an integer: two words if it is unsigned, or may be."""
    if value.kind == UNSIGNED:
        return [value.parts[0], "_ck_zero"]
    number = e.bind(value.parts[0]) if value.kind == PLAIN else value.parts[0]
    word = e.bind(f"_ck_u8(_ck_i8({number}))")
    if value.kind != PLAIN:
        return [word]
    return [word, e.bind(f"~_ck_zero if {number} < 0 else _ck_zero")]


def _widened(e: Emitter, words: Sequence[str], count: int) -> list[str]:
    if len(words) >= count:
        return list(words)
    filling = e.bind(e.call(decimal_words.filling, words[-1]))
    return [*words, *[filling] * (count - len(words))]


def _times_power(e: Emitter, words: Sequence[str], power: int) -> list[str]:
    """A number times ten to a power, in as many words."""
    product = list(words)
    while power > 0:
        digits = min(power, _FACTOR_DIGITS)
        carry = "_ck_zero"
        for k, word in enumerate(product):
            call = e.call(decimals.times, word, f"_ck_u8({10**digits})", carry)
            product[k], carry = e.bind_each(call, 2)
        power -= digits
    return product


def _count_for(words: int, power: int, spare: int = 0) -> int:
    """The largest number of words after multiplication by ten to a power."""
    return (
        -(-(words * _WORD + (10**power).bit_length() + spare) // _WORD) if power or spare else words
    )


def _narrowed(e: Emitter, words: Sequence[str], count: int) -> tuple[str, ...]:
    if len(words) <= count:
        return tuple(_widened(e, words, count))
    if e.program.checks_values:
        filling = e.bind(e.call(decimal_words.filling, words[count - 1]))
        fits = " and ".join(f"{word} == {filling}" for word in words[count:])
        e.check(f"({fits})", OverflowError, f"a decimal does not fit {count * _WORD} bits")
    return tuple(words[:count])


def at_scale(e: Emitter, value: Value, kind: Decimal) -> tuple[str, ...]:
    """The words of a decimal or an integer at a scale that is not smaller."""
    words, scale = _number(e, value)
    power = kind.scale - scale
    wide = _widened(e, words, max(_count_for(len(words), power), len(words)))
    return _narrowed(e, _times_power(e, wide, power), kind.count)


def _aligned(e: Emitter, left: Value, right: Value, spare: int) -> tuple[list[str], list[str], int]:
    """Two numbers at the larger scale, in as many words as both need; and that scale."""
    numbers = [_number(e, value) for value in (left, right)]
    scale = max(s for _, s in numbers)
    count = max(_count_for(len(words), scale - s, spare) for words, s in numbers)
    one, other = (_times_power(e, _widened(e, words, count), scale - s) for words, s in numbers)
    return one, other, scale


def _magnitude(e: Emitter, words: Sequence[str]) -> tuple[list[str], str]:
    """The words of the absolute value, and all bits if the number is negative."""
    filling = e.bind(e.call(decimal_words.filling, words[-1]))
    return _turned(e, words, filling), filling


def _turned(e: Emitter, words: Sequence[str], filling: str) -> list[str]:
    """A number, negated if `filling` is all bits, and the same if it is 0."""
    result, carry = [], f"({filling} & _ck_one)"
    for word in words:
        call = e.call(decimal_words.sum_with_carry, f"({word} ^ {filling})", "_ck_zero", carry)
        low, carry = e.bind_each(call, 2)
        result.append(low)
    return result


def _divided(e: Emitter, words: Sequence[str], power: int) -> tuple[list[str], str]:
    """A number divided by ten to a power, towards zero; and the code of whether there is no remainder."""
    quotient, filling = _magnitude(e, words)
    rests = []
    while power > 0:
        digits = min(power, _DIVISOR_DIGITS)
        rest = "_ck_zero"
        for k in range(len(quotient) - 1, -1, -1):
            call = e.call(decimal_words.divided, rest, quotient[k], f"_ck_u8({10**digits})")
            quotient[k], rest = e.bind_each(call, 2)
        rests.append(rest)
        power -= digits
    exact = f"({' | '.join(rests)}) == _ck_zero" if rests else "True"
    return _turned(e, quotient, filling), exact


# Items of columns


def stored(e: Emitter, value: Value, storage: s.Decimal) -> tuple[str, ...]:
    """The words of a decimal, an integer or a tuple of words as the items of a type."""
    kind = Decimal(max(storage.bit_width // _WORD, 1), storage.scale)
    if isinstance(value.kind, Record):
        return tuple(e.bind(_word(item)) for item in items(value))
    if isinstance(value.kind, Decimal):
        return tuple(map(e.bind, at_scale(e, value, kind)))
    if value.kind == PLAIN:
        value = Value(PLAIN, (e.bind(_whole_number(value)),))
    return tuple(map(e.bind, at_scale(e, value, Decimal(kind.count, 0))))


def _whole_number(value: Value) -> str:
    # An operation that floats do not have: they are no integers for a compiler to round.
    return f"{value.parts[0]} | {value.parts[0]}"


def _word(value: Value) -> str:
    number = integer(value)
    return f"_ck_u8(_ck_i8({_whole_number(value)}))" if number is None else unsigned(number)


def signed(number: int) -> str:
    """The code of an int64."""
    return f"_ck_i8({number})" if number >= 0 else f"~_ck_i8({~number})"


def unsigned(number: int) -> str:
    """The code of the lowest 64 bits of an integer, as a uint64."""
    number %= 1 << 64
    return f"_ck_u8({number})" if number < 1 << 63 else f"~_ck_u8({(1 << 64) - 1 - number})"


def is_within(e: Emitter, words: Sequence[str], storage: s.Decimal) -> Value:
    """Whether a number has no more digits than a type."""
    number = Value(Decimal(len(words), 0), tuple(words))
    tests = []
    for sign, bound in ((">=", 1 - 10**storage.precision), ("<=", 10**storage.precision - 1)):
        limit = tuple(unsigned(bound >> _WORD * k) for k in range(len(words)))
        tests.append(_compared(sign, e, number, Value(number.kind, limit)).parts[0])
    return Value(BOOL, (e.bind(" and ".join(tests)),))


# Operations


def _compared(sign: str, e: Emitter, left: Value, right: Value) -> Value:
    """`left sign right`."""
    one, other, _ = _aligned(e, left, right, 0)
    if sign in ("==", "!="):
        equal = " and ".join(f"{a} == {b}" for a, b in zip(one, other, strict=True))
        return Value(BOOL, (f"({equal})" if sign == "==" else f"(not ({equal}))",))
    if sign in (">", "<="):
        one, other = other, one
    below = "False"
    for k, (a, b) in enumerate(zip(one, other, strict=True)):
        if k == len(one) - 1:
            # With the sign bit flipped, words are in the order of the numbers.
            a, b = (e.bind(f"{word} ^ _ck_sign") for word in (a, b))
        below = e.bind(e.call(decimal_words.is_less, a, b, below))
    return Value(BOOL, (below if sign in ("<", ">") else f"(not {below})",))


def _count_of(*values: Value) -> int:
    """The number of words of a result."""
    return max(2, *(v.kind.count for v in values if isinstance(v.kind, Decimal)))


def _sum(sign: str, e: Emitter, left: Value, right: Value) -> Value:
    """`left sign right`, of `+` and `-`."""
    count = _count_of(left, right)
    one, other, scale = _aligned(e, left, right, 1)
    if sign == "-":
        other = _turned(e, other, "~_ck_zero")
    result, carry = [], "_ck_zero"
    for a, b in zip(one, other, strict=True):
        low, carry = e.bind_each(e.call(decimal_words.sum_with_carry, a, b, carry), 2)
        result.append(low)
    return Value(Decimal(count, scale), _narrowed(e, result, count))


def _product(e: Emitter, left: Value, right: Value) -> Value:
    """`left * right`."""
    (one, scale), (other, more) = (_number(e, value) for value in (left, right))
    words = e.product(one, other) or _product_of_words(e, one, other)
    count = _count_of(left, right)
    return Value(Decimal(count, scale + more), _narrowed(e, words, count))


def _product_of_words(e: Emitter, one: Sequence[str], other: Sequence[str]) -> list[str]:
    """The product of magnitudes, word by word, negated afterwards if one of the signs is negative."""
    (one, first), (other, second) = (_magnitude(e, words) for words in (one, other))
    product = ["_ck_zero"] * (len(one) + len(other))
    for i, a in enumerate(one):
        carry = "_ck_zero"
        for j, b in enumerate(other):
            low, high = e.bind_each(e.call(decimals.times, a, b, carry), 2)
            call = e.call(decimal_words.product_with_carry, low, high, product[i + j])
            product[i + j], carry = e.bind_each(call, 2)
        product[i + len(other)] = carry
    return _turned(e, product, e.bind(f"{first} ^ {second}"))


def _negated(e: Emitter, value: Value) -> Value:
    """`-value`."""
    words, scale = _number(e, value)
    count = _count_of(value)
    negative = _turned(e, _widened(e, words, len(words) + 1), "~_ck_zero")
    return Value(Decimal(count, scale), _narrowed(e, negative, count))


def _absolute(e: Emitter, value: Value) -> Value:
    """`abs(value)`."""
    words, scale = _number(e, value)
    count = _count_of(value)
    magnitude, _ = _magnitude(e, _widened(e, words, len(words) + 1))
    return Value(Decimal(count, scale), _narrowed(e, magnitude, count))


def _is_true(e: Emitter, value: Value) -> Value:
    """`bool(value)`."""
    return Value(BOOL, (f"(({' | '.join(value.parts)}) != _ck_zero)",))


def _as_float(e: Emitter, value: Value) -> Value:
    """`float(value)`."""
    words, scale = _number(e, value)
    magnitude, filling = _magnitude(e, words)
    four = [*magnitude, *["_ck_zero"] * (4 - len(magnitude))]
    up, down = max(-scale, 0), max(scale, 0)
    nearest = e.call(decimal_words.nearest_float, *four, str(down), repr(float(10**down)))
    total = e.bind(f"{nearest} * {float(10**up)!r}")
    return Value(Number("f8"), (e.bind(f"-{total} if {filling} != _ck_zero else {total}"),))


def _whole(e: Emitter, value: Value) -> Value:
    """`int(value)`, an int64."""
    words, scale = _number(e, value)
    if scale > 0:
        words, _ = _divided(e, words, scale)
    else:
        wide = _widened(e, words, _count_for(len(words), -scale))
        words = _times_power(e, wide, -scale)
    (word,) = _narrowed(e, words, 1)
    return Value(PLAIN, (e.bind(f"_ck_i8({word})"),))


OF_ONE: dict[str, Callable[[Emitter, Value], Value]] = {
    "neg": _negated,
    "abs": _absolute,
    "bool": _is_true,
    "float": _as_float,
    "int": _whole,
}
"""The operations of a decimal in kernels and loops, by their names in the table of methods."""

OF_TWO: dict[str, Callable[[Emitter, Value, Value], Value]] = {
    **{sign: partial(_compared, sign) for sign in COMPARISONS},
    **{sign: partial(_sum, sign) for sign in ("+", "-")},
    "*": _product,
}
"""Those of a decimal and another, or an integer."""


def operation(e: Emitter, name: str, values: Sequence[Value]) -> Value:
    """The result of an operation of the table of methods on a decimal, or on two numbers."""
    operations: dict[str, Callable[..., Value]] = OF_ONE if len(values) == 1 else OF_TWO
    if name not in operations or len(values) > 2:
        raise e.failure("decimals have +, - and * in a kernel; float(d) for other operations")
    return operations[name](e, *values)


def attribute(e: Emitter, value: Value, name: str) -> Value:
    """`value.scale`, `value.words`."""
    words, scale = _number(e, value)
    if name == "scale":
        return Value(INTEGER, (str(scale),))
    if name == "words":
        return Value(Record((Number("u8"),) * len(words)), tuple(words))
    raise e.failure(f"a decimal has no {name!r} in a kernel")


def method(e: Emitter, value: Value, name: str, arguments: Sequence[Value]) -> Value:
    """`value.rescale(scale)`."""
    if name != "rescale" or len(arguments) != 1:
        raise e.failure(f"a decimal has no {name!r} in a kernel")
    wanted = integer(arguments[0])
    if wanted is None:
        raise e.failure("rescale: the scale must be a literal, as it is part of the kind")
    words, scale = _number(e, value)
    if wanted >= scale:
        kind = Decimal(max(len(words), 2) if wanted > scale else len(words), wanted)
        return Value(kind, at_scale(e, value, kind))
    quotient, exact = _divided(e, words, scale - wanted)
    e.check(exact, ValueError, f"digits behind a scale of {wanted} would be lost")
    return Value(Decimal(len(words), wanted), tuple(quotient))
