"""`Table`: columns and rows of several batches, against pyarrow's tables and plain Python."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import colkern as ck

X = [3, None, 1, 4, 1]
Y = ["a", "b", None, "d", "e"]
TABLE = ck.table({"x": ck.chunked_array([X[:2], X[2:]]), "y": ck.chunked_array([Y[:3], Y[3:]])})
ARROW = pa.table({"x": X, "y": Y})


def test_columns_are_cut_at_common_places() -> None:
    assert [batch.length for batch in TABLE.batches] == [2, 1, 2]
    assert TABLE["x"].to_pylist() == TABLE.column(0).to_pylist() == X
    assert TABLE.to_pydict() == {"x": X, "y": Y}
    assert TABLE.to_pylist() == ARROW.to_pylist()
    assert (TABLE.shape, TABLE.column_names, len(TABLE)) == ((5, 2), ["x", "y"], 5)
    TABLE.validate(full=True)
    assert TABLE.combine_chunks().num_batches == 1


@pytest.mark.parametrize(
    "data",
    [
        {"x": X, "y": Y},
        ARROW,
        ARROW.to_batches()[0],
        ARROW.to_batches(),
        TABLE,
        TABLE.to_batches(),
        ck.record_batch({"x": X, "y": Y}),
        ck.RecordBatchStream(TABLE.schema, TABLE.batches),
        pl.DataFrame({"x": X, "y": Y}),
        pd.DataFrame({"x": pd.array(X, "Int64"), "y": pd.Series(Y, dtype="string")}),
    ],
    ids=lambda data: f"{type(data).__module__.partition('.')[0]} {type(data).__name__}",
)
def test_a_table_of_any_data(data: Any) -> None:
    assert ck.table(data).to_pydict() == {"x": X, "y": Y}


def test_a_table_has_the_schema_that_is_asked_for() -> None:
    actual = ck.table({"x": [1], "y": ["a"]}, {"y": "utf8", "x": "int8"})
    assert actual.schema == ck.Schema({"y": "utf8", "x": "int8"})
    assert ck.table([], {"x": "int8"}).shape == (0, 1)
    with pytest.raises(ValueError, match="schema: the data has another one"):
        ck.table(ARROW, {"x": "int8"})
    with pytest.raises(ValueError, match="b: 1 values, a has 2"):
        ck.table({"a": [1, 2], "b": [1]})
    with pytest.raises(TypeError, match="expected a table, got a column"):
        ck.table(pa.array([1]))
    with pytest.raises(ck.InvalidArrowError, match=r"batches\[1\]: batch of y: int64"):
        ck.Table([ck.record_batch({"x": [1]}), ck.record_batch({"y": [1]})])


@pytest.mark.parametrize("rows", [slice(1, 4), slice(None, None, 2), slice(None, None, -1)])
def test_rows_by_a_slice(rows: slice) -> None:
    assert TABLE[rows].to_pylist() == ARROW.to_pylist()[rows]


def test_rows_by_masks_positions_and_functions() -> None:
    rows = ARROW.to_pylist()
    large = [row for row in rows if row["x"] is not None and row["x"] > 1]
    assert TABLE[TABLE["x"] > 1].to_pylist() == large
    assert TABLE.filter(lambda x: x > 1).to_pylist() == large
    assert TABLE.filter(pa.array([True] + [False] * 4)).to_pylist() == rows[:1]
    assert TABLE[[4, -5]].to_pylist() == TABLE.take(np.array([4, 0])).to_pylist()
    assert TABLE[[4, -5]].to_pylist() == [rows[4], rows[0]]
    assert TABLE.head(2).to_pylist() == rows[:2]
    assert TABLE.tail(2).to_pylist() == rows[-2:]
    batch = TABLE.batches[0]
    assert isinstance(batch.filter(batch["x"] > 1), ck.RecordBatch)


def test_types_of_pandas_follow_the_columns() -> None:
    frame = pd.DataFrame(
        {"whole": pd.array([1, None], dtype="Int64"), "text": pd.array(["a", "b"], dtype="string")},
        index=pd.Index(["p", "q"], name="id"),
    )
    table = ck.table(frame)
    halves = table.with_column("whole", table["whole"] / 2)
    expected = frame.assign(whole=frame["whole"].astype("float64") / 2)
    pd.testing.assert_frame_equal(halves.to_pandas(), expected)
    added = table.with_column("whole", table["whole"] + 1)
    pd.testing.assert_frame_equal(added.to_pandas(), frame.assign(whole=frame["whole"] + 1))
    swapped = table.rename({"whole": "text", "text": "whole", "id": "key"})
    expected = frame.rename(columns={"whole": "text", "text": "whole"}).rename_axis("key")
    pd.testing.assert_frame_equal(swapped.to_pandas(), expected)


@pytest.mark.parametrize(
    "value",
    [
        b"no JSON",
        b"[]",
        b"{}",
        b'{"columns": 1, "index_columns": []}',
        pytest.param(b"[" * 100_000, id="too deep"),
    ],
)
def test_other_metadata_of_this_name_is_kept(value: bytes) -> None:
    schema = pa.schema([("x", pa.int64())], {b"pandas": value, b"k": b"v"})
    renamed = ck.table(pa.table({"x": X}, schema)).rename({"x": "y"})
    assert renamed.schema.metadata == {b"pandas": value, b"k": b"v"}


@pytest.mark.parametrize(
    "labels",
    [
        pd.Index([0, 1]),
        pd.Index([0.5, 1.5]),
        pd.MultiIndex.from_product([["a"], ["x", "y"]]),
        pd.DatetimeIndex(["2024-01-01", "2024-01-02"]),
    ],
    ids=["integers", "floats", "levels", "dates"],
)
def test_labels_of_pandas_that_are_no_text_become_text_beside_a_name(labels: pd.Index) -> None:
    """A name that the table was given need not be such a label, and `to_pandas` raised an error for it."""
    table = ck.table(pd.DataFrame([[1, 2], [3, 4]], columns=labels))
    first, second = table.column_names
    assert list(table.to_pandas()) == list(labels)
    assert list(table.rename({first: "total"}).to_pandas()) == ["total", second]
    assert list(table.with_column("total", [5, 6]).to_pandas()) == [first, second, "total"]
    # Where there is none, they are what they were.
    assert list(table.with_column(second, ["x", "y"]).to_pandas()) == list(labels)


def test_a_renamed_index_of_pandas_leaves_the_labels_as_they_are() -> None:
    frame = pd.DataFrame({0: [1, 2]}, index=pd.Index([7, 8], name="key"))
    renamed = ck.table(frame).rename({"key": "other"}).to_pandas()
    pd.testing.assert_frame_equal(renamed, frame.rename_axis("other"))


def test_columns_are_selected_dropped_and_renamed() -> None:
    assert TABLE.select(["y", 0]).column_names == ["y", "x"]
    assert TABLE[["y"]].column_names == TABLE.drop("x").column_names == ["y"]
    assert TABLE.rename({"x": "z"}).column_names == ["z", "y"]
    for rows in (TABLE, TABLE.batches[0]):
        assert ["x" in rows, "z" in rows, 0 in rows] == [True, False, False]
    assert TABLE.rename(["p", "q"]).to_pydict() == {"p": X, "q": Y}
    assert TABLE.rename(str.upper).to_pydict() == {"X": X, "Y": Y}
    with pytest.raises(KeyError, match="no field named 'z'"):
        TABLE.drop(["z"])
    with pytest.raises(ValueError, match="1 names for 2 columns"):
        TABLE.rename(["p"])


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5]),
        (ck.array([1, 2, 3, 4, 5]), [1, 2, 3, 4, 5]),
        (pa.chunked_array([[1], [2, 3, 4, 5]]), [1, 2, 3, 4, 5]),
        (np.arange(1, 6), [1, 2, 3, 4, 5]),
        ("text", ["text"] * 5),
        (lambda x: x + 1, [4, None, 2, 5, 2]),
    ],
    ids=["list", "array", "chunks", "numpy", "value", "row function"],
)
def test_a_column_more(column: Any, expected: list[Any]) -> None:
    assert TABLE.with_column("z", column).to_pydict() == {"x": X, "y": Y, "z": expected}
    assert TABLE.with_column("x", column).to_pydict() == {"x": expected, "y": Y}
    batch = TABLE.combine_chunks().batches[0]
    assert batch.with_column("z", column)["z"].to_pylist() == expected


def test_a_column_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="column: 2 values for 5 rows"):
        TABLE.with_column("z", [1, 2])


def test_a_function_of_one_parameter_that_is_no_column_gets_the_row() -> None:
    assert TABLE.with_column("z", lambda row: row["x"])["z"].to_pylist() == X


def test_concat_of_batches_is_a_batch_and_of_tables_a_table() -> None:
    first, *_ = TABLE.batches
    joined = ck.concat([first, first])
    assert isinstance(joined, ck.RecordBatch)
    assert joined.to_pydict() == {"x": X[:2] * 2, "y": Y[:2] * 2}
    both = ck.concat([TABLE, TABLE])
    assert both.num_batches == 6
    assert both.to_pydict() == {"x": X * 2, "y": Y * 2}
    assert ck.concat([TABLE, first]).length == 7


def test_tables_are_equal_however_they_are_cut() -> None:
    assert TABLE.combine_chunks() == TABLE
    assert TABLE.rename({"x": "z"}) != TABLE
    assert pickle.loads(pickle.dumps(TABLE)) == TABLE
    assert len(pickle.dumps(ck.table({"n": range(10_000)}).head(1))) < 2_000


def test_other_libraries_get_the_table() -> None:
    assert TABLE.to_pyarrow().equals(pa.table(TABLE))
    assert TABLE.to_pyarrow().combine_chunks().equals(ARROW)
    assert TABLE.to_polars().to_dicts() == ARROW.to_pylist()
    assert TABLE.to_pandas().equals(ARROW.to_pandas())
    frame = TABLE.to_pandas(arrow=True)
    assert frame.dtypes.tolist() == [pd.ArrowDtype(pa.int64()), pd.ArrowDtype(pa.string())]
    assert TABLE["x"].to_polars().to_list() == X


def test_the_text_is_that_of_the_first_and_last_rows() -> None:
    lines = repr(TABLE).splitlines()
    assert lines[0] == "<colkern.Table: 5 rows, 2 columns, 3 batches>"
    assert lines[1].split() == ["x", "y"]
    assert lines[4].split() == ["3", "'a'"]
    assert "<th>x</th>" in TABLE._repr_html_()
    assert "&lt;b&gt;" in ck.table({"<b>": [1]})._repr_html_()
    wide = ck.table({f"column {i}": [i] for i in range(100)})
    assert max(map(len, repr(wide).splitlines())) <= 104


def test_files_are_read_as_tables_and_written_from_them(tmp_path: Path) -> None:
    path = tmp_path / "table.arrow"
    ck.ipc.write_file(path, TABLE)
    assert ck.ipc.read_table(path) == TABLE
    assert ck.ipc.read_table(path, columns=["y"]).to_pydict() == {"y": Y}
    chosen = ck.ipc.read_table(path, columns=["y"], filters=[("x", ">=", 3), ("y", "!=", "d")])
    assert chosen.to_pydict() == {"y": ["a"]}
    with pytest.raises(ValueError, match=r"filters: x '~': expected one of =="):
        ck.ipc.read_table(path, filters=[("x", "~", 1)])
    told: list[tuple[str, int, int | None]] = []
    with ck.progress(lambda *step: told.append(step)):
        ck.ipc.read_table(path)
    assert told == [("reading batches", n, 3) for n in (1, 2, 3)]
