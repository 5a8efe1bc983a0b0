"""Texts, byte strings, dates and times in compiled loops do what Python's do, by code points and bytes.

The functions run compiled over columns of one slot, and as plain Python on the slots' objects.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from jit.element_cases import CASES, Case, agree, outcome
from numba.core.errors import NumbaError

import colkern as ck
from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.memory import Buffer

_COMPILED: dict[Callable[..., Any], Any] = {}


def check(function: Callable[..., Any], *values: Any) -> None:
    """Compare a compiled function of columns' values with plain Python."""
    compiled = _COMPILED.get(function)
    if compiled is None:
        names = [f"c{k}" for k in range(len(values))]
        taken = ", ".join(f"{name}.value(0)" for name in names)
        namespace: dict[str, Any] = {"inner": numba.njit(function)}
        exec(f"def of_columns({', '.join(names)}):\n    return inner({taken})\n", namespace)
        compiled = _COMPILED[function] = numba.njit(namespace["of_columns"])
    agree(outcome(compiled, *(ck.array([value]) for value in values)), function, values)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.function.__name__)
def test_elements_do_what_python_does(case: Case) -> None:
    for example in case.examples:
        check(case.function, *example)

    @settings(max_examples=50)
    @given(case.arguments)
    def of_arguments(arguments: tuple[Any, ...]) -> None:
        check(case.function, *arguments)

    of_arguments()


@numba.njit
def searches_of_nothing(column):
    s = column.value(0)
    return "" in s, s.find(""), s.rfind(""), s.count(""), s.startswith(""), s.find("", 1)


def test_nothing_is_found_where_there_is_no_memory() -> None:
    # The buffer of bytes may be absent where all strings are empty.
    offsets = Buffer(np.zeros(2, np.int32).view(np.uint8))
    nothing = Array(ck.utf8(), 1, [None, offsets, None])
    assert searches_of_nothing(nothing) == (True, 0, 0, 1, True, -1)


@pytest.mark.parametrize(
    "function",
    [lambda s: s == b"abcdef"[::2], lambda s: s.find(b"abcdef"[::-1])],
    ids=["compared", "searched for"],
)
def test_bytes_that_do_not_stand_side_by_side_are_refused(function: Callable[..., Any]) -> None:
    # Numba's slice of `bytes` with a step is a view whose bytes are apart.
    with pytest.raises(NumbaError, match="with a step of 1"):
        numba.njit(lambda column: function(column.value(0)))(ck.array([b"ace"]))


def test_what_a_row_function_leaves_to_python_is_an_error() -> None:
    with pytest.raises(UnsupportedError, match=r"str\.replace"):
        numba.njit(lambda column: column.value(0).replace("", "-"))(ck.array(["a"]))


def test_a_null_has_no_methods_and_is_equal_to_none_alone() -> None:
    @numba.njit
    def equal(column, i):
        return column[i] == "a", column[i] == column[1], column[i] is None

    column = ck.array(["a", None])
    assert equal(column, 0) == (True, False, False)
    assert equal(column, 1) == (False, True, True)
    with pytest.raises(TypeError, match="None"):
        numba.njit(lambda column: len(column[1]))(column)


def test_text_as_bytes() -> None:
    @numba.njit
    def first(column):
        return [value[0] for value in column.as_bytes() if len(value) > 1]

    for type_ in (ck.utf8(), ck.large_utf8(), ck.utf8_view()):
        column = ck.array(["é", "", "ab", "a longer text than in views"], type_)
        assert first(column) == [0xC3, 97, 97]


# Who owns what a method makes


def test_what_is_made_lives_as_long_as_a_value_that_needs_it() -> None:
    @numba.njit
    def longest(column):
        kept = ""
        seen = {column.value(0): 0}
        parts = [column.value(0)]
        for text in column:
            if text is not None:
                result = (text + "/" + text).upper()
                for part in result.split("/"):
                    if len(part) > len(kept):
                        kept = part[1:].strip()
                    seen[part] = len(seen)
                    parts.append(part)
        return kept, len(seen), seen["KEY 7"], parts

    values = [f"key {k}" for k in range(300)]
    kept, count, place, parts = longest(ck.array(values))
    assert (kept, count, place) == ("EY 299", 301, 9)
    assert parts == ["key 0", *(value.upper() for value in values for _ in range(2))]


def test_nothing_is_left_behind() -> None:
    from numba.core.runtime import _nrt_python, rtsys

    @numba.njit
    def work(column):
        total = 0
        for text in column:
            for word in (text + " x").replace("a", "bb").split():
                total += len(word * 2)
        return total

    column = ck.array(["ab cd", "é", ""])
    work(column)
    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats()
    work(column)
    after = rtsys.get_allocation_stats()
    _nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free > 0
