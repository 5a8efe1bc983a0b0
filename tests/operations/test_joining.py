"""`join` and `join_asof`: rows side by side by their keys."""

from __future__ import annotations

import math
import os
from datetime import timedelta
from decimal import Context, Decimal, FloatOperation, Inexact, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st

import colkern as ck
from colkern.arrays import Array
from colkern.errors import LimitExceededError

WIDE = Context(prec=60)
HOWS = ("inner", "left", "right", "outer", "semi", "anti", "right semi", "right anti")
KEYS: dict[str, Any] = {
    "int": (pa.int64(), st.integers(0, 4) | st.just(2**62)),
    "float": (pa.float64(), st.sampled_from([0.0, -0.0, math.nan, 1.5])),
    "text": (pa.utf8(), st.sampled_from(["", "a", "b", "a longer text than that"])),
    "code": (pa.dictionary(pa.int8(), pa.utf8()), st.sampled_from("xyz")),
    "price": (pa.decimal128(38, 2), st.sampled_from([Decimal(1), Decimal(10) ** 30])),
}


def rows_of(batch: ck.RecordBatch) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pa.record_batch(batch).to_pylist()
    return rows


def batch_of(names: list[str], rows: list[Any], number: str) -> ck.RecordBatch:
    columns: list[Array] = [
        from_pyarrow(pa.array([row[k] for row in rows], KEYS[name][0]))
        for k, name in enumerate(names)
    ]
    columns.append(ck.array(list(range(len(rows))), type="int64"))
    return ck.RecordBatch.from_arrays(columns, [*names, number])


