"""`arithmetic="machine"` and functions of NumPy's: what NumPy's own scalars give."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import colkern as ck
from colkern.rows.methods import numpy_scalars

LEAST = -(1 << 63)
INTEGERS = [LEAST, LEAST + 1, -7, -1, 0, 1, 5, 64, 1 << 40, (1 << 63) - 1]
FLOATS = [-math.inf, -1e300, -2.5, -1.0, -0.0, 0.0, 0.5, 1.5, 3.0, 1e300, math.inf, math.nan]

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def of_integers(x: int, y: int):
    return x + y, x - y, x * y, x // y, x % y, x / y, -x, abs(x), x & y, x ^ 3


def of_floats(x: float, y: float):
    return x + y, x * y, x / y, x // y, x % y, x < y, x == y


def pairs(values: list[Any]) -> tuple[list[Any], list[Any]]:
    return [x for x in values for _ in values], [y for _ in values for y in values]


def same(actual: Any, expected: Any) -> bool:
    """Whether two numbers are the same, also in the sign of a zero."""
    if isinstance(actual, float):
        alike = actual == expected and math.copysign(1, actual) == math.copysign(1, expected)
        return alike or (math.isnan(actual) and math.isnan(expected))
    return bool(actual == expected)


@pytest.mark.parametrize(
    ("function", "kind", "values"),
    [(of_integers, np.int64, INTEGERS), (of_floats, np.float64, FLOATS)],
)
def test_operators_are_those_of_numpys_scalars(
    function: Callable[..., Any], kind: Any, values: list[Any]
) -> None:
    result = ck.udf(function, arithmetic="machine", strict=True)
    left, right = pairs(values)
    rows = result(ck.array(left), ck.array(right)).to_pylist()
    for x, y, row in zip(left, right, rows, strict=True):
        for actual, expected in zip(row.values(), function(kind(x), kind(y)), strict=True):
            assert same(actual, expected.item()), (x, y)


def test_powers_and_shifts_wrap_around() -> None:
    result = ck.udf(
        lambda x, n: (x**n, x << n, x >> n, divmod(x, n - 3)),
        signature="(int64, int64)",
        arithmetic="machine",
    )
    rows = result(ck.array([3, 10, -2]), ck.array([50, 20, 70])).to_pylist()

    def wrapped(value: int) -> int:
        return (value + (1 << 63)) % (1 << 64) - (1 << 63)

    assert [list(row.values())[:3] for row in rows] == [
        [wrapped(3**50), wrapped(3 << 50), 0],
        [wrapped(10**20), wrapped(10 << 20), 0],
        [wrapped((-2) ** 70), 0, -1],
    ]
    # By zero, both are 0.
    assert result(ck.array([7]), ck.array([3])).to_pylist()[0]["f3"] == {"f0": 0, "f1": 0}


def test_sums_and_products_wrap_around_in_loops() -> None:
    def drawn(seed: int) -> int:
        for _ in range(3):
            seed = (seed * 6364136223846793005 + 1442695040888963407) & (2**63 - 1)
            seed = -seed - 3
        return seed

    compiled = ck.udf(drawn, arithmetic="machine", strict=True)
    with np.errstate(over="ignore"):
        want = [int(drawn(np.int64(seed))) for seed in INTEGERS]
    assert compiled(ck.array(INTEGERS, ck.int64())).to_pylist() == want


def test_constants_wrap_around_and_an_overflow_is_no_exception() -> None:
    def hashed(x: int) -> int:
        try:
            return (x * 1099511628211 + (1 << 62) * 4) & 0xFFFF
        except (OverflowError, ZeroDivisionError):
            return -1

    values = [0, 1, -1, 1 << 50]
    actual = ck.udf(hashed, arithmetic="machine", strict=True)(ck.array(values))
    assert actual.to_pylist() == [x * 1099511628211 & 0xFFFF for x in values]


def test_functions_of_math_give_nan_and_infinity() -> None:
    result = ck.udf(
        lambda x: (math.sqrt(x), math.log(x), math.exp(x), int(x), math.floor(x), x**0.5),
        signature="(float64)",
        arithmetic="machine",
        strict=True,
    )
    row, last = (list(row.values()) for row in result(ck.array([-1.5, math.inf])).to_pylist())
    assert [row[3], row[4]] == [-1, -2]
    assert math.isnan(row[0])
    assert math.isnan(row[1])
    assert last == [math.inf, math.inf, math.inf, LEAST, LEAST, math.inf]


def test_integers_beyond_53_bits_meet_floats_as_they_are_rounded() -> None:
    result = ck.udf(
        lambda x, y: (x + 0.5 if x > y else y, x < y),
        signature="(int64, float64)",
        arithmetic="machine",
        strict=True,
    )
    rows = result(ck.array([(1 << 53) + 1]), ck.array([2.0**53])).to_pylist()
    assert rows == [{"f0": 2.0**53, "f1": False}]


def test_unsigned_integers_beyond_63_bits_are_left_to_python() -> None:
    result = ck.udf(lambda x: (x + 1) // 10, arithmetic="machine")
    values = [0, 1 << 63, (1 << 64) - 1]
    assert result(ck.array(values, ck.uint64())).to_pylist() == [(x + 1) // 10 for x in values]
    assert sum(result.report().left.values()) == 2


# NumPy's functions


def called(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """A function of one parameter or two that calls one of NumPy's, and that itself."""
    plain = getattr(np, name)
    one, two = (lambda x: plain(x)), (lambda x, y: plain(x, y))
    return (two if name in TWO else one), plain


