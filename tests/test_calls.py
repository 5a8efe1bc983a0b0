"""The calls of Python functions that an operation over few values makes: what its microseconds go to."""

from __future__ import annotations

import datetime as dt
import gc
import json
import subprocess
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

import colkern as ck

INTEGERS = ck.array([*range(10)], ck.int64())
FLOATS = ck.array([None, *map(float, range(9))], ck.float64())
WHOLE = ck.array([*map(float, range(10))], ck.float64())
MASK = ck.array([True, False] * 5)
FLAGS = ck.array([True, None] * 5)
NOW = dt.datetime(2024, 5, 1, 12)
TIMES = ck.array([NOW] * 10)
POSITIONS = ck.array([3, 1, 2], ck.int64())
RUNS = ck.run_end_encode(INTEGERS)


@ck.udf
def weighted(a: int, b: int) -> int:
    return a + 2 * b


MOST: list[tuple[int, str, Callable[[], Any]]] = [
    (2, "slice", lambda: INTEGERS.slice(2, 5)),
    (9, "sum of integers", lambda: ck.sum(INTEGERS)),
    (10, "sum of floats", lambda: ck.sum(FLOATS)),
    (12, "min", lambda: ck.min(INTEGERS)),
    (13, "add", lambda: ck.add(INTEGERS, INTEGERS)),
    (59, "add, of runs", lambda: ck.add(RUNS, RUNS)),
    (15, "add, of a number", lambda: ck.add(INTEGERS, 2)),
    (16, "add, with nulls", lambda: ck.add(FLOATS, WHOLE)),
    (17, "greater, with nulls", lambda: ck.greater(WHOLE, FLOATS)),
    (17, "+", lambda: INTEGERS + INTEGERS),
    (22, "> of a number", lambda: INTEGERS > 2),
    (31, "round", lambda: ck.round(WHOLE)),
    (26, "is_nan", lambda: ck.is_nan(WHOLE)),
    (13, "negate", lambda: ck.negate(WHOLE)),
    (46, "max_element_wise", lambda: ck.max_element_wise(INTEGERS, INTEGERS)),
    (24, "> of a time", lambda: TIMES > NOW),
    (16, "difference of times", lambda: ck.subtract(TIMES, TIMES)),
    (43, "fill_null of booleans", lambda: ck.fill_null(FLAGS, True)),
    (44, "fill_null", lambda: ck.fill_null(FLOATS, 0.0)),
    (14, "equal", lambda: ck.equal(INTEGERS, INTEGERS)),
    (10, "and", lambda: ck.and_(MASK, MASK)),
    (22, "concat", lambda: ck.concat([INTEGERS, INTEGERS])),
    (16, "take", lambda: ck.take(INTEGERS, POSITIONS)),
    (51, "take, of runs", lambda: ck.take(RUNS, POSITIONS)),
    (18, "filter", lambda: ck.filter(INTEGERS, MASK)),
    (17, "if_else", lambda: ck.if_else(MASK, INTEGERS, INTEGERS)),
    (8, "invert", lambda: ck.invert(MASK)),
    (24, "cast", lambda: ck.cast(INTEGERS, ck.float64())),
    (22, "quantile", lambda: ck.quantile(WHOLE, 0.5)),
    (30, "sort_indices", lambda: ck.sort_indices(INTEGERS)),
    (51, "dictionary_encode", lambda: ck.dictionary_encode(INTEGERS)),
    (17, "a row function", lambda: weighted(INTEGERS, INTEGERS)),
]


@pytest.fixture(scope="module")
def calls() -> dict[str, int]:
    """The calls of each, counted in a process of their own: other tests leave their marks on plans."""
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, check=True)
    counts: dict[str, int] = json.loads(done.stdout)
    return counts


@pytest.mark.parametrize(("most", "name"), [(most, name) for most, name, _ in MOST])
def test_a_call_over_ten_values_makes_few_calls(
    most: int, name: str, calls: dict[str, int]
) -> None:
    assert calls[name] <= most


def python_calls(work: Callable[[], Any]) -> int:
    """The number of Python functions called below `work`, but for those of the tests' own checks."""
    names: list[str] = []

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and "tests" not in frame.f_code.co_filename:
            names.append(frame.f_code.co_name)

    before = sys.getprofile()
    gc.disable()  # callbacks of other packages run when garbage is collected, and would count
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
        gc.enable()
    return len(names) - names.count("require_types")


def count_all() -> dict[str, int]:
    """The calls of each, by name, once its plans are there."""
    counts = {}
    for _, name, call in MOST:
        call(), call()
        # The fewest: now and then a call takes a further block of memory.
        counts[name] = min(python_calls(call) for _ in range(3))
    return counts


if __name__ == "__main__":
    print(json.dumps(count_all()))