def same(left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
    pairs = zip(left, right, strict=True)
    return all(a is not None and (a == b or (a != a and b != b)) for a, b in pairs)


def expected_pairs(left: list[Any], right: list[Any], how: str) -> list[tuple[Any, Any]]:
    """The numbers of the rows side by side, None for none, by comparing each with each."""
    pairs: list[tuple[Any, Any]] = []
    for i, key in enumerate(left):
        matches = [j for j, other in enumerate(right) if same(key, other)]
        if (how == "semi" and matches) or (how == "anti" and not matches):
            pairs.append((i, None))
        elif how in ("inner", "left", "right", "outer"):
            pairs += [(i, j) for j in matches]
            if not matches and how in ("left", "outer"):
                pairs.append((i, None))
    if how in ("right", "outer"):
        alone = [j for j, key in enumerate(right) if not any(same(other, key) for other in left)]
        pairs += [(None, j) for j in alone]
    return pairs


@given(st.data(), st.sampled_from(HOWS), st.booleans())
def test_rows_match_by_values_that_are_not_null(
    data: st.DataObject, how: Any, unique: bool
) -> None:
    names = data.draw(st.lists(st.sampled_from(sorted(KEYS)), min_size=1, max_size=2, unique=True))
    rows = st.tuples(*[st.none() | KEYS[name][1] for name in names])
    left = data.draw(st.lists(rows, max_size=12))
    by: Any = repr if unique else None
    # Few left rows beside many right ones are matched the other way round.
    right = data.draw(st.lists(rows, max_size=8 if unique else 30, unique_by=by))
    result = rows_of(
        ck.join(batch_of(names, left, "i"), batch_of(names, right, "j"), names, how=how)
    )
    swapped = how.startswith("right ")
    sides = (right, left) if swapped else (left, right)
    expected = expected_pairs(*sides, how.removeprefix("right "))
    number = "j" if swapped else "i"
    assert [(row[number], None if swapped else row.get("j")) for row in result] == expected
    for row, (i, j) in zip(result, expected, strict=True):
        key = sides[0][i] if i is not None else sides[1][j]
        assert repr([row[name] for name in names]) == repr([plain(v) for v in key])


def plain(value: Any) -> Any:
    return WIDE.quantize(value, Decimal("0.01")) if isinstance(value, Decimal) else value


def test_an_encoded_key_matches_a_plain_one_and_dictionaries_differ() -> None:
    codes = ck.dictionary_encode(ck.array(["b", "a", "b"]))
    others = ck.dictionary_encode(ck.array(["c", "b"]))
    left = ck.RecordBatch.from_arrays([codes, ck.array([1, 2, 3])], ["k", "x"])
    for key in (others, ck.dictionary_decode(others)):
        right = ck.RecordBatch.from_arrays([key, ck.array([10, 20])], ["k", "y"])
        assert rows_of(ck.join(left, right, "k")) == [
            {"k": "b", "x": 1, "y": 20},
            {"k": "b", "x": 3, "y": 20},
        ]
        outer = ck.join(left, right, "k", how="full outer")
        assert outer["k"].to_pylist() == ["b", "a", "b", "c"]


def test_names_on_both_sides() -> None:
    left = ck.record_batch({"k": [1, 2], "x": [1, 2]})
    right = ck.record_batch({"key": [2], "x": [5]})
    assert rows_of(ck.join(left, right, "k", "key")) == [{"k": 2, "x": 2, "x_right": 5}]
    actual = ck.join(left, right, "k", "key", "left outer", left_suffix="_l", right_suffix="_r")
    assert actual.schema.names == ["k", "x_l", "x_r"]
    both = ck.join(left, right, "k", "key", "outer", coalesce_keys=False)
    assert both.schema.names == ["k", "x", "key", "x_right"]
    with pytest.raises(ValueError, match="join: two columns x; rename one, or give suffixes"):
        ck.join(left, right, "k", "key", right_suffix="")


@pytest.mark.parametrize(
    ("left", "right", "filled"),
    [
        (pa.array(["a", "b"]), pa.array(["b", "c"], pa.string_view()), "string"),
        (pa.array(["a", "b"], pa.large_string()), pa.array(["b", "c"]), "large_string"),
        (pa.array([1, 2]), pa.array([2, 3], pa.int8()), "int64"),
        (pa.array([1, 2], pa.int8()), pa.array([2, 300]), "int64"),
        (pa.array([1, 2]), pa.array([2.0, 2.5]), "double"),
        (pa.array([1, 2]), pa.array([Decimal("2.0"), Decimal("2.5")]), "decimal128(20, 1)"),
        (
            pa.array([Decimal("1.25"), Decimal("2.50")]),
            pa.array([Decimal("2.5"), Decimal("3.5")]),
            "decimal128(3, 2)",
        ),
    ],
)
def test_keys_of_other_text_or_numbers_match_by_value(
    left: pa.Array, right: pa.Array, filled: str
) -> None:
    ours, theirs = ck.table({"k": left, "x": [1, 2]}), ck.table({"k": right, "y": [3, 4]})
    assert ours.join(theirs, "k").to_pylist() == [{"k": left[1].as_py(), "x": 2, "y": 3}]
    assert ours.join(theirs, "k")["k"].type == ours["k"].type
    outer = ours.join(theirs, "k", how="outer")
    keys = [left[0].as_py(), left[1].as_py(), right[1].as_py()]
    assert outer.to_pydict() == {"k": keys, "x": [1, 2, None], "y": [None, 3, 4]}
    assert str(outer["k"].type) == filled
    if filled in ("int64", "double"):
        nearest = ours.join_asof(theirs.rename({"k": "at"}), "k", right_on="at")
        assert nearest["y"].to_pylist() == [None, 3]


def test_what_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    left = ck.record_batch({"k": [1, 2], "x": [1, 2]})
    with pytest.raises(ValueError, match="how: no join 'across'"):
        ck.join(left, left, "k", how="across")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="keys: int64 on the left, string on the right; cast one"):
        ck.join(left, ck.record_batch({"k": ["a"]}), "k")
    with pytest.raises(ValueError, match=r"right_keys: .* as keys has \(1\), got 2"):
        ck.join(left, left, "k", ["k", "x"])
    with pytest.raises(ValueError, match="keys: expected a column at least, got none"):
        ck.join(left, left, [])
    with pytest.raises(ValueError, match=r"right_by: .* as by has \(0\), got 1"):
        ck.join_asof(left, left, "k", right_by=["x"])
    monkeypatch.setattr(os, "sysconf", lambda name: 8)
    many = ck.record_batch({"k": [1, 1]})
    with pytest.raises(LimitExceededError, match="join: 4 rows of at least 32 bytes do not fit 64"):
        ck.join(many, many, "k", right_suffix="_r", coalesce_keys=False)


