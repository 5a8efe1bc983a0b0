"""Views of a column do not outlive the call that the column was passed to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numba import njit, typeof, types
from numba.experimental import jitclass
from numba.typed import Dict, List

import colkern as ck


@njit
def each(column: Any) -> Iterator[Any]:
    for i in range(len(column)):
        yield column.value(i)


@njit
def appended(out: Any) -> Iterator[Any]:
    for k in range(3):
        out.append(k)
        yield k


@njit
def parts(column: Any) -> Any:
    actual = List()
    actual.append(column[1:])
    return actual


@njit
def by_number(column: Any) -> Any:
    actual = Dict()
    actual[0] = column
    return actual


@njit
def within_a_tuple(column: Any) -> Any:
    return len(column), parts(column)


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (each, ck.array([1, 2])),
        (appended, ck.Builder(ck.int64())),
        (parts, ck.array([1, 2])),
        (by_number, ck.array([1, 2])),
        (within_a_tuple, ck.array([1, 2])),
    ],
    ids=["generator", "generator of a builder", "list", "dict", "tuple of a list"],
)
def test_what_holds_views_is_not_returned_to_python(
    function: Callable[..., Any], argument: Any
) -> None:
    with pytest.raises(TypeError, match="holds views"):
        function(argument)


def test_an_object_that_holds_a_column_is_not_made() -> None:
    class Holder:
        def __init__(self, column: Any) -> None:
            self.column = column

    column = ck.array([1, 2])
    with pytest.raises(TypeError, match="holds views"):
        jitclass([("column", typeof(column))])(Holder)(column)


def test_a_list_of_python_is_given_no_views() -> None:
    column = ck.array([1, 2])
    result = List.empty_list(typeof(column))

    @njit
    def keep(column: Any, result: Any) -> None:
        result.append(column)

    with pytest.raises(TypeError, match="holds views"):
        keep(column, result)


def test_compiled_functions_hand_them_to_each_other() -> None:
    @njit
    def total(column: Any) -> Any:
        actual = 0
        for value in each(column):
            actual += value
        for part in parts(column):
            actual += 10 * part.value(0)
        return actual

    assert total(ck.array([1, 2, 4])) == 7 + 20


def test_what_holds_none_is_returned_as_ever() -> None:
    @njit
    def lengths(column: Any) -> Any:
        actual = List.empty_list(types.int64)
        for text in column:
            actual.append(len(text))
        return actual

    @njit
    def running(numbers: Any) -> Iterator[Any]:
        total = 0
        for number in numbers:
            total += number
            yield total

    @njit
    def ends(column: Any) -> Any:
        return column.value(0), column.value(len(column) - 1)

    assert list(lengths(ck.array(["a", "bcd"]))) == [1, 3]
    assert list(running(np.arange(4))) == [0, 1, 3, 6]
    assert ends(ck.array(["a", "bcd"])) == ("a", "bcd")
