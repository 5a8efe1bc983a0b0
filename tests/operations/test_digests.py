"""`TDigest`, `tdigest`, `approximate_median`: quantiles beside ranks of plain Python's sorted values."""

from __future__ import annotations

import bisect
import math
import pickle
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import colkern as ck

NUMBERS = st.floats() | st.integers(-3, 3).map(float) | st.none()
SHARES = [0.0, 0.01, 0.2, 0.5, 0.75, 0.99, 1.0]


def misplaced(values: list[float], quantile: float, share: float) -> float:
    """How far a share is from the shares of sorted values that are below a quantile, or equal to it."""
    lowest = (bisect.bisect_left(values, quantile) - 1) / max(len(values) - 1, 1)
    highest = bisect.bisect_right(values, quantile) / max(len(values) - 1, 1)
    return max(lowest - share, share - highest, 0)


@given(st.lists(st.lists(NUMBERS, max_size=200), min_size=1, max_size=4), st.sampled_from([10, 50]))
def test_quantiles_of_parts_are_near_those_of_all(parts: list[list[Any]], delta: int) -> None:
    values = sorted(v for part in parts for v in part if v is not None and v == v)
    whole, merged = ck.TDigest(delta), ck.TDigest(delta)
    for part in parts:
        array = ck.array(part, ck.float64())
        whole.update(array)
        merged.merge(pickle.loads(pickle.dumps(ck.TDigest(delta).update(array))))
    for digest in (whole, merged):
        assert digest.count == len(values)
        quantiles: list[Any] = digest.quantile(SHARES)
        if not values:
            assert quantiles == [None] * len(SHARES)
            continue
        assert (quantiles[0], quantiles[-1]) == (values[0], values[-1])
        assert all(low <= high for low, high in pairwise(quantiles))
        for share, quantile in zip(SHARES, quantiles, strict=True):
            # The widest centroid has this share of the numbers.
            assert misplaced(values, quantile, share) <= math.pi / delta


@pytest.mark.parametrize("kind", ["normal", "skewed", "few values", "in order"])
def test_quantiles_of_many_numbers_are_off_by_half_a_percent_at_most(kind: str) -> None:
    """A digest of chunks, one after the other."""
    rng, count = np.random.default_rng(3), 50_000
    values = {
        "normal": rng.normal(size=count),
        "skewed": rng.exponential(size=count) ** 4,
        "few values": rng.integers(0, 5, count).astype(float),
        "in order": np.arange(count, dtype=float),
    }[kind]
    column = ck.concat([ck.table({"v": part}) for part in np.split(values, 10)])["v"]
    in_order = sorted(values.tolist())
    quantiles = zip(column.tdigest(SHARES), SHARES, strict=True)
    assert max(misplaced(in_order, quantile, share) for quantile, share in quantiles) <= 0.005


def test_quantiles_of_few_numbers_are_exact() -> None:
    values = [3.0, None, 1.0, math.nan, 10.0, 2.0, math.inf, -math.inf]
    exact = ck.quantile(ck.array(values), SHARES)
    assert ck.tdigest(ck.array(values), SHARES) == exact
    assert ck.approximate_median(ck.array(values)) == 2.5
    assert repr(ck.TDigest().update(ck.array(values))) == "<colkern.TDigest: 6 numbers>"


def test_numbers_that_are_far_apart_have_finite_quantiles() -> None:
    far = [-1.7e308, 1.7e308]
    assert ck.tdigest(ck.array(far), [0.0, 0.5, 1.0]) == [-1.7e308, 0.0, 1.7e308]
    many: Any = ck.tdigest(ck.array([each for each in far for _ in range(300)]), SHARES)
    assert many[:3] == far[:1] * 3
    assert many[-2:] == far[1:] * 2
    assert far[0] <= many[3] <= far[1]


def test_numbers_of_all_kinds_have_a_digest() -> None:
    assert ck.approximate_median(ck.array([3, None, 1], ck.int8())) == 2.0
    assert ck.approximate_median(ck.array([Decimal("1.5"), Decimal("2.5")])) == 2.0
    assert ck.approximate_median(ck.array([True, False, True])) == 1.0
    assert ck.approximate_median(ck.dictionary_encode(ck.array([7, 7, 9]))) == 7.0
    with pytest.raises(ck.UnsupportedError, match="tdigest"):
        ck.tdigest(ck.array(["a"]))


@pytest.mark.parametrize("values", [[2.0, 3.0], [2.0, None, 5.0], [None], []])
@pytest.mark.parametrize("skip_nulls", [True, False])
@pytest.mark.parametrize("min_count", [0, 2])
def test_too_few_values_have_none(values: list[Any], skip_nulls: bool, min_count: int) -> None:
    theirs = pa.array(values, pa.float64())
    options: Any = {"skip_nulls": skip_nulls, "min_count": min_count}
    expected = pc.tdigest(theirs, [0, 1], **options).to_pylist()
    assert ck.tdigest(theirs, [0, 1], **options) == expected
    assert ck.tdigest(pa.chunked_array([theirs, theirs[:0]]), [0, 1], **options) == expected


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="delta: expected 10 or more, got 3"):
        ck.TDigest(3)
    with pytest.raises(ValueError, match="q: expected 0 to 1, got 2"):
        ck.TDigest().quantile(2)
    with pytest.raises(TypeError, match="values: expected a column, got int"):
        ck.TDigest().update(5)