TIMES = st.none() | st.integers(0, 12)


@given(
    st.lists(st.tuples(st.sampled_from([None, "a", "b"]), TIMES), max_size=12),
    st.lists(st.tuples(st.sampled_from([None, "a", "b"]), TIMES), max_size=12),
    st.sampled_from(["backward", "forward", "nearest"]),
    st.none() | st.integers(0, 3),
    st.booleans(),
    st.booleans(),
)
def test_the_row_that_was_there_at_the_time(
    left: list[Any],
    right: list[Any],
    strategy: Any,
    tolerance: int | None,
    grouped: bool,
    in_order: bool,
) -> None:
    if in_order:
        left, right = (
            sorted((row for row in rows if row[1] is not None), key=lambda row: row[1])
            for rows in (left, right)
        )
    sides = [
        ck.RecordBatch.from_arrays(
            [
                ck.array([k for k, _ in rows], type="utf8"),
                ck.array([t for _, t in rows], type="int64"),
                ck.array(list(range(len(rows))), type="int64"),
            ],
            ["k", "t", name],
        )
        for rows, name in ((left, "i"), (right, "j"))
    ]
    by = "k" if grouped else ()
    actual = ck.join_asof(sides[0], sides[1], "t", by, strategy=strategy, tolerance=tolerance)
    assert actual["i"].to_pylist() == list(range(len(left)))
    for (key, time), row in zip(left, actual["j"].to_pylist(), strict=True):
        near = [
            (t, j)
            for j, (k, t) in enumerate(right)
            if None not in (t, time)
            and (not grouped or (k is not None and k == key))
            and (tolerance is None or abs(t - time) <= tolerance)
        ]
        before = max((pair for pair in near if pair[0] <= time), default=None)
        after = min((pair for pair in near if pair[0] >= time), default=None)
        kept = [
            pair
            for pair, other in ((before, "forward"), (after, "backward"))
            if pair is not None and strategy != other
        ]
        # The one before counts where both are as near.
        kept.sort(key=lambda pair: abs(pair[0] - time))
        assert row == (kept[0][1] if kept else None)


@pytest.mark.parametrize(
    "type_", ["date32", "date64", "timestamp[s]", "timestamp[ns, UTC]", "duration[ms]"]
)
def test_a_tolerance_may_be_a_duration(type_: str) -> None:
    day = {"d": 1, "s": 86_400, "ms": 86_400_000, "ns": 86_400_000_000_000}
    unit = {"date32": "d", "date64": "ms"}.get(type_) or type_.split("[")[1][:-1].split(",")[0]
    whole = "int32" if type_ == "date32" else "int64"
    left, right = [
        ck.record_batch(
            {"t": ck.array([n * day[unit] for n in days], whole).cast(type_), "n": days}
        )
        for days in ([3, 5, 9], [2, 4])
    ]
    for tolerance in (timedelta(days=1), np.timedelta64(36, "h")):
        actual = ck.join_asof(left, right, "t", tolerance=tolerance)
        assert actual["n_right"].to_pylist() == [2, 4, None]
    numbers = ck.record_batch({"t": [1]})
    with pytest.raises(TypeError, match="tolerance: expected a number, as the column has int64"):
        ck.join_asof(numbers, numbers, "t", tolerance=timedelta(1))


