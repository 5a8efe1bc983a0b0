"""Loops spelled out for the CUDA compilers: they go over the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy import uint64

from colkern.cuda.loops import with_plain_loops


def by_one(count):
    results = []
    for i in range(count):
        results.append(int(i))
    return results


def by_step(start, stop, step):
    results = []
    for i in range(start, stop, step):
        if i % uint64(7) == 3:
            continue
        if i > 900:
            break
        for j in range(i, min(i + uint64(2), uint64(stop))):
            results.append((int(i), int(j)))
    return results


def spelled_out(function: Any) -> Any:
    return with_plain_loops(function, {"uint64": uint64})


numbers = st.integers(0, 1000).map(uint64)


@given(numbers)
def test_up_to_a_count(count: Any) -> None:
    assert spelled_out(by_one)(count) == by_one(count)


@given(numbers, numbers, st.integers(1, 300).map(uint64))
def test_by_a_step(start: Any, stop: Any, step: Any) -> None:
    plain = by_step(start, stop, step)
    assert spelled_out(by_step)(start, stop, step) == plain


def is_valid(validity, i):
    return bool(validity[i])


def first_large(start, stop, step, values, validity):
    for i in range(start, stop, step):
        number = int(values[i])
        if number > 90 and is_valid(validity, i):
            return int(i)
    return -1


def first_small(start, stop, step, values, validity):
    for i in range(start, stop, step):
        if values[i] < 5:
            return int(i)
    return -1


@pytest.mark.parametrize("search", [first_large, first_small])
@given(st.data())
def test_a_search_finds_the_same(search: Any, data: Any) -> None:
    values = data.draw(st.lists(st.integers(0, 100), max_size=60))
    validity = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    start, step = (uint64(data.draw(st.integers(0, 3))), uint64(data.draw(st.integers(1, 4))))
    args = (start, uint64(len(values)), step, values, validity)
    actual = with_plain_loops(search, {"uint64": uint64, "is_valid": is_valid})
    assert actual(*args) == search(*args)


def test_a_search_looks_at_eight_slots_before_it_asks() -> None:
    asked = []

    def noted(validity, i):
        asked.append(int(i))
        return False

    actual = with_plain_loops(first_large, {"uint64": uint64, "is_valid": noted})
    values = [0] * 16 + [99] + [0] * 7
    assert actual(uint64(0), uint64(24), uint64(1), values, values) == -1
    assert asked == [16]


def test_numbers_are_unsigned() -> None:
    def kinds(stop):
        results = []
        for i in range(stop):
            results.append(type(i))
        return results

    assert spelled_out(kinds)(3) == [np.uint64] * 3


MOST = 2**64 - 1


def large_numbers(word):
    return [word ^ uint64(MOST), word & 0x8000_0000_0000_0001, word | HIGH]


HIGH = uint64(2**63)


def test_large_numbers_are_complements() -> None:
    actual = with_plain_loops(large_numbers, {"uint64": uint64, "MOST": MOST, "HIGH": HIGH})
    assert not [c for c in actual.__code__.co_consts if isinstance(c, int) and c >= 2**63]
    for word in (0, 1, 2**63, MOST):
        assert actual(uint64(word)) == large_numbers(uint64(word))


def test_an_error_is_in_the_line_of_the_body() -> None:
    actual = spelled_out(by_step)
    assert actual.__code__.co_filename == __file__
    assert actual.__code__.co_firstlineno == by_step.__code__.co_firstlineno


def over_items(items):
    for _ in items:
        pass


def downwards(start):
    for _ in range(start, 0, -1):
        pass


@pytest.mark.parametrize("body", [over_items, downwards])
def test_other_loops_are_refused(body: Any) -> None:
    line = body.__code__.co_firstlineno + 1
    with pytest.raises(TypeError, match=f"{body.__name__}, line {line}: a body's loop is"):
        with_plain_loops(body, {})
