"""Cumulative functions and differences against pyarrow, rolling windows against pandas."""

from __future__ import annotations

import math
import random
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


def same(found: Array, expected: pa.Array) -> None:
    found.validate(full=True)
    assert pa.array(found).type == expected.type
    assert repr(found.to_pylist()) == repr(expected.to_pylist())


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
        found = getattr(ck, f"rolling_{how}")(from_pyarrow(values), window, min_periods=least)
        found = np.asarray(ck.fill_null(ck.cast(found, "float64"), math.nan))
        assert np.allclose(found, expected, equal_nan=True)


def test_infinities_leave_a_window_again() -> None:
    found = ck.rolling_sum(ck.array([math.inf, 1.0, 2.0, 3.0]), 2)
    assert found.to_pylist() == [None, math.inf, 3.0, 5.0]


def test_windows_that_there_are_not() -> None:
    with pytest.raises(ValueError, match="window: must be positive"):
        ck.rolling_sum(ck.array([1]), 0)
    with pytest.raises(ValueError, match="min_periods: expected 0 to 2, got 3"):
        ck.rolling_sum(ck.array([1]), 2, min_periods=3)
    with pytest.raises(TypeError, match="values: expected numbers, got string"):
        ck.rolling_sum(ck.array(["a"]), 2)


def test_running_functions_run_where_the_bytes_are(device: StandIn) -> None:
    values = COLUMNS["small integers"]
    moved = to_device(from_pyarrow(values))
    with no_kernels_on_the_host():
        sums = ck.cumulative_sum(moved, skip_nulls=True)
        least = ck.rolling_min(moved, 4, min_periods=1)
        apart = ck.pairwise_diff(moved)
    same(to_host(sums), pc.cumulative_sum(values, skip_nulls=True))
    same(to_host(apart), pc.pairwise_diff(values, 1))
    assert to_host(least).equals(ck.rolling_min(from_pyarrow(values), 4, min_periods=1))
