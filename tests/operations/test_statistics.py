"""Different values, their number and rank, and statistics, against pyarrow."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st

import colkern as ck
from colkern.errors import UnsupportedError
from colkern.operations import dictionaries, statistics

INTS = st.lists(st.none() | st.integers(-3, 3), max_size=30)
FLOATS = st.lists(st.none() | st.sampled_from([0.5, -1.25, 3.0, 1e300]), max_size=30)


@given(INTS)
def test_different_values_and_how_often_each_is_there(values: list[int | None]) -> None:
    theirs = pa.array(values, pa.int64())
    array = from_pyarrow(theirs)
    assert ck.unique(array).to_pylist() == theirs.unique().to_pylist()
    assert ck.value_counts(array).to_pylist() == theirs.value_counts().to_pylist()
    for mode in ("only_valid", "only_null", "all"):
        assert ck.count_distinct(array, mode) == pc.count_distinct(theirs, mode=mode).as_py()
    assert ck.mode(array, 2).to_pylist() == pc.mode(theirs, n=2).to_pylist()


def test_different_values_of_any_type() -> None:
    nan = math.nan
    assert str(ck.unique(ck.array([0.0, nan, -0.0, None, nan])).to_pylist()) == "[0.0, nan, None]"
    codes = ck.dictionary_encode(ck.array(["a", "b", "a"]))
    assert ck.unique(codes).to_pylist() == ["a", "b"]
    text = ck.array(["b", "a", None, None, None, "b", "a"])
    for array in (
        text,
        ck.run_end_encode(text),
        ck.dictionary_encode(text, null_encoding="encode"),
    ):
        assert ck.mode(array).to_pylist() == [{"mode": "a", "count": 2}], array.type
    rows = ck.record_batch({"a": [1, 1, 1], "b": ["x", "y", "x"]})
    assert pa.record_batch(ck.unique(rows)).to_pylist() == [{"a": 1, "b": "x"}, {"a": 1, "b": "y"}]


@given(
    st.lists(st.none() | st.sampled_from([1.5, 0.0, math.nan, 2.5]), max_size=20),
    st.sampled_from(["ascending", "descending"]),
    st.sampled_from(["at_end", "at_start"]),
    st.sampled_from(["first", "min", "max", "dense"]),
)
def test_ranks_are_those_of_pyarrow(values: list[Any], order: Any, place: Any, ties: Any) -> None:
    theirs = pa.array(values, pa.float64())
    options = {"sort_keys": order, "null_placement": place, "tiebreaker": ties}
    actual = ck.rank(from_pyarrow(theirs), order=order, null_placement=place, tiebreaker=ties)
    assert actual.to_pylist() == pc.rank(theirs, **options).to_pylist()


SPANS = {
    "int8": -128,
    "uint16": 2**16 - 9,
    "int64": -(2**63),
    "uint64": 2**64 - 70_009,
    "date64": 0,
    "bool": 0,
}
"""Integer type → the least value of those in a test."""


@pytest.mark.parametrize("name", SPANS)
@pytest.mark.parametrize("apart", [3, 70_000])
@given(st.data())
def test_integers_of_small_ranges_are_counted(name: str, apart: int, data: st.DataObject) -> None:
    own = {"int8": 255, "uint16": 8, "bool": 1}.get(name, apart)
    offsets = st.none() | st.sampled_from([0, 1, own])
    known_null = data.draw(st.lists(offsets, max_size=40))
    values = [None if each is None else SPANS[name] + each for each in known_null]
    type_ = pa.type_for_alias("uint8" if name == "bool" else name.replace("date64", "int64"))
    theirs = pa.array(values, type_)
    theirs = theirs.cast(pa.bool_()) if name == "bool" else theirs
    # Its values need not be whole days to be counted.
    theirs = theirs.view(pa.date64()) if name == "date64" else theirs
    start = data.draw(st.integers(0, len(values)))
    array, theirs = from_pyarrow(theirs).slice(start), theirs.slice(start)
    known = sorted(value for value in values[start:] if value is not None)
    counts = sorted((-known.count(value), value) for value in {*known})
    modes, counted = ck.mode(array, 2).children
    assert modes.type == array.type
    plain = pa.array(modes).cast(pa.int64()) if name == "date64" else pa.array(modes)
    assert [*map(int, plain.to_pylist())] == [value for _, value in counts[:2]]
    assert counted.to_pylist() == [-count for count, _ in counts[:2]]
    order: Any = data.draw(st.sampled_from(["ascending", "descending"]))
    ranks = pc.rank(theirs, sort_keys=order, tiebreaker="first")
    assert ck.rank(array, order=order).to_pylist() == ranks.to_pylist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(statistics, "WORTH_COUNTING", data.draw(st.sampled_from([0, 99])))
        if name == "date64":
            return
        shares = [0.0, 0.3, 0.31, 0.5, 1.0]
        places = [share * (len(known) - 1) for share in shares]
        wanted = [known[math.floor(place)] for place in places] if known else [None] * 5
        assert ck.quantile(array, shares, interpolation="lower") == wanted
        wanted = [known[math.ceil(place)] for place in places] if known else [None] * 5
        assert ck.quantile(array, shares, interpolation="higher") == wanted


def test_rows_have_ranks_and_the_first_are_selected() -> None:
    batch = ck.record_batch({"a": [2, 1, 2, None], "b": ["x", "y", "z", "x"]})
    keys: list[Any] = ["a", ("b", "descending")]
    assert ck.rank(batch, keys).to_pylist() == [3, 1, 2, 4]
    assert ck.select_k(batch, 2, keys).to_pylist() == [1, 2]
    assert ck.top_k(batch["a"], 3).to_pylist() == [0, 2, 1]
    assert ck.top_k(batch, 9, "b").to_pylist() == [2, 1, 0, 3]


@given(
    st.lists(
        st.none() | st.sampled_from([1.5, -0.0, 0.0, math.nan, 2.5]), min_size=24, max_size=60
    ),
    st.integers(1, 7),
    st.sampled_from(["ascending", "descending"]),
)
def test_few_of_many_rows_are_the_first_in_order(values: list[Any], k: int, order: Any) -> None:
    """Of equal rows, those that come first in the column."""
    parity = [place % 2 for place in range(len(values))]
    rows = ck.record_batch({"a": ck.array(values, ck.float64()), "b": parity})
    table = pa.table({"a": pa.array(values, pa.float64()), "b": parity})
    keys: Any = [("a", order), ("b", "descending")]
    expected = pc.sort_indices(table, sort_keys=keys).to_pylist()[:k]
    assert ck.select_k(rows, k, keys).to_pylist() == expected
    alone = pc.sort_indices(table.select(["a"]), sort_keys=keys[:1]).to_pylist()[:k]
    assert ck.select_k(rows["a"], k, order=order).to_pylist() == alone


@given(INTS | FLOATS, st.sampled_from([0, 1]))
def test_variance_and_quantiles_are_those_of_pyarrow(values: list[Any], ddof: int) -> None:
    kind = pa.float64() if any(isinstance(v, float) for v in values) else pa.int64()
    theirs = pa.array(values, kind)
    array = from_pyarrow(theirs)
    for name in ("variance", "stddev"):
        expected = getattr(pc, name)(theirs, ddof=ddof, min_count=ddof + 1).as_py()
        actual = getattr(ck, name)(array, ddof=ddof)
        assert actual == (None if expected is None else pytest.approx(expected, rel=1e-9))
    for q in (0.0, 0.25, 0.5, 1.0):
        assert ck.quantile(array, q) == pc.quantile(theirs, q).to_pylist()[0]
    assert ck.quantile(array, [0.5, 1.0]) == pc.quantile(theirs, [0.5, 1.0]).to_pylist()
    assert ck.median(array) == pc.quantile(theirs, 0.5).to_pylist()[0]


@given(st.lists(st.integers(-50, 50) | st.none()), st.booleans(), st.booleans())
def test_skew_and_kurtosis_are_those_of_pyarrow(
    values: list[int | None], biased: bool, skip_nulls: bool
) -> None:
    for kind in (pa.int8(), pa.float32(), pa.decimal128(22, 2)):
        theirs = pa.array(values, pa.int64()).cast(kind)
        options: dict[str, Any] = {"biased": biased, "skip_nulls": skip_nulls, "min_count": 2}
        for name in ("skew", "kurtosis"):
            expected = getattr(pc, name)(theirs, **options).as_py()
            near = (
                None
                if expected is None
                else pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)
            )
            assert getattr(ck, name)(theirs, **options) == near
            assert getattr(ck, name)(ck.dictionary_encode(theirs), **options) == near


@pytest.mark.parametrize("values", [[1e120, -1e120, 3e120], [1e-110, 2e-110, 5e-110]])
def test_powers_of_deviations_beyond_floats_make_nan(values: list[float]) -> None:
    for name in ("skew", "kurtosis"):
        expected = getattr(pc, name)(pa.array(values)).as_py()
        assert getattr(ck, name)(ck.array(values)) == pytest.approx(expected, nan_ok=True)


def test_quantiles_are_between_values_beside_nan_nulls_and_infinities() -> None:
    values = [math.inf, 3.0, None, math.nan, -math.inf, 1.0, math.nan, 2.0]
    in_order = sorted(v for v in values if v is not None and v == v)
    for way in ("linear", "lower", "higher", "nearest", "midpoint"):
        shares = [0.9, 0.0, 0.5, 0.25, 1.0, 0.3]
        theirs = pc.quantile(pa.array(in_order), shares, interpolation=way).to_pylist()
        assert ck.quantile(ck.array(values), shares, interpolation=way) == theirs
    assert ck.quantile(ck.array([math.nan, None]), [0.5, 1.0]) == [None, None]


def test_shares_of_narrow_floats_are_as_precise_as_others() -> None:
    values = np.arange(100_000.0)
    narrow: Any = np.float16(0.7)
    wide = [float(narrow), 0.7]
    expected = [pytest.approx(99_999 * share) for share in wide]
    assert ck.quantile(ck.array(values), [narrow, 0.7]) == expected
    groups = ck.group_by(ck.record_batch({"v": values}), [])
    result = groups.aggregate([("v", "quantile", {"q": narrow})])
    assert result["v_quantile"].to_pylist() == expected[:1]


def _many(kind: str) -> Any:
    """More numbers than are all looked at for a quantile."""
    rng, count = np.random.default_rng(5), 5000
    drawn = {
        "floats": rng.normal(size=count),
        "integers": rng.integers(-(1 << 40), 1 << 40, count),
        "in order": np.arange(count, dtype=np.uint16),
        "two values": rng.integers(0, 2, count, np.int8),
        "one value": np.full(count, 7, np.float32),
        "infinities and zeros": rng.choice([math.inf, -math.inf, 0.0, 1.5], count),
        "with NaN": np.where(rng.random(count) < 0.4, math.nan, rng.random(count)),
    }
    if kind in drawn:
        return drawn[kind]
    # A sample of each so many-th number sees zeros alone, or all but the zeros.
    places, step = np.arange(count), int(count ** (1 / 3))
    return np.where((places % step == 0) == (kind == "sampled zeros"), 0, places - 2000)


@pytest.mark.parametrize(
    "kind",
    [
        "floats",
        "integers",
        "in order",
        "two values",
        "one value",
        "infinities and zeros",
        "with NaN",
        "sampled zeros",
        "zeros beside the sample",
    ],
)
def test_quantiles_of_many_numbers_are_those_of_all_in_order(kind: str) -> None:
    values = _many(kind)
    in_order = sorted(values[values == values].tolist())
    last = len(in_order) - 1
    shares = [0.5, 0.0, 1.0, 0.001, 0.25, 0.2501, 0.9, 0.9999, 0.5, 1 / last]
    for way, whole in (("lower", math.floor), ("higher", math.ceil)):
        wanted = [in_order[whole(last * share)] for share in shares]
        assert ck.quantile(ck.array(values), shares, interpolation=way) == wanted  # type: ignore[call-overload]
        alone = [ck.quantile(ck.array(values), share, interpolation=way) for share in shares]  # type: ignore[call-overload]
        assert alone == wanted


@pytest.mark.parametrize("way", ["lower", "higher", "nearest", "linear", "midpoint"])
@pytest.mark.parametrize("of", [Decimal, int])
def test_quantiles_that_are_values_are_exact(way: Any, of: Any) -> None:
    """Beyond 2^53, where floats are even; of each group, too."""
    values = [
        None if each is None else of(each) for each in (2**53 + 5, -(2**62) - 1, None, 2**53 + 3)
    ]
    type_ = pa.decimal128(20, 0) if of is Decimal else pa.int64()
    theirs, shares = pa.array(values, type_), [0.0, 0.3, 0.5, 1.0]
    array = from_pyarrow(theirs)
    expected = pc.quantile(theirs, shares, interpolation=way).to_pylist()
    assert ck.quantile(array, shares, interpolation=way) == expected
    rows = ck.record_batch({"k": [1] * 4 + [2], "v": ck.concat([array, array[2:3]])})
    for q, value in zip(shares, expected, strict=True):
        options = {"q": q, "interpolation": way}
        grouped = rows.group_by("k").aggregate([("v", "quantile", options)])
        assert grouped["v_quantile"].to_pylist() == [value, None]
    assert ck.quantile(array[:0], interpolation=way) is None


@given(INTS | FLOATS)
def test_products_and_ends_are_those_of_pyarrow(values: list[Any]) -> None:
    kind = pa.float64() if any(isinstance(v, float) for v in values) else pa.int64()
    theirs = pa.array(values, kind)
    array = from_pyarrow(theirs)
    expected = pc.product(theirs).as_py()
    assert ck.product(array) == (None if expected is None else pytest.approx(expected))
    assert ck.first(array) == pc.first(theirs).as_py()
    assert ck.last(array) == pc.last(theirs).as_py()
    far = ck.concat(
        [array[:0], ck.array([None] * 70, array.type), array, ck.array([None] * 1200, array.type)]
    )
    chunks = ck.ChunkedArray([far, far[:70]])
    for column in (far, chunks):
        assert (ck.first(column), ck.last(column)) == (ck.first(array), ck.last(array))


def test_decimals_and_booleans_have_statistics() -> None:
    prices = ck.array([Decimal("1.50"), None, Decimal("2.50")])
    assert ck.median(prices) == 2.0
    assert ck.variance(prices) == 0.25
    assert ck.stddev(ck.array([True, False])) == 0.5


def test_nulls_without_a_type_have_no_statistics() -> None:
    nulls = ck.array([None, None])
    assert ck.product(nulls) is None
    assert ck.mode(nulls).to_pylist() == []


@pytest.mark.parametrize("values", [[2, 3], [2, None, 5], [None], []])
@pytest.mark.parametrize("skip_nulls", [True, False])
@pytest.mark.parametrize("min_count", [0, 1, 2, 9])
def test_aggregates_without_enough_values_are_none(
    values: list[int | None], skip_nulls: bool, min_count: int
) -> None:
    theirs = pa.array(values, pa.int64())
    options: Any = {"skip_nulls": skip_nulls, "min_count": min_count}
    for name in ("variance", "stddev", "product", "first", "last"):
        expected = getattr(pc, name)(theirs, **options).as_py()
        assert getattr(ck, name)(from_pyarrow(theirs), **options) == expected, name
    array = from_pyarrow(theirs)
    assert [ck.quantile(array, **options)] == pc.quantile(theirs, **options).to_pylist()
    assert (
        ck.quantile(array, [0, 1], **options) == pc.quantile(theirs, [0, 1], **options).to_pylist()
    )
    assert [ck.median(array, **options)] == pc.quantile(theirs, **options).to_pylist()
    assert ck.mode(array, 2, **options).to_pylist() == pc.mode(theirs, 2, **options).to_pylist()


def test_products_of_decimals_are_rounded_at_each_step() -> None:
    for values in (["1.50", "-2.25", None, "7.00"], ["-0.15", "0.50", "0.10"], [None], []):
        decimals = [value and Decimal(value) for value in values]
        prices = pa.array(decimals, pa.decimal128(5, 2))
        assert ck.product(from_pyarrow(prices)) == pc.product(prices).as_py()
    with pytest.raises(OverflowError, match="38 digits do not hold"):
        ck.product(ck.array([Decimal("1e20")] * 2))


@pytest.mark.parametrize("order", ["ascending", "descending"])
def test_an_array_may_be_given_its_order_as_pyarrow_is(order: Any) -> None:
    theirs = pa.array([3, None, 1, 3])
    ranks = pc.rank(theirs, order, tiebreaker="min")
    assert ck.rank(from_pyarrow(theirs), order, tiebreaker="min").to_pylist() == ranks.to_pylist()


@given(st.lists(st.none() | st.integers(0, 9), max_size=20), st.sets(st.integers(0, 9)))
def test_ranges_begin_with_their_bounds(values: list[int | None], cuts: set[int]) -> None:
    bounds = sorted(cuts)
    result = ck.range_partition_indices(
        ck.array(values, type="int64"), ck.array(bounds, type="int64")
    )
    positions, offsets = result[0].to_pylist(), result[1].to_pylist()
    expected = [
        sum(bound <= value for bound in bounds) if value is not None else len(bounds)
        for value in values
    ]
    assert len(offsets) == len(bounds) + 2
    for p in range(len(bounds) + 1):
        own = [i for i, part in enumerate(expected) if part == p]
        assert positions[offsets[p] : offsets[p + 1]] == own


def test_what_does_not_fit_is_refused() -> None:
    array = ck.array([1, 2])
    with pytest.raises(ValueError, match="tiebreaker: expected one of"):
        ck.rank(array, tiebreaker="any")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="k: must not be negative, got -1"):
        ck.top_k(array, -1)
    with pytest.raises(ValueError, match="n: expected 1 at least, got 0"):
        ck.mode(array, 0)
    with pytest.raises(ValueError, match="bounds: expected ascending order"):
        ck.range_partition_indices(array, ck.array([2, 1]))
    with pytest.raises(ValueError, match="bounds: must not be null"):
        ck.range_partition_indices(array, ck.array([2, None]))
    with pytest.raises(UnsupportedError, match="product: no product of the values of string"):
        ck.product(ck.array(["a"]))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("nulls", [False, True])
def test_many_different_numbers_in_the_order_in_which_they_come(
    threads: int, nulls: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dictionaries, "_RANGE", 1000)
    numbers = np.random.default_rng(7).integers(-4000, 4000, 20_000) * (1 << 40)
    mask = np.arange(len(numbers)) % 9 == 5 if nulls else None
    theirs = pa.array(numbers, mask=mask)
    before = ck.num_threads()
    ck.set_num_threads(threads)
    try:
        for each in (theirs, theirs.slice(3), theirs.slice(0, 4100)):
            mine = from_pyarrow(each)
            assert pa.array(ck.unique(mine)).equals(pc.unique(each))
            assert ck.count_distinct(mine) == pc.count_distinct(each).as_py()
    finally:
        ck.set_num_threads(before)
