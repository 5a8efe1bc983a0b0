"""`group_by(...).aggregate(...)`: one row for each different key."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st

import colkern as ck
from colkern.cpu.threads import set_num_threads
from colkern.errors import UnsupportedError
from colkern.operations import group_aggregates

KEYS = {
    "int": (pa.int64(), st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1)),
    "float": (pa.float64(), st.sampled_from([0.0, -0.0, math.nan, 1.5])),
    "text": (pa.utf8(), st.text("ab", max_size=9)),
    "view": (pa.string_view(), st.sampled_from(["", "short", "longer than an inline view"])),
    "short view": (pa.string_view(), st.sampled_from(["", "a", "a\0", "tiny"])),
    "flag": (pa.bool_(), st.booleans()),
    "code": (pa.dictionary(pa.int8(), pa.utf8()), st.sampled_from("xyz")),
    "price": (pa.decimal128(38, 2), st.sampled_from([Decimal(1), Decimal(10) ** 30])),
    "list": (pa.list_(pa.int8()), st.lists(st.none() | st.just(1), max_size=2)),
    "list of floats": (
        pa.list_(pa.float32()),
        st.lists(st.none() | st.sampled_from([0.0, -0.0, math.nan]), max_size=2),
    ),
}
FUNCTIONS: list[Any] = [
    *("sum", "product", "mean", "min", "max", "count", "count_distinct", "first", "last"),
    ("variance", {"ddof": 1}),
    "stddev",
]


def as_key(value: Any) -> Any:
    """A value that equal keys share."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value + 0.0
    return tuple(map(as_key, value)) if isinstance(value, list) else value


def rows_of(batch: ck.RecordBatch) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pa.record_batch(batch).to_pylist()
    return rows


@given(st.data(), st.integers(0, 30))
def test_equal_keys_are_one_group_in_the_order_of_their_first_rows(
    data: st.DataObject, rows: int
) -> None:
    names = data.draw(st.lists(st.sampled_from(sorted(KEYS)), min_size=1, max_size=3, unique=True))
    columns = []
    for name in names:
        type_, values = KEYS[name]
        items = data.draw(st.lists(st.none() | values, min_size=rows, max_size=rows))
        columns.append(pa.array(items, type_))
    batch = ck.RecordBatch.from_arrays(list(map(from_pyarrow, columns)), names)
    expected: dict[Any, int] = {}
    for row in zip(*[column.to_pylist() for column in columns], strict=True):
        key = tuple(map(as_key, row))
        expected[key] = expected.get(key, 0) + 1
    result = ck.group_by(batch, names).aggregate([(names[0], "count", {"mode": "all"})])
    *keys, counts = [column.to_pylist() for column in result.columns]
    rows_found = [tuple(map(as_key, row)) for row in zip(*keys, strict=True)]
    assert dict(zip(rows_found, counts, strict=True)) == expected
    assert rows_found == list(expected)


@given(
    st.lists(
        st.tuples(
            st.none() | st.integers(0, 2),
            st.none() | st.integers(-1000, 1000),
            st.none() | st.sampled_from([0.5, -1.25, 3.0]),
            st.none() | st.booleans(),
        ),
        max_size=40,
    )
)
def test_aggregates_are_those_of_pyarrow(rows: list[Any]) -> None:
    types = {"key": pa.int8(), "n": pa.int64(), "x": pa.float64(), "flag": pa.bool_()}
    columns = [pa.array([row[k] for row in rows], t) for k, t in enumerate(types.values())]
    theirs = pa.table(columns, names=list(types))
    batch = ck.RecordBatch.from_arrays(list(map(from_pyarrow, columns)), list(types))
    asked: list[Any] = [
        (name, *(f if isinstance(f, tuple) else (f,))) for name in ("n", "x") for f in FUNCTIONS
    ]
    asked += [("flag", function) for function in ("any", "all", "sum", "product", "count")]
    result = rows_of(ck.group_by(batch, "key").aggregate(asked))
    options = {"variance": pa.compute.VarianceOptions(ddof=1)}
    wanted = [
        (name, function, options.get(function) if rest else None) for name, function, *rest in asked
    ]
    expected = theirs.group_by("key", use_threads=False).aggregate(wanted).to_pylist()
    # Groups of pyarrow's are not in the order of their rows.
    places = {row["key"]: place for place, row in enumerate(result)}
    expected.sort(key=lambda row: places[row["key"]])
    assert len(result) == len(expected)
    for row, other in zip(result, expected, strict=True):
        assert list(row) == list(other)
        assert row == pytest.approx(other)