def test_durations_beyond_what_the_unit_can_have_are_within_no_limit() -> None:
    times = ck.record_batch({"t": ck.array([1], ck.timestamp("ns"))})
    for tolerance in (timedelta.max, timedelta(days=365 * 300), np.timedelta64(1 << 40, "D")):
        actual = ck.join_asof(
            times, times.with_column("x", ck.array([7])), "t", tolerance=tolerance
        )
        assert actual["x"].to_pylist() == [7]
    for wrong in (np.timedelta64("NaT"), np.timedelta64(1, "M"), np.timedelta64(5), timedelta(-1)):
        with pytest.raises(ValueError, match=r"NaT|unit|negative"):
            ck.join_asof(times, times, "t", tolerance=wrong)


@pytest.mark.parametrize(
    ("tolerance", "error", "message"),
    [
        ("a", TypeError, "tolerance: expected a number or a duration, got str 'a'"),
        (True, TypeError, "tolerance: expected a number or a duration, got bool True"),
        (math.nan, ValueError, "tolerance: expected a number, not NaN"),
        (np.float16("nan"), ValueError, "tolerance: expected a number, not NaN"),
        (Decimal("nan"), ValueError, "tolerance: expected a number, not NaN"),
        (Decimal("snan"), ValueError, "tolerance: expected a number, not NaN"),
        (-1, ValueError, "tolerance: expected no negative distance, got -1"),
        (np.int8(-1), ValueError, "tolerance: expected no negative distance, got -1"),
        (-math.inf, ValueError, "tolerance: expected no negative distance, got -inf"),
        (Decimal("-1e-999"), ValueError, "tolerance: expected no negative distance, got -1E-999"),
    ],
)
def test_what_is_no_tolerance_is_refused(tolerance: Any, error: Any, message: str) -> None:
    rows = ck.record_batch({"t": [1, 2]})
    with pytest.raises(error, match=message):
        ck.join_asof(rows, rows, "t", tolerance=tolerance)


@pytest.mark.parametrize(
    ("times", "tolerance", "rows"),
    [
        # As float64, these distances are 2^53.
        (ck.array([0, -(2**53) - 1, 2**62]), 2**53, [1, 0, 0]),
        (ck.array([0, -1], "int8"), math.inf, [1, 1]),
        (ck.array([6e4, -6e4, 0.0], "float16"), 70_000, [1, 0, 1]),
        (ck.array([Decimal("1.5"), Decimal("0.5"), None], "decimal64(2, 1)"), 1, [1, 1, 0]),
        (
            ck.array([Decimal("1.50"), Decimal("0.51"), None], "decimal64(3, 2)"),
            Decimal("0.98"),
            [1, 0, 0],
        ),
        (ck.array([3, 1, 2]).dictionary_encode(), 1, [1, 0, 1]),
        (ck.run_end_encode(ck.array([3, 1, 2])), 2, [1, 1, 1]),
    ],
)
def test_a_tolerance_is_exact_whatever_the_column_has(
    times: ck.Array, tolerance: Any, rows: list[int]
) -> None:
    # Each row is compared with the first one, later or earlier.
    first = ck.record_batch({"t": times[:1], "x": [7]})
    actual = ck.join_asof(
        ck.record_batch({"t": times}), first, "t", strategy="nearest", tolerance=tolerance
    )
    assert actual["x"].to_pylist() == [7 if row else None for row in rows]


