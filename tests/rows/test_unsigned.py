"""Integers from 2**63 to 2**64 - 1, as in hashes, and those of which only the lowest bits are read: against
the plain function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import colkern as ck
from colkern.kernels import number_formatting

from .bodies import run

ALL = (1 << 64) - 1
TABLE = [0xC96C5795D7870F42 * n & ALL for n in range(256)]
RANKS = {ALL: "last", 1 << 63: "half", 7: "seven"}

VALUES = [0, 1, -1, 5, 1000, 2**63 - 1, -(2**63) + 1, 0x0123456789ABCDEF, -987654321987654321]


def mixed(x: int) -> int:
    return x * 0x9E3779B97F4A7C15 & ALL


def checked(
    function: Callable[..., Any], values: Sequence[Any] = VALUES, left: int = 0, **options: Any
) -> ck.Array:
    """Check that a function gives what Python gives, and how many rows are left; returns the results."""
    compiled = ck.udf(function, **options)
    column = values if isinstance(values, ck.Array) else ck.array(list(values))
    actual = compiled(column)
    assert actual.to_pylist() == [function(value) for value in column.to_pylist()]
    assert sum(compiled.report().left.values()) == left
    return actual


# Bodies: those of numbers are in test_numbers.py.


@given(number=st.integers(0, ALL), width=st.integers(1, 8))
def test_bodies_of_texts(number: int, width: int) -> None:
    word = np.uint64(number).astype(np.int64)
    for by in ("plain", "compiled"):
        text = run(number_formatting.unsigned_of_width, word, width, by=by)
        assert text == f"{number:0{width}}"
        for bits, letter in ((1, "b"), (3, "o"), (4, "x")):
            text = run(number_formatting.text_of_bits, word, False, bits, 87, 0, 1, by=by)
            assert text == format(number, letter)


# Functions


def fnv(x: int) -> int:
    h = 0xCBF29CE484222325
    for byte in str(x).encode():
        h ^= byte
        h = h * 0x100000001B3 & ALL
    return h


def fnv_in_steps(x: int) -> int:
    mask, prime = (1 << 64) - 1, 1099511628211
    h = 14695981039346656037
    for byte in str(x).encode():
        h = h ^ byte
        h *= prime
        h &= mask
    return h


def splitmix(x: int) -> int:
    z = (x + 0x9E3779B97F4A7C15) & ALL
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
    return z ^ (z >> 31)


def rotated(x: int) -> int:
    h = x & ALL
    return ((h << 13) | (h >> 51)) & ALL


def crc(x: int) -> str:
    c = ALL
    for byte in str(x).encode():
        c = TABLE[(c ^ byte) & 0xFF] ^ (c >> 8)
    return f"{c ^ ALL:016X}"


def of_base(x: int) -> str:
    h, text = mixed(x), ""
    while h:
        h, digit = divmod(h, 36)
        text = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + text
    return text


def as_java(x: int) -> int:
    h = mixed(x)
    if h >= 2**63:
        h -= 2**64
    return h


def compared(x: int) -> str:
    h = mixed(x)
    tests = [h < x, h <= 5, h == x, h != ALL, h >= 2**63, x < h, h > -1, h in (x, 0), h in RANKS]
    return "".join("01"[test] for test in tests)


def largest(x: int) -> int:
    return max(x, mixed(x), 10)


def ranked(x: int) -> str:
    return RANKS.get(x & ALL, "other")


def smallest(x: int) -> int | None:
    best = None
    for n in range(3):
        h = mixed(x ^ n)
        if best is None or h < best:
            best = h
    return best


def in_order(x: int) -> list[int]:
    return sorted([mixed(x) >> 1, mixed(x ^ 1) >> 1, 3])


def listed(x: int) -> Any:
    hashes = [0, 0]
    for n in range(2):
        hashes[n] = mixed(x ^ n)
    return sorted({*hashes, hashes[0]})


def count_of_bits(x: int) -> int:
    h, count = mixed(x), 0
    while h:
        h &= h - 1
        count += 1
    return count * 100 + mixed(x).bit_count()


def buckets(x: int) -> int:
    h = mixed(x)
    return h % 97 + (h >> 60) + (h & 0xFF) + len("ab" * (h % 3)) + h // 2**40 + sum(range(h % 5))


FUNCTIONS = [
    *(fnv, fnv_in_steps, splitmix, rotated, crc, of_base, as_java, compared, largest, ranked),
    *(smallest, in_order, listed, count_of_bits, buckets),
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_hashes_are_computed_without_leaving_rows(function: Callable[..., Any]) -> None:
    checked(function)


def test_texts_of_unsigned_integers() -> None:
    checked(lambda x: f"{mixed(x)} {mixed(x):x} {mixed(x):>25} {mixed(x):,} {mixed(x):e}")
    checked(lambda x: "%d %x" % (mixed(x), mixed(x)) + hex(mixed(x)) + bin(mixed(x)))  # noqa: UP031
    checked(lambda x: f"{type(mixed(x)).__name__} {isinstance(mixed(x), int)} {mixed(x) / 2**64}")
    checked(lambda x: mixed(x).to_bytes(8, "little"))


def in_python(x: int) -> int:
    return eval("x + 1")


def test_the_type_of_results() -> None:
    assert checked(mixed).type == ck.uint64()
    assert checked(lambda x: mixed(x) if x > 3 else 0).type == ck.uint64()
    assert checked(lambda x: mixed(x) if x > 3 else None).type == ck.uint64()
    assert checked(lambda x: mixed(x) >> 1).type == ck.int64()
    # Where one result may be negative, all are signed.
    assert checked(lambda x: mixed(x) - 2**64 if mixed(x) >= 2**63 else mixed(x)).type == ck.int64()
    assert checked(lambda x: (x & ALL ^ 1 << 63) - 2**63).type == ck.int64()
    with pytest.raises(OverflowError, match="does not fit int64"):
        ck.udf(mixed, returns=ck.int64())(ck.array([2**62 + 1]))
    # A function that Python runs has the type that `int` stands for, whatever its values are.
    with pytest.warns(UserWarning, match="runs in Python"):
        opaque = ck.udf(in_python, fallback=True)
    assert opaque(ck.array([None], ck.int64())).type == ck.int64()


def test_columns_of_uint64_are_taken_for_int() -> None:
    numbers = ck.array([0, 7, 2**63 - 1, 2**63, ALL], ck.uint64())

    def bucket(n: int) -> int:
        return n % 10

    assert checked(bucket, numbers, left=2).type == ck.int64()
    assert checked(lambda n: n & ALL, numbers, left=2).type == ck.uint64()


def test_a_negative_integer_beside_unsigned_ones_leaves_the_row() -> None:
    checked(lambda x: str(mixed(x) | x), left=sum(x < 0 for x in VALUES))


def test_machine_arithmetic_takes_constants_of_64_bits_as_signed() -> None:
    result = ck.udf(lambda x: (x ^ 0xCBF29CE484222325) * 3, arithmetic="machine")
    wrapped = np.array([(x ^ 0xCBF29CE484222325) * 3 & ALL for x in VALUES], np.uint64)
    expected = wrapped.astype(np.int64).tolist()
    assert result(ck.array(VALUES)).to_pylist() == expected


class Mixed:
    @staticmethod
    def init() -> int:
        return 17

    @staticmethod
    def update(state: int, x: int) -> int:
        return max((state * 31 + x) & ALL, x)


def test_states_of_reducers() -> None:
    state = 17
    for x in VALUES:
        state = Mixed.update(state, x)
    assert ck.reducer(Mixed)(ck.array(VALUES)) == state


class Least:
    @staticmethod
    def init() -> int:
        return ALL

    @staticmethod
    def update(state: int, x: int) -> int:
        return min(state, x)


def test_a_state_that_no_unsigned_integer_holds() -> None:
    assert ck.reducer(Least)(ck.array([5, 1, -3, 2**62])) == -3


def test_constants_of_signed_and_unsigned_integers_are_refused() -> None:
    table = [-1, 2**63]
    with pytest.raises(ck.CompileError, match="-1 and integers from 2"):
        ck.udf(lambda x: table[x & 1])(ck.array([1]))


# Variables of which only the lowest bits are read


def masked_at_the_end(x: int) -> int:
    h = 5381
    for character in str(x) * 9:
        h = h * 33 + ord(character)
        if character == "7":
            h -= x
    return h & 0xFFFFFFFF


def masked_and_read_on(x: int) -> int:
    a = x * 31
    a = a * a - (a << 7)
    a = a % 2**24
    return a * 2


def masked_in_a_constant(x: int) -> int:
    size = 2**32
    h = x
    for _ in range(12):
        h ^= 0x55
        h *= 16777619
    return -h % size


LOW = [masked_at_the_end, masked_and_read_on, masked_in_a_constant]


@pytest.mark.parametrize("function", LOW, ids=lambda function: function.__name__)
def test_low_bits_suffice(function: Callable[..., Any]) -> None:
    checked(function)


def test_other_bits_of_a_variable_are_read() -> None:
    def divided(x: int) -> int:
        h = x
        for _ in range(3):
            h = h * 1_000_003
        return (h // 7) & 0xFF

    def by_a_branch(x: int) -> int:
        h = x * x
        return h & 3 if h > 5 else h & 7

    def by_another_variable(x: int) -> int:
        h = x * x
        other = h
        return (h & 7) + other % 11

    large = [2**40, 3, -(2**50)]
    for function in (divided, by_a_branch, by_another_variable):
        checked(function, large, left=2)


def test_what_changes_in_place_keeps_its_other_names() -> None:
    def length(x: int) -> int:
        items = [1]
        other = items
        items += [x & 3]
        return len(other)

    def kept(x: int) -> list[int]:
        items, allowed = {1, x}, {2, 7}
        other = items
        items |= {7}
        items &= allowed
        return sorted(other)

    for function in (length, kept):
        checked(function)


def test_a_handler_sees_what_was_assigned_before() -> None:
    def divided(x: int) -> int:
        h = x
        try:
            h += 5
            h %= x & 1
        except ZeroDivisionError:
            h *= 2
        return h

    checked(divided, [2, 4, 6])


def test_parameters_of_functions_within_hide_globals() -> None:
    def hidden(x: int) -> str:
        h = x * x

        def masked(ALL: int) -> int:
            return h & ALL

        return str(masked(-1)) + str(h & 1)

    checked(hidden, [3, 2**40], left=1)


def test_floats_beside_integers_have_all_bits() -> None:
    def with_half(x: int) -> float:
        return ((x << 30) + 0.5) % 1

    def in_a_variable(x: int) -> float:
        h: float = x * 3
        h = h + 0.5
        return h % 2

    def in_a_branch(x: int) -> float:
        h: float = x * 3
        if x < 0:
            h = h * 0.5
        return h % 4

    for function in (with_half, in_a_variable, in_a_branch):
        checked(function, [1, -5, 7])
    checked(with_half, [2**40], left=1)
    checked(lambda x: x % 2.0**64, [5, -1, 2**40])


def test_a_negative_count_raises_as_in_python() -> None:
    def shifted(x: int) -> int:
        try:
            return (1 << x) & ALL
        except ValueError:
            return 2**63

    checked(shifted, [0, 63, 64, 70, -1])
