"""uint64 arguments in machine arithmetic: as in NumPy, a literal that is not negative is a uint64, too.

The oracle is Python, whose integers have all the bits there are, taken to 64 of them at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import colkern as ck
from colkern.jit import udf

EDGES = [0, 1, 7, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1]


def arithmetic(x: Any) -> Any:
    y = x // 10 + 1
    y *= 3
    return (y | 1) ^ (x % 1000 & 0xFF)


def digits(x: Any) -> Any:
    total = 0
    while x != 0:
        total += x % 10
        x //= 10
    return total


def ones(x: Any) -> Any:
    count = 0
    while x != 0:
        x = x & (x - 1)
        count += 1
    return count


def chosen(x: Any) -> Any:
    if x == 1:
        return None
    small = 5 if x < 7 else x
    return 0 if small == 7 else small


def clipped(x: Any) -> Any:
    return min(max(x, 3), 2**63 + 1)


FUNCTIONS = (arithmetic, digits, ones, chosen, clipped)
COMPILED = {function: udf(function, arithmetic="machine") for function in FUNCTIONS}


@pytest.mark.parametrize("function", FUNCTIONS)
@given(values=st.lists(st.sampled_from(EDGES) | st.integers(0, 2**64 - 1), min_size=1))
def test_all_values_are_computed_with_all_bits(
    function: Callable[..., Any], values: list[int]
) -> None:
    found = COMPILED[function](ck.array(values, ck.uint64()))
    assert found.to_pylist() == [function(value) for value in values]
    # What is counted from 0 by ones never meets the argument.
    assert found.type == (ck.int64() if function is ones else ck.uint64())


def test_a_literal_that_is_negative_or_elsewhere_keeps_its_sign() -> None:
    @udf(arithmetic="machine")
    def mixed(x):
        step = 1
        return step - 5 if x + step > 1 else np.int64(x) + -1

    assert mixed(ck.array([1, 0], ck.uint64())).to_pylist() == [-4, -1]
    assert mixed.result_type(ck.uint64()) == ck.int64()


def added_in_a_loop(x: Any) -> Any:
    for i in range(3):
        x = x + i
    return x


def negative_for_zero(x: Any) -> Any:
    return x if x else -1


@pytest.mark.parametrize("function", [added_in_a_loop, negative_for_zero])
def test_a_signed_number_beside_a_uint64_is_refused_with_its_line(
    function: Callable[..., Any],
) -> None:
    with pytest.raises(ck.CompileError, match="a uint64 meets a signed integer") as caught:
        udf(function, arithmetic="machine")(ck.array(EDGES, ck.uint64()))
    line = "x = x + i" if function is added_in_a_loop else "return x if x else -1"
    assert line in str(caught.value)


def test_without_machine_arithmetic_they_are_pythons_integers() -> None:
    """What compiled code does not hold is left to Python: no loop runs over other bits."""
    counted = udf(digits)
    assert counted(ck.array(EDGES, ck.uint64())).to_pylist() == [digits(x) for x in EDGES]
    assert sum(counted.report().left.values()) == sum(x >= 2**63 for x in EDGES)
    same = udf(lambda x: x, signature="(uint64) -> uint64")
    assert same(ck.array(EDGES, ck.uint64())).to_pylist() == EDGES


def test_with_floats_both_are_floats() -> None:
    mean = udf(lambda x, i: (x * 0.5 + i) / 2)
    assert mean(ck.array([10], ck.uint64()), ck.array([-1])).to_pylist() == [2.0]