@pytest.mark.parametrize("scale", [2, 0, -2, -3])
@pytest.mark.parametrize(
    "tolerance",
    [
        # Each beside the same number as a fraction.
        (5, Fraction(5)),
        (np.uint8(5), Fraction(5)),
        (np.int8(100), Fraction(100)),
        (np.float16(2048), Fraction(2048)),
        (np.longdouble(3), Fraction(3)),
        (Fraction(29, 100), Fraction(29, 100)),
        # These floats are a little less, or more.
        (0.29, Fraction(29, 100)),
        (1.1, Fraction(110, 100)),
        (np.float32(0.29), Fraction(29, 100)),
        (Decimal("1.0" + "9" * 36), Fraction(109, 100)),
        (Decimal("1.10"), Fraction(110, 100)),
        (Decimal("2000"), Fraction(2000)),
        (Decimal("1e-999999"), Fraction(0)),
        (Decimal("1e999999999"), Fraction(10**30)),
        (10**400, Fraction(10**30)),
        (math.inf, Fraction(10**30)),
        (np.float16("inf"), Fraction(10**30)),
    ],
)
def test_a_tolerance_of_decimals_is_exact(tolerance: tuple[Any, Fraction], scale: int) -> None:
    limit, exact = tolerance
    units = [0, 1, 2, 3, 4, 5, 28, 29, 30, 109, 110, 111, 2000, 2001, 204_800, 204_801]
    type_ = pa.decimal64(9, scale)
    distances = [Decimal(n).scaleb(-scale) for n in units]
    rows = ck.record_batch({"t": from_pyarrow(pa.array(distances, type_))})
    first = ck.record_batch({"t": rows["t"][:1], "x": [7]})
    actual = ck.join_asof(rows, first, "t", tolerance=limit)
    expected = [7 if Fraction(distance) <= exact else None for distance in distances]
    assert actual["x"].to_pylist() == expected


def test_a_tolerance_is_independent_of_the_context_of_decimals() -> None:
    times = ck.record_batch({"t": ck.array([Decimal("1.23"), Decimal("2.46")])})
    times = ck.record_batch({"t": times["t"].cast("decimal64(9, 2)")})
    first = ck.record_batch({"t": times["t"][:1], "x": [7]})
    with localcontext(Context(prec=1, Emax=2, Emin=-2, traps=[FloatOperation, Inexact])):
        for limit, row in ((Decimal("1.22"), None), (1.23, 7), (Decimal("1.2300001"), 7)):
            actual = ck.join_asof(times, first, "t", tolerance=limit)
            assert actual["x"].to_pylist() == [7, row]


@pytest.mark.parametrize(
    ("left", "right", "strategy", "tolerance", "row"),
    [
        (-math.inf, 3.0, "nearest", None, 7),
        # The difference is beyond what a float holds.
        (-1e308, 1.7e308, "nearest", None, 7),
        (math.inf, math.inf, "backward", 0, 7),
        (math.inf, math.inf, "nearest", 1, 7),
        (1.0, math.inf, "nearest", 5, None),
        (-1e308, 1e308, "nearest", 10**400, 7),
        (1.0, math.inf, "nearest", 10**400, 7),
        (1.0, math.inf, "nearest", Decimal("1e400"), 7),
        (1.0, 2.0, "nearest", np.float16(1), 7),
        (1.0, 2.0, "nearest", Fraction(1), 7),
        (1.0, 2.0, "nearest", 0.999, None),
    ],
)
def test_infinite_distances(
    left: float, right: float, strategy: Any, tolerance: Any, row: int | None
) -> None:
    rows = ck.record_batch({"t": [left]})
    others = ck.record_batch({"t": [right], "row": [7]})
    actual = ck.join_asof(rows, others, "t", strategy=strategy, tolerance=tolerance)
    assert actual["row"].to_pylist() == [row]


@pytest.mark.parametrize("right", [[10, 20], [], [None]])
def test_a_cross_join_has_every_pair(right: list[int | None]) -> None:
    left = ck.record_batch({"a": [1, None], "b": ["x", "y"]})
    other = ck.record_batch({"a": ck.array(right, ck.int64())})
    pairs = [(a, b, c) for a, b in zip([1, None], "xy", strict=True) for c in right]
    joined = left.join(other, how="cross")
    assert joined.schema.names == ["a", "b", "a_right"]
    assert [tuple(row.values()) for row in joined.to_pylist()] == pairs
    with pytest.raises(ValueError, match="keys: expected none for a cross join"):
        left.join(other, "a", how="cross")