@pytest.mark.parametrize("function", ["min", "max", "first", "last", "count_distinct"])
@pytest.mark.parametrize(
    "values",
    [
        pa.array(["b", None, "a", "c", "aa", "b", None]),
        pa.array(["b", None, "a", "c", "aa", "b", None]).dictionary_encode(),
        pa.array(
            [Decimal(x) if x else None for x in ("5", "", "-5", "7", "1", "5", "")],
            pa.decimal256(60, 1),
        ),
        pa.array([5, None, 2, 9, 7, 5, None], pa.timestamp("ms", "UTC")),
        pa.array([1.5, None, math.nan, -0.5, math.nan, 1.5, None], pa.float32()),
    ],
    ids=["text", "codes", "decimals", "times", "floats"],
)
def test_values_of_any_ordered_type(function: str, values: pa.Array) -> None:
    keys = pa.array([1, 1, 1, 2, 2, 1, 3])
    batch = ck.RecordBatch.from_arrays([from_pyarrow(keys), from_pyarrow(values)], ["k", "v"])
    plain = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
    groups: dict[int, list[Any]] = {1: [], 2: [], 3: []}
    for key, value in zip(keys.to_pylist(), plain.to_pylist(), strict=True):
        if value is not None:
            groups[key].append(value)
    oracle: dict[str, Any] = {
        "min": lambda v: min((x for x in v if x == x), default=v[0]) if v else None,
        "max": lambda v: max((x for x in v if x == x), default=v[0]) if v else None,
        "first": lambda v: v[0] if v else None,
        "last": lambda v: v[-1] if v else None,
        "count_distinct": lambda v: len(set(map(str, v))),
    }
    actual = ck.group_by(batch, "k").aggregate([("v", function)]).columns[1]
    assert str(actual.to_pylist()) == str([oracle[function](v) for v in groups.values()])
    if function != "count_distinct":
        assert actual.type == batch.columns[1].type


def test_sums_of_decimals_are_exact() -> None:
    values = [Decimal("99999999999999999999.25"), Decimal("-0.50"), None, Decimal("1.75")]
    for type_ in (pa.decimal128(38, 2), pa.decimal256(50, 2)):
        column = from_pyarrow(pa.array(values, type_))
        batch = ck.RecordBatch.from_arrays([ck.array([1, 1, 2, 1]), column], ["k", "v"])
        actual = ck.group_by(batch, "k").aggregate([("v", "sum"), ("v", "mean")])
        assert actual["v_sum"].to_pylist() == [Decimal("100000000000000000000.50"), None]
        assert actual["v_mean"].to_pylist() == [Decimal("33333333333333333333.50"), None]


@pytest.mark.parametrize("digits", [38, 76])
def test_sums_of_decimals_with_too_many_digits_are_refused_and_means_are_not(digits: int) -> None:
    make = ck.decimal128 if digits == 38 else ck.decimal256
    most = Decimal("9" * digits)
    values = ck.array([most, most, most, most.copy_negate(), None, Decimal(1)], make(digits))
    batch = ck.record_batch({"k": [1, 1, 2, 2, 3, 3], "v": values})
    assert ck.group_by(batch, "k").mean("v")["v_mean"].to_pylist() == [most, 0, 1]
    sums = ck.group_by(batch[2:], "k").sum("v")["v_sum"]
    assert sums.to_pylist() == [0, 1]
    sums.validate(full=True)
    with pytest.raises(OverflowError, match=f"sum: .* has more than {digits} digits"):
        ck.group_by(batch, "k").sum("v")


