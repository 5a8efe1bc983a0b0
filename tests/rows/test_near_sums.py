"""Sums in a state whose checks do not look at it: exact for all numbers, and there where they may be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import colkern as ck
from colkern.rows.loop import BLOCK
from colkern.rows.near_sums import FACTOR, REACH, STATE, near_sums

PRIME = 1_000_000_007


class Total:
    def init():
        return STATE - 1

    def update(state, x: int):
        return state + x

    def finish(state):
        return state % PRIME


class Pair:
    def init():
        return 0, 1 - STATE, 0.0

    def update(state, x: int):
        down, up, last = state
        if x % 3 == 0:
            return down - x, up + 1, last
        if x > 0:
            up = up + x
        return down - 1, up - x, x * 0.5

    def finish(state):
        return state[0] % PRIME, state[1] % PRIME, state[2]


class Swapped:
    def init():
        return 5, STATE - 1

    def update(state, x: int):
        return state[1] + x, state[0] - x + 1

    def finish(state):
        return state[0] % PRIME, state[1] % PRIME


class Latest:
    """Its first number may be any, so that no sum is near to it."""

    def init():
        return 0, 0

    def update(state, x: int):
        return x, state[0] + state[1]

    def finish(state):
        return state[0] % PRIME, state[1] % PRIME


class Products:
    def init():
        return 0, 0

    def update(state, x: int):
        small = x % 4096
        return state[0] - small * small, small * small + x

    def finish(state):
        return state[0] % PRIME, state[1] % PRIME


@pytest.mark.parametrize("of", [Total, Pair, Swapped, Latest, Products])
@pytest.mark.parametrize("most", [3, FACTOR // 2, REACH // 2, REACH * 2, STATE, 2**63 - 1])
def test_blocks_give_what_python_gives(of: Any, most: int) -> None:
    values = np.random.default_rng(most % 97).integers(-most, most, 2 * BLOCK + 7)
    # All of one sign, the state leaves what is near.
    values[::2] = abs(values[::2] // 2)
    values[-1] = 2**63 - 2
    state = of.init()
    for value in values.tolist():
        state = of.update(state, value)
    expected = of.finish(state)
    actual = ck.reducer(of)(ck.array(values))
    assert (tuple(actual.values()) if isinstance(actual, dict) else actual) == expected


LINES = """\
def f(arena, pool, s_0, s_1, x_0):
    bad = 0
    bad = max(bad, 65281 if sum_overflows(s_0, x_0) else 0)
    t_1 = s_0 + x_0
    {more}
    return bad, {returned}
"""


@pytest.mark.parametrize(
    ("more", "returned", "near"),
    [
        ("pass", "t_1, s_1", ["s_0", "s_1"]),
        ("pass", "t_1, 7", ["s_0", "s_1"]),
        ("pass", "s_1, t_1", ["s_0", "s_1"]),
        ("pass", "t_1, x_0", ["s_0"]),
        ("pass", "x_0, t_1", None),
        ("t_1 = t_1 * 2", "t_1, s_1", None),
        ("t_1 = t_1 + x_0", "t_1, s_1", None),
        ("if x_0 > 5:\n        t_1 = x_0", "t_1, s_1", None),
        ("if x_0 > 5:\n        t_1 = s_1", "t_1, s_1", ["s_0", "s_1"]),
        ("if x_0 > 5:\n        return 65280, 0, x_0", "t_1, s_1", ["s_0"]),
        ("while x_0 > 5:\n        x_0 = x_0 - 1", "t_1, s_1", None),
    ],
)
def test_only_numbers_that_grow_by_steps_are_near(
    more: str, returned: str, near: list[str] | None
) -> None:
    actual = near_sums(LINES.format(more=more, returned=returned), "g", ["s_0", "s_1"])
    assert (actual and actual[1]) == near
    assert actual is None or "sum_overflows" not in actual[0]


def _product(a: int, b: int) -> int:
    return a * b % PRIME


def test_products_are_exact_where_64_bits_end() -> None:
    firsts = [3, 7, 2**31 - 1, 2**31, 3_037_000_499, 3_037_000_500, 2**40 + 1, 2**62, -(2**63)]
    pairs = [
        (a, b + near) for a in firsts for b in (2**63 // a, -(2**63) // a) for near in range(-2, 3)
    ]
    inside = [(a, b) for a, b in pairs if -(2**63) <= b < 2**63]
    columns = [ck.array(list(column), type=ck.int64()) for column in zip(*inside, strict=True)]
    compiled = ck.udf(_product)
    assert compiled(*columns).to_pylist() == [_product(a, b) for a, b in inside]
    beyond = [(a, b) for a, b in inside if not -(2**63) <= a * b < 2**63]
    assert sum(compiled.report().left.values()) == len(beyond)


def _rounded_product(a: int, b: int) -> int:
    return math.ceil(a * b / 5) * 5


def test_other_checks_stand_beside_those_of_products() -> None:
    firsts, seconds = [2**31, 3, -7, 2**62], [2**29, 5, 2**40, 3]
    columns = [ck.array(firsts), ck.array(seconds)]
    expected = [_rounded_product(a, b) for a, b in zip(firsts[:3], seconds, strict=False)]
    compiled = ck.udf(_rounded_product)
    assert compiled(*(column.slice(0, 3) for column in columns)).to_pylist() == expected
    with pytest.raises(OverflowError):
        compiled(*columns)