TWO = ("maximum", "minimum", "copysign", "power", "hypot", "arctan2")
ROWS = [(method.name.removeprefix("numpy."), method) for method in numpy_scalars.METHODS]


@pytest.mark.parametrize(
    ("name", "method"), ROWS, ids=[f"{method.name}{method.signature}" for _, method in ROWS]
)
def test_functions_of_numpy(name: str, method: Any) -> None:
    kind = method.signature.partition(")")[0][1:].split(", ")[0]
    values: list[Any] = {"int": INTEGERS, "float": FLOATS, "bool": [True, False]}[kind]  # type: ignore[assignment]
    columns = pairs(values) if name in TWO else (values,)
    function, plain = called(name)
    # In Python, there is no integer of what is not finite.
    in_python = method.body is not None and method.machine is None
    result = ck.udf(function, arithmetic="python" if in_python else "machine")
    actual = result(*map(ck.array, columns)).to_pylist()
    exact = name not in numpy_scalars._ELEMENTARY and name not in ("power", "hypot", "arctan2")
    for place, row in enumerate(zip(*columns, strict=True)):
        given = [np.int64(value) if type(value) is int else np.float64(value) for value in row]
        if name.startswith("int") and not abs(float(given[0])) < 2.0**31:
            # What C has for it is not defined.
            continue
        if name in TWO and (row[0] == row[1] == 0 or not all(map(math.isfinite, row))):
            # The sign of a zero, and a root of infinity, depend on the processor.
            continue
        expected = plain(*given).item()
        assert same(actual[place], expected) or (
            not exact and math.isclose(actual[place], expected, rel_tol=1e-14)
        ), row


def test_zeros_of_two_signs_are_numpys() -> None:
    result = ck.udf(lambda x, y: (np.maximum(x, y), np.minimum(x, y)))
    columns = pairs([0.0, -0.0, 1.5])
    actual = result(*map(ck.array, columns)).to_pylist()
    for row, got in zip(zip(*columns, strict=True), actual, strict=True):
        assert all(map(same, got.values(), map(float, result.python(*row))))  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "function", [lambda x: round(np.float64(x), 2), lambda x: round(x, 2) + np.sqrt(x) * 0]
)
def test_a_round_that_may_be_numpys_is_left_where_pythons_is_another(
    function: Callable[..., Any],
) -> None:
    result = ck.udf(function)
    values = [2.675, 1.005, 0.285, -0.001, 1.25, 7.0, math.nan, math.inf, 1e300, 12345.675]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert all(map(same, result(ck.array(values)).to_pylist(), map(function, values)))
    assert 0 < sum(result.report().left.values()) < len(values)