@pytest.mark.parametrize("type_", ["int64", "uint64"])
def test_a_mean_of_integers_does_not_wrap_around(type_: str) -> None:
    high = (1 << 63) - 1
    values = [high, high, 5, None, 7, *([-high, -high, -high] if type_ == "int64" else [2 * high])]
    batch = ck.record_batch(
        {"k": [1, 1, 1, 1, 2, *[3] * (len(values) - 5)], "v": ck.array([0, *values], type_)[1:]}
    )
    want = [(2 * high + 5) / 3, 7.0, float(-high if type_ == "int64" else 2 * high)]
    assert ck.group_by(batch, "k").mean("v")["v_mean"].to_pylist() == want


@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "nearest", "midpoint"])
@pytest.mark.parametrize("q", [0.0, 0.3, 0.5, 1.0])
def test_quantiles_are_exact_and_leave_nulls_and_nan_out(q: float, interpolation: Any) -> None:
    values: dict[int, list[float | None]]
    values = {1: [5.0, None, 1.0, 2.5, math.nan], 2: [None, math.nan], 3: [7.0], 4: [1.0, 2.0]}
    values[5] = [1.0, 2.0, 3.0, 4.0]
    pairs = [(key, value) for key, own in values.items() for value in own]
    batch = ck.record_batch({"k": [k for k, _ in pairs], "v": [v for _, v in pairs]})
    options = {"q": q, "interpolation": interpolation}
    actual = ck.group_by(batch, "k").aggregate([("v", "quantile", options), ("v", "median")])
    for key, own in values.items():
        numbers = pa.array([v for v in own if v is not None and v == v], pa.float64())
        expected = pa.compute.quantile(numbers, q=q, interpolation=interpolation).to_pylist()
        assert actual["v_quantile"].to_pylist()[key - 1] == expected[0]
        both = pa.compute.quantile(numbers, q=[q, 0.1], interpolation=interpolation).to_pylist()
        ungrouped = ck.array(own, ck.float64())
        assert ck.quantile(ungrouped, [q, 0.1], interpolation=interpolation) == both
        median = pa.compute.quantile(numbers, q=0.5).to_pylist()
        assert actual["v_median"].to_pylist()[key - 1] == median[0]


def test_reducers_are_aggregates() -> None:
    class spread:
        @staticmethod
        def init() -> tuple[int, int]:
            return 1000, -1000

        @staticmethod
        def update(state: Any, value: int) -> tuple[int, int]:
            return min(state[0], value), max(state[1], value)

        @staticmethod
        def finish(state: Any) -> int:
            return int(state[1] - state[0])

    batch = ck.record_batch({"k": ["a", "b", "a", "b"], "v": [1, 2, 5, 2]})
    actual = ck.group_by(batch, "k").aggregate([("v", ck.reducer(spread)), ("v", "sum")])
    assert actual.schema.names == ["k", "v_spread", "v_sum"]
    assert actual["v_spread"].to_pylist() == [4, 0]


def test_threads_have_sums_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_aggregates, "GRAIN", 2)
    keys = [k % 3 for k in range(100)]
    batch = ck.record_batch({"k": keys, "v": [None if k < 4 else k for k in range(100)]})
    asked: list[Any] = [("v", f) for f in ("sum", "min", "max", "count", "first", "variance")]
    set_num_threads(3)
    try:
        actual = rows_of(ck.group_by(batch, "k").aggregate(asked))
    finally:
        set_num_threads(0)
    table = pa.Table.from_batches([pa.record_batch(batch)])
    expected = table.group_by("k", use_threads=False).aggregate(asked).to_pylist()
    assert actual == [pytest.approx(row) for row in expected]


def test_without_keys_all_rows_are_one_group() -> None:
    batch = ck.record_batch({"v": [1, 2, None]})
    assert rows_of(ck.group_by(batch, []).aggregate([("v", "sum")])) == [{"v_sum": 3}]


