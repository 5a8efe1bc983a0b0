"""Row functions over columns on a device: in the simulator, and as the PTX that they compile to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from corpus.case import Column
from corpus.cases import CASES as CORPUS
from corpus.runner import Left, Refused, compare, plain
from rows.device_cases import CASES, parts, scaled, tidy, values_of
from rows.ptx_rows import by_ptx

import colkern as ck

SIMULATED = "rows.device_cases"


@pytest.mark.parametrize("case", [case.__name__ for case in CASES])
def test_in_the_simulator(case: str, simulated_cases: dict[str, str]) -> None:
    assert simulated_cases[case] == ""


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_on_a_gpu(case: Callable[[], None]) -> None:
    case()


# What the compiler makes of it


def assert_python_s(function: Any, *columns: ck.Array, left: int = 0) -> None:
    """Make sure that the PTX of a function gives Python's results, with so many rows left."""
    result, lines = by_ptx(function, *(column.type for column in columns)).run(columns)
    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    assert values_of(result) == [None if None in row else function(*row) for row in rows]
    assert sum(lines.values()) == left


def test_compiled_integers_are_checked() -> None:
    columns = ck.array([1, 2**62, None, -(2**63), 7]), ck.array([0, 9, 3, 2, -2])
    assert_python_s(scaled, *columns, left=2)


def fused(x: float, y: float, z: float) -> float:
    return x * y + z


def test_compiled_products_are_rounded_before_they_are_added_to() -> None:
    third = 1 / 3
    columns = ck.array([third, 0.1]), ck.array([3.0, 0.1]), ck.array([-1.0, -0.01])
    assert_python_s(fused, *columns)


def test_compiled_texts_are_gathered_before_their_arenas_are_used_again() -> None:
    texts = ck.array(["a,b", " hello ", None, "", "more than twelve bytes"])
    numbers = ck.array([1, 2, 3, 4, 5])
    assert_python_s(tidy, texts, numbers)


def test_compiled_parts_of_views_are_where_they_were() -> None:
    texts = ck.array(["a,b", "é,ü,x", None, "more, than twelve bytes"], ck.utf8_view())
    assert_python_s(parts, texts)


def firsts(rows: Any) -> list[Any]:
    return [[row["word"][:2], str(row["n"])] for row in rows]


def test_compiled_lists_are_read_and_gathered() -> None:
    rows = ck.array(
        [[{"word": "é,ü", "n": 1}, {"word": "", "n": -7}], None, [], [{"word": "x", "n": 5}]]
    )
    assert_python_s(firsts, rows)


# The corpus


ELEMENTARY = {"exp", "expm1", "log", "log1p", "log2", "log10", "pow", "sin", "cos", "tan", "tanh"}
"""Functions of `math` whose last digit is the device's."""


def run_ptx(function: Callable[..., Any], columns: Sequence[Column]) -> tuple[list[Any], Left]:
    """An engine for `corpus.runner`: what the PTX of a function computes."""
    if elementary := ELEMENTARY.intersection(function.__code__.co_names):
        raise Refused(f"the last digit of {min(elementary)} is the device's")
    arrays = [plain(column) for column in columns]
    try:
        compiled = by_ptx(function, *(array.type for array in arrays))
    except (ck.CompileError, ck.UnsupportedError, TypeError) as error:
        raise Refused(str(error).split("\n")[0]) from error
    try:
        result, left = compiled.run(arrays)
    except NotImplementedError as error:
        # What the device's elementary functions consist of, the machine lacks in part.
        raise Refused(f"{error} on the machine") from error
    return result.to_pylist(), left


@pytest.mark.parametrize("name", CORPUS)
def test_ptx_gives_what_python_gives(name: str) -> None:
    comparison = compare(CORPUS[name], run_ptx)
    assert comparison.equal or not comparison.compiled, comparison.why
