"""`njit`: Numba's decorator to those who use it, with compiled code that other processes find."""

from __future__ import annotations

import pickle
import sys
from typing import Any

import numba
import numpy as np
import pytest

import colkern as ck
from colkern.cache import compilations
from colkern.jit import njit


def scaled(x):
    return x * SCALE + late(x)


SCALE = 3


@njit
def total(items, start=0):
    """The sum of scaled items."""
    for item in items:
        start += scaled(item)
    return start


def late(x):
    return x + 1


@njit(nogil=True, fastmath=True)
def doubled(items):
    return 2 * total(items)


@numba.njit
def of_numbas(items):
    return doubled(items) + total(items, 1)


ITEMS = np.array([1, 2])
TOTAL = (3 * 1 + 1 + 1) + (3 * 2 + 2 + 1)


def test_it_is_exported_late() -> None:
    assert ck.njit is njit


def test_functions_call_plain_functions_and_each_other_and_numba_calls_them() -> None:
    assert total(ITEMS) == total.py_func(ITEMS) == TOTAL
    assert doubled(ITEMS) == 2 * TOTAL
    assert of_numbas(ITEMS) == 3 * TOTAL + 1
    assert doubled.targetoptions["nogil"] is True
    assert isinstance(total, type(of_numbas))


def test_it_keeps_the_functions_name_and_text() -> None:
    assert total.__name__ == "total"
    assert total.__doc__ == "The sum of scaled items."
    assert total.__module__ == __name__


def test_a_udf_calls_it() -> None:
    @ck.udf
    def row(x: int) -> int:
        return power(x, 2)

    assert row(ck.array([3, None])).to_pylist() == [9, None]


def test_it_calls_the_function_of_a_udf() -> None:
    @ck.udf
    def increased(x: int) -> int:
        return x + 1

    assert njit(lambda x: increased(x) * 2)(4) == 10


@njit
def power(x, n):
    return 1 if n == 0 else x * power(x, n - 1)


def test_signatures_compile_at_once_and_alone() -> None:
    before = compilations()

    @njit(["int64(int64)"])
    def factorial(n):
        return 1 if n < 2 else n * factorial(n - 1)

    @njit("float64(float64)")
    def half(x):
        return x / 2

    after = compilations()
    assert sum(after[how] - before[how] for how in ("compiled", "loaded")) >= 2
    assert factorial(5) == 120
    assert half(3) == 1.5
    with pytest.raises(TypeError, match="No matching definition"):
        half("text")


RATE = 1


@numba.njit
def rated(x):
    return x * RATE


def test_functions_of_numbas_are_compiled_with_globals_as_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Else what Numba compiled before is stored as the code of what there is now.
    assert rated(10) == 10
    monkeypatch.setattr(sys.modules[__name__], "RATE", 2)
    assert njit(lambda x: rated(x) + 1)(10) == 21


def test_options_mean_what_they_mean_to_numba() -> None:
    def quotient(a, b):
        return a / b

    with pytest.raises(ZeroDivisionError):
        njit(quotient)(1.0, 0.0)
    assert njit(error_model="numpy")(quotient)(1.0, 0.0) == np.inf


def test_a_checked_environment_checks_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CK_CHECKED", "1")

    @njit
    def at(items, i):
        return items[i]

    with pytest.raises(IndexError):
        at(ITEMS, 7)


def test_globals_are_those_of_the_time_of_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    # As in Numba: what was compiled stays, other types are compiled with what is there now.
    @njit
    def local(x):
        return x * SCALE

    assert local(2) == 6
    monkeypatch.setitem(globals(), "SCALE", 5)
    assert local(2) == 6
    assert local(2.0) == 10.0


def test_closures_of_one_function_are_told_apart() -> None:
    def make(step: Any) -> Any:
        return njit(lambda x: x + step)

    assert [make(step)(1) for step in (1, 2)] == [2, 3]


def test_numbers_are_not_compared_with_text() -> None:
    with pytest.raises(numba.TypingError, match="compared with text"):
        njit(lambda x: x == "1")(1)


def test_without_numbas_compiler_it_is_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.core.config.DISABLE_JIT", 1)
    assert njit(late) is late


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: njit(max), "expected a plain Python function"),
        (lambda: njit(of_numbas), "give it its py_func"),
        (lambda: njit(fast=True), "fast"),
        (lambda: njit(cache=False), "cache"),
    ],
)
def test_wrong_use_is_named(use: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        use()


def test_a_function_of_a_module_is_pickled_by_its_name() -> None:
    sys.modules.setdefault(__name__, sys.modules[total.__module__])
    assert pickle.loads(pickle.dumps(total)) is total


def test_a_function_in_a_function_is_pickled_by_its_content() -> None:
    step = 4

    @njit(error_model="numpy")
    def inner(x):
        return x + step

    content = pickle.dumps(inner)
    assert pickle.loads(content)(1) == 5
    assert b"error_model" in content


def test_generator_functions_are_not_stored() -> None:
    # Numba knows how to go on with one only where it was compiled.
    @ck.njit
    def evens(n):
        for i in range(n):
            yield 2 * i

    before = compilations()["saved"]
    assert list(evens(3)) == [0, 2, 4]
    assert compilations()["saved"] == before
