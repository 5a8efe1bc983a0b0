"""Cumulative functions and differences against pyarrow, rolling windows against pandas."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from arrow_oracle import from_pyarrow
from operations.device_checks import no_kernels_on_the_host

import colkern as ck
from colkern.arrays import Array
from colkern.cuda.stand_in import StandIn
from colkern.operations.moving import to_device, to_host


def drawn(some: list[Any], type_: pa.DataType, count: int = 50) -> pa.Array:
    rng = random.Random(7)
    return pa.array([rng.choice(some) for _ in range(count)], type_)


COLUMNS = {
    "floats": drawn([None, 1.5, -2.0, math.nan, math.inf, 3.25, 0.0], pa.float64()),
    "without nulls": pa.array([1.0, 2.0, math.nan, 0.5, 9.0, -3.0] * 7, pa.float32()),
    "small integers": drawn([None, 1, -2, 3, 100, 50], pa.int8()),
    "none": pa.array([], pa.int64()),
}

CUMULATIVE = [
    "cumulative_sum",
    "cumulative_prod",
    "cumulative_min",
    "cumulative_max",
    "cumulative_mean",
]


def same(result: Array, expected: pa.Array) -> None:
    result.validate(full=True)
    assert pa.array(result).type == expected.type
    assert repr(result.to_pylist()) == repr(expected.to_pylist())


@pytest.mark.parametrize("skip_nulls", [False, True])
@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("name", CUMULATIVE)
def test_cumulative_functions(name: str, column: str, skip_nulls: bool) -> None:
    values = COLUMNS[column]
    expected = getattr(pc, name)(values, skip_nulls=skip_nulls)
    same(getattr(ck, name)(from_pyarrow(values), skip_nulls=skip_nulls), expected)


def test_a_start_stands_in_front() -> None:
    values = COLUMNS["small integers"]
    same(ck.cumulative_sum(from_pyarrow(values), 3), pc.cumulative_sum(values, start=3))
    with pytest.raises(ValueError, match="start: 300 does not fit int8"):
        ck.cumulative_sum(from_pyarrow(values), 300)


@pytest.mark.parametrize("period", [1, 3, -2, 100])
@pytest.mark.parametrize("column", COLUMNS)
def test_differences(column: str, period: int) -> None:
    values = COLUMNS[column]
    same(ck.pairwise_diff(from_pyarrow(values), period), pc.pairwise_diff(values, period))


@pytest.mark.parametrize(
    "type_",
    [pa.date32(), pa.date64(), pa.timestamp("ms"), pa.time32("s"), pa.duration("us")],
    ids=str,
)
def test_differences_of_times_are_durations(type_: pa.DataType) -> None:
    days = [86_400_000 * day if type_ == pa.date64() else day for day in (5, 1, 9)]
    wide = type_.bit_width == 64
    values = pa.array([*days, None], pa.int64() if wide else pa.int32()).cast(type_)
    same(ck.pairwise_diff(from_pyarrow(values)), pc.pairwise_diff(values, 1))


WINDOWED = pa.array([1.0, None, 2.5, -3.0, 4.0, None, None, 8.0] * 5)


@pytest.mark.parametrize(
    ("window", "least"), [(1, None), (3, None), (5, 2), (7, 1), (16, 3), (99, 1)]
)
@pytest.mark.parametrize("how", ["sum", "mean", "min", "max"])
def test_windows(how: str, window: int, least: int | None) -> None:
    for values in (WINDOWED, WINDOWED.cast(pa.int32(), safe=False), COLUMNS["small integers"]):
        rolling = pd.Series(values.to_pylist(), dtype="float64").rolling(window, min_periods=least)
        expected = getattr(rolling, how)()
        result = getattr(ck, f"rolling_{how}")(from_pyarrow(values), window, min_periods=least)
        result = np.asarray(ck.fill_null(ck.cast(result, "float64"), math.nan))
        assert np.allclose(result, expected, equal_nan=True)


def test_infinities_leave_a_window_again() -> None:
    actual = ck.rolling_sum(ck.array([math.inf, 1.0, 2.0, 3.0]), 2)
    assert actual.to_pylist() == [None, math.inf, 3.0, 5.0]


def test_windows_that_there_are_not() -> None:
    with pytest.raises(ValueError, match="window: must be positive"):
        ck.rolling_sum(ck.array([1]), 0)
    with pytest.raises(ValueError, match="min_periods: expected 0 to 2, got 3"):
        ck.rolling_sum(ck.array([1]), 2, min_periods=3)
    with pytest.raises(TypeError, match="values: expected numbers, got string"):
        ck.rolling_sum(ck.array(["a"]), 2)


CENTS = [Decimal(n).scaleb(-2) if n else None for n in (150, 0, -275, 10**8, 5, 0, 0, -(10**8), 1)]
OF_ORDER: dict[str, list[Any]] = {
    "decimals": CENTS,
    "text": ["b", None, "ab", "", "c", None, "a"],
    "flags": [True, None, True, False, True],
}


@pytest.mark.parametrize("how", ["min", "max"])
@pytest.mark.parametrize("values", OF_ORDER.values(), ids=OF_ORDER)
def test_extremes_of_any_type_with_an_order(values: list[Any], how: str) -> None:
    array = ck.array(values)
    best = {"min": min, "max": max}[how]
    known = [[value for value in values[: i + 1] if value is not None] for i in range(len(values))]
    expected = [None if v is None else best(k) for v, k in zip(values, known, strict=True)]
    assert getattr(ck, f"cumulative_{how}")(array, skip_nulls=True).to_pylist() == expected
    windows = [
        [v for v in values[max(i - 2, 0) : i + 1] if v is not None] for i in range(len(values))
    ]
    actual = getattr(ck, f"rolling_{how}")(array, 3, min_periods=2)
    assert actual.to_pylist() == [best(window) if len(window) > 1 else None for window in windows]
    assert actual.type == array.type


@pytest.mark.parametrize("type_", [pa.decimal64(12, 2), pa.decimal128(20, 2), pa.decimal256(50, 2)])
def test_sums_of_decimals_carry(type_: pa.DataType) -> None:
    array = from_pyarrow(pa.array(CENTS, type_))
    zeros = [value or Decimal(0) for value in CENTS]
    sums = [None if v is None else sum(zeros[: i + 1]) for i, v in enumerate(CENTS)]
    actual = ck.cumulative_sum(array, skip_nulls=True)
    assert actual.to_pylist() == sums
    assert actual.type == (ck.decimal256(76, 2) if type_.bit_width == 256 else ck.decimal128(38, 2))
    first = CENTS.index(None)
    assert ck.cumulative_sum(array).to_pylist() == [*sums[:first], *[None] * (9 - first)]
    windows = [sum(zeros[max(i - 3, 0) : i + 1]) for i in range(9)]
    assert ck.rolling_sum(array, 4, min_periods=0).to_pylist() == windows
    known = [[float(v) for v in CENTS[max(i - 3, 0) : i + 1] if v is not None] for i in range(9)]
    means = [sum(each) / len(each) for each in known]
    assert ck.rolling_mean(array, 4, min_periods=1).to_pylist() == pytest.approx(means)
    with pytest.raises(TypeError, match=r"start: not of decimal.*; concat puts a value in front"):
        ck.cumulative_sum(array, 1)
    differences = pc.pairwise_diff(pa.array(CENTS, pa.decimal128(20, 2)), 1)
    assert ck.pairwise_diff(array).to_pylist() == differences.to_pylist()


def test_running_functions_run_where_the_bytes_are(device: StandIn) -> None:
    values = COLUMNS["small integers"]
    moved = to_device(from_pyarrow(values))
    with no_kernels_on_the_host():
        sums = ck.cumulative_sum(moved, skip_nulls=True)
        least = ck.rolling_min(moved, 4, min_periods=1)
        apart = ck.pairwise_diff(moved)
        cents = ck.cumulative_sum(to_device(ck.array(CENTS)), skip_nulls=True)
        words = ck.cumulative_max(to_device(ck.array(["b", None, "a", "c"])), skip_nulls=True)
    same(to_host(sums), pc.cumulative_sum(values, skip_nulls=True))
    same(to_host(apart), pc.pairwise_diff(values, 1))
    assert to_host(cents).equals(ck.cumulative_sum(ck.array(CENTS), skip_nulls=True))
    assert to_host(words).to_pylist() == ["b", None, "b", "c"]
    assert to_host(least).equals(ck.rolling_min(from_pyarrow(values), 4, min_periods=1))


def test_sums_of_decimals_with_too_many_digits_are_refused() -> None:
    most = Decimal("9" * 38)
    values = ck.array([most, most.copy_negate(), None, most, most], ck.decimal128(38))
    # After the first null, nothing is shown.
    assert ck.cumulative_sum(values).to_pylist() == [most, 0, None, None, None]
    assert ck.rolling_sum(values[:3], 2, min_periods=1).to_pylist() == [
        *(most, 0, most.copy_negate())
    ]
    too_many = pytest.raises(OverflowError, match="more than 38 digits; cast to decimal256 first")
    with too_many:
        ck.cumulative_sum(values, skip_nulls=True)
    with too_many:
        ck.rolling_sum(values, 2)
    for sign in "", "-":
        one, less, all_nines = (Decimal(sign + each) for each in ("1", "9" * 37 + "8", "9" * 38))
        by_one = ck.array([less, one, one], ck.decimal128(38))
        assert ck.cumulative_sum(by_one[:2]).to_pylist() == [less, all_nines]
        with too_many:
            ck.cumulative_sum(by_one)
    wide = ck.cast(values, ck.decimal256(38))
    assert ck.rolling_sum(wide, 2).to_pylist()[-1] == Decimal("1" + "9" * 37 + "8")
