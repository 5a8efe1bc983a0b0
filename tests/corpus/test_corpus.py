"""The corpus itself: its functions run in Python, its rows are odd enough, its runner sees differences."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from corpus import runner, values
from corpus.cases import CASES, STYLES, Case, Column
from corpus.runner import Raised, Refused, compare, expected, same

import colkern as ck

LEAST_ROWS = 50
LEAST_CASES = 200


def test_there_are_enough_of_many_styles() -> None:
    assert len(CASES) >= LEAST_CASES
    styles = {name.partition(".")[0] for name in CASES}
    assert styles == {module.__name__.rpartition(".")[2] for module in STYLES}


def test_rows_are_many_and_odd() -> None:
    for name, column in _columns():
        assert len(column.values) == len(column.ordinary) >= LEAST_ROWS, name
        assert None in column.values, name
        texts = [value for value in column.values if isinstance(value, str)]
        assert not texts or not all(text.isascii() for text in texts), name
        assert all(value.isascii() for value in column.ordinary if isinstance(value, str)), name


def test_columns_hold_the_values() -> None:
    for name, column in _columns():
        held = ck.array(column.values, column.type).to_pylist()
        assert all(map(same, column.values, held)), name


def _columns() -> Iterator[tuple[str, Column]]:
    for name, case in CASES.items():
        assert case.columns, name
        for column in case.columns:
            yield name, column


@pytest.mark.parametrize("layout", runner.LAYOUTS.values(), ids=runner.LAYOUTS)
def test_layouts_hold_the_values(layout: Any) -> None:
    for column in (values.words(1), values.number_lists(1), values.floats(1)):
        assert all(map(same, column.values, layout(column).to_pylist()))


def test_most_rows_give_results() -> None:
    for name, case in CASES.items():
        results = expected(case)
        raised = [result for result in results if isinstance(result, Raised)]
        assert bool(raised) == case.raises, name
        assert len(raised) <= len(results) / 5, name
        given = (result for result in results if not isinstance(result, Raised))
        assert any(result is not None for result in given), name


def test_functions_give_the_same_each_time() -> None:
    for case in CASES.values():
        assert repr(expected(case)) == repr(expected(case)), case.name


def test_values_are_the_same_for_a_seed() -> None:
    assert values.log_lines(7) == values.log_lines(7)
    assert values.log_lines(7) != values.log_lines(8)


def test_python_equals_itself() -> None:
    for name, case in CASES.items():
        comparison = compare(case, runner.run_python)
        assert comparison.equal, f"{name}: {comparison.why}"


@pytest.mark.parametrize(
    ("want", "got"),
    [
        (1, True),
        (0, False),
        (1, 1.0),
        (1.0, 1),
        (0.0, -0.0),
        (math.nan, 0.0),
        (None, 0),
        ("", None),
        ("é", "e\u0301"),
        ("a", b"a"),
        ([1], [1, 2]),
        ([1.0], [1]),
        ((1, 2), {"f0": 1, "f1": 3}),
        ({"a": 1}, {"b": 1}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ],
)
def test_different_values_are_told_apart(want: Any, got: Any) -> None:
    assert not same(want, got)


@pytest.mark.parametrize(
    ("want", "got"),
    [
        (math.nan, math.nan),
        (-0.0, -0.0),
        ((1, "a"), {"f0": 1, "f1": "a"}),
        ((1, [math.nan]), (1, [math.nan])),
        ({"a": None}, {"a": None}),
    ],
)
def test_equal_values_are_equal(want: Any, got: Any) -> None:
    assert same(want, got)


def test_an_integer_is_a_float_where_the_hint_says_so() -> None:
    assert same(0, 0.0, float)
    assert same(0, 0.0, float | None)
    assert same((0, [0]), (0.0, [0.0]), tuple[float, list[float]])
    assert not same(1, 0.0, float)
    assert not same((0, 0), (0.0, 0.0), tuple[int, float])


def made_case(function: Any, items: list[Any]) -> Case:
    """A case of a column of integers."""
    return Case(function, (Column(ck.int64(), items, items),), "", False, "made")


def inverse(n: int) -> float:
    return 1 / n


def test_a_wrong_result_is_noticed() -> None:
    comparison = compare(made_case(inverse, [1, 2, 4]), lambda f, c: ([1.0, 0.5, 0.5], {}))
    assert comparison.compiled
    assert not comparison.equal
    assert comparison.why == "row 2: (4) gives 0.5, in Python 0.25"


def test_the_row_and_the_message_of_an_exception_are_compared() -> None:
    case = made_case(inverse, [1, None, 0, 2, 0])
    assert compare(case, runner.run_python).equal

    def infinite(function: Any, columns: Any) -> Any:
        return [n and (1 / n) if n != 0 else math.inf for n in columns[0].values], {}

    assert compare(case, infinite).why == f"row 2 does not raise {expected(case)[2]}"

    def other_words(function: Any, columns: Any) -> Any:
        if 0 in columns[0].values:
            raise ZeroDivisionError("no")
        return runner.run_python(function, columns)

    assert "in Python" in compare(case, other_words).why

    def always(function: Any, columns: Any) -> Any:
        raise ZeroDivisionError("division by zero")

    assert "for which Python does not" in compare(case, always).why


def test_a_refusal_and_rows_left_are_counted() -> None:
    def refuses(function: Any, columns: Any) -> Any:
        raise Refused("no loops")

    def leaves(function: Any, columns: Any) -> Any:
        return runner.run_python(function, columns)[0], {12: 2}

    case = made_case(inverse, [1, 2])
    comparisons = [compare(case, run) for run in (refuses, leaves, runner.run_python)]
    assert [comparison.compiled for comparison in comparisons] == [False, True, True]
    assert comparisons[0].why == "refused: no loops"
    assert comparisons[1].left == comparisons[1].left_on_ascii == {12: 2}
    assert runner.summary(comparisons).splitlines()[-1].split() == ["all", "3", "2", "2", "1"]