def rooted(x: float) -> float:
    try:
        return 1.0 / np.sqrt(x)
    except ZeroDivisionError:
        return -1.0


def test_numbers_of_numpys_raise_nothing_in_python_either() -> None:
    """Its quotient is NumPy's, where Python's would raise."""
    result = ck.udf(rooted)
    values = [4.0, 0.0, -0.0, -1.0, 2.0]
    actual = result(ck.array(values)).to_pylist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert all(map(same, actual, map(rooted, values)))
    assert sum(result.report().left.values()) == 2


@pytest.mark.parametrize(
    "function",
    [
        lambda x: ~np.isnan(x),
        lambda x: np.isnan(x) is True,
        lambda x: f"{np.sqrt(x)!r}",
        lambda x: math.floor(np.int64(x)),
        lambda x: timedelta(days=np.int64(x)),
        lambda x: str(Decimal(np.int64(x))),
        lambda x: json.dumps({"a": np.int64(x)}),
        lambda x: np.int64(x).to_bytes(8),  # type: ignore[attr-defined]
        lambda x: pow(np.int64(x), 2, 5),  # type: ignore[misc]
        lambda x: [1.5, 2.5][np.isnan(x)],
        lambda x: isinstance(np.int64(x), int),
        lambda x: isinstance(np.sqrt(x), np.floating),
    ],
)
def test_what_numpys_numbers_do_in_another_way_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(
        ck.CompileError, match=r"no compiled form|several types|compares|left to Python"
    ):
        ck.udf(function, signature="(float64)", strict=True)


def rooted_logarithm(x: float) -> float:
    return np.log1p(x) if x > 1 else x / 2


def narrowed(x: float) -> str:
    return str(np.float32(x) * 3) if x > 1 else "few"


@pytest.mark.parametrize("function", [rooted_logarithm, narrowed])
def test_what_numpy_computes_by_processor_is_left(function: Callable[..., Any]) -> None:
    result = ck.udf(function)
    values = [0.1, 4.0, -1.0, 1.1, 1e300]
    assert result(ck.array(values)).to_pylist() == list(map(function, values))
    assert sum(result.report().left.values()) == 3


TABLE = np.array([3, -1, 2**62])
SMALL = np.array([1, 2], np.int8)


@pytest.mark.parametrize("arithmetic", ["python", "machine"])
def test_items_of_constant_arrays_are_numbers_of_numpy(arithmetic: Any) -> None:
    def looked_up(k: int, x: int) -> int:
        return TABLE[k] * x

    keys, factors = [0, 1, -1, 2], [5, 2**62, 1, 4]
    function = ck.udf(looked_up, arithmetic=arithmetic)
    with np.errstate(all="ignore"):
        actual = function(ck.array(keys), ck.array(factors))
        assert actual.to_pylist() == [looked_up(*row) for row in zip(keys, factors, strict=True)]
    with pytest.raises(IndexError):
        function(ck.array([3]), ck.array([1]))


def test_items_of_narrow_arrays_are_refused() -> None:
    with pytest.raises(ck.CompileError, match="an array of int8 has a compiled form only with"):
        ck.udf(lambda k: SMALL[k] + k, signature="(int64) -> int64")
    with pytest.raises(ck.CompileError, match="has no compiled form"):
        ck.udf(lambda k: len(TABLE[k:]), signature="(int64) -> int64")


ZEROS, ONE = np.zeros(1500), np.arange(1500) == 700


def item(array: Any, k: int) -> Any:
    return array[k]


def test_arrays_of_equal_text_are_told_apart() -> None:
    function = ck.udf(lambda k: float(item(ZEROS, k) + 2 * item(ONE * 1.0, k)))
    assert function(ck.array([700, 1])).to_pylist() == [2.0, 0.0]