@pytest.mark.parametrize("encode", [list, ck.dictionary_encode, ck.run_end_encode])
def test_nulls_without_a_type_have_aggregates(
    encode: Callable[[ck.Array], ck.Array | list[None]],
) -> None:
    names = ["sum", "product", "mean", "variance", "stddev", "median", "any", "all", "min", "max"]
    names += ["count", "count_distinct"]
    rows = ck.record_batch({"k": [1, 2, 1], "v": encode(ck.nulls(3, "null"))})
    actual = ck.group_by(rows, "k").aggregate([("v", name) for name in names])
    typed = ck.record_batch({"k": [1, 2, 1], "v": ck.array([None] * 3, "int64")})
    for name in names:
        expected = [0, 0] if "count" in name else [None, None]
        assert actual[f"v_{name}"].to_pylist() == expected
        if name not in ("any", "all", "min", "max"):
            other = ck.group_by(typed, "k").aggregate([("v", name)])
            assert actual[f"v_{name}"].type == other[f"v_{name}"].type


def test_what_is_not_known_is_refused() -> None:
    grouped = ck.group_by(ck.record_batch({"k": [1], "t": ["x"]}), "k")
    with pytest.raises(ValueError, match="no function 'total'; there are"):
        grouped.aggregate([("t", "total")])
    with pytest.raises(KeyError, match="z"):
        grouped.aggregate([("z", "sum")])
    with pytest.raises(UnsupportedError, match="no sum of the values of string"):
        grouped.aggregate([("t", "sum")])
    with pytest.raises(ValueError, match="sum is of one column, got 2"):
        grouped.aggregate([(["t", "k"], "sum")])
    with pytest.raises(ValueError, match="q: expected 0 to 1, got 2"):
        grouped.aggregate([("k", "quantile", {"q": 2})])
    with pytest.raises(TypeError, match="any: expected booleans"):
        grouped.aggregate([("k", "any")])
    some: list[Any] = [["sum"], [("k",)], [("k", "sum", {}, 1)]]
    for wrong in some:
        with pytest.raises(TypeError, match=r"aggregations\[0\]: expected a column and a function"):
            grouped.aggregate(wrong)


def test_one_function_is_for_all_columns_that_are_no_keys() -> None:
    rows = ck.table({"n": [4, 7, 1], "k": ["a", "b", "a"], "x": [0.5, 1.5, 2.5]})
    expected = rows.to_pandas().groupby("k").agg("sum")
    grouped = rows.group_by("k").agg("sum")
    assert grouped["n_sum"].to_pylist() == expected["n"].tolist()
    assert grouped["x_sum"].to_pylist() == expected["x"].tolist()


def test_medians_and_numbers_of_values_by_name() -> None:
    rows = ck.record_batch({"k": ["a", "b", "a", "a"], "n": [4, 7, 1, 1]})
    assert ck.group_by(rows, "k").median().to_pydict() == {"k": ["a", "b"], "n_median": [1.0, 7.0]}
    distinct = ck.group_by(rows, "k").count_distinct("n")
    assert distinct.to_pydict() == {"k": ["a", "b"], "n_count_distinct": [2, 1]}
    with pytest.raises(AttributeError, match=r"instead: count_distinct\(column\)"):
        ck.group_by(rows, "k").nunique  # noqa: B018


def test_groups_are_iterated_in_the_order_of_their_first_rows() -> None:
    rows = {"k": ["b", None, "b", "a"], "n": [1, 2, 3, 4]}
    batch, chunked = ck.record_batch(rows), ck.table(rows)
    expected = [("b", [1, 3]), (None, [2]), ("a", [4])]
    for data in (batch, chunked):
        groups = list(ck.group_by(data, "k"))
        assert [(key, group["n"].to_pylist()) for key, group in groups] == expected
        assert {type(group) for _, group in groups} == {type(data)}
    assert [key for key, _ in batch.group_by(["k", "n"])] == list(zip(*rows.values(), strict=True))
    assert [(key, group.length) for key, group in batch.group_by([])] == [((), 4)]
    assert list(batch.slice(0, 0).group_by("k")) == []
