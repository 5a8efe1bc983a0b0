"""`udf(f).in_kind`: results are columns of the library that the arguments are of."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import colkern as ck

duckdb = pytest.importorskip("duckdb")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

A, B = [1.5, None, 3.0], [1, 2, 3]


@ck.udf
def score(a: float, b: int) -> float:
    return a * 2 + b


@ck.udf
def twice(a: float) -> float:
    return a * 2


WANTED = [4.0, None, 9.0]

ARROW = pa.chunked_array([A[:1], A[1:]], pa.float64())


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        (pa.array(A), pa.array(B), pa.array(WANTED)),
        (pa.array(A), pa.chunked_array([B]), pa.array(WANTED)),
        (ARROW, pa.array(B), pa.chunked_array([WANTED])),
        (pl.Series("a", A), pl.Series("b", B), pl.Series("a", WANTED)),
        (
            pd.Series(A, [7, 8, 9], name="a"),
            pd.Series(B, [7, 8, 9]),
            pd.Series([4, np.nan, 9], [7, 8, 9], name="a"),
        ),
        (
            pd.Series(A, dtype="double[pyarrow]"),
            pd.Series(B),
            pd.Series(WANTED, dtype="double[pyarrow]"),
        ),
        (np.array([1.5, 3.0]), np.array([1, 3]), np.array([4.0, 9.0])),
        (ck.array(A), ck.array(B), ck.array(WANTED)),
    ],
    ids=lambda column: f"{type(column).__module__.partition('.')[0]} {type(column).__name__}",
)
def test_results_are_of_the_library_of_the_columns(a: Any, b: Any, wanted: Any) -> None:
    results = score.in_kind(a, b)
    assert type(results) is type(wanted)
    if isinstance(wanted, np.ndarray):
        assert (results == wanted).all()
    else:
        assert results.equals(wanted)
    assert getattr(results, "name", None) == getattr(wanted, "name", None)


def test_it_looks_like_the_function() -> None:
    assert score.in_kind.__name__ == "score"
    assert list(inspect.signature(score.in_kind).parameters) == ["a", "b"]


def test_duckdb_takes_it_for_a_function_of_arrow_columns() -> None:
    with duckdb.connect() as connection:
        connection.create_function(
            "score", score.in_kind, ["DOUBLE", "BIGINT"], "DOUBLE", type="arrow"
        )
        actual = connection.sql(
            "select sum(score(i::double, i)) from range(100_000) t(i)"
        ).fetchall()
    assert actual == [(3 * sum(range(100_000)),)]


@pytest.mark.parametrize("lazy", [False, True])
def test_polars_maps_batches_with_it(lazy: bool) -> None:
    frame = pl.DataFrame({"a": A, "b": B})
    mapped = pl.map_batches(["a", "b"], lambda s: score.in_kind(*s), return_dtype=pl.Float64)
    given = frame.lazy().select(mapped).collect() if lazy else frame.select(mapped)
    assert given["a"].to_list() == WANTED


def test_polars_maps_a_column_with_it() -> None:
    frame = pl.DataFrame({"a": A}).select(pl.col("a").map_batches(twice.in_kind, pl.Float64))
    assert frame["a"].to_list() == [3.0, None, 6.0]


def test_series_of_pandas_have_one_index() -> None:
    a, b = pd.Series([1.0, 2.0], [0, 1]), pd.Series([1, 2], [1, 0])
    with pytest.raises(ValueError, match=r"in_kind: series with different indices, .* align"):
        score.in_kind(a, b)
    # As pandas itself aligns them.
    aligned = score.in_kind(*a.align(b))
    assert aligned.sort_index().tolist() == [score.python(1.0, 2), score.python(2.0, 1)]
    plain = score.in_kind(a, b.reset_index(drop=True))
    assert plain.tolist() == [score.python(1.0, 1), score.python(2.0, 2)]
