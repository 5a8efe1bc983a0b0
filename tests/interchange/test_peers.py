"""The libraries next door, by nothing but the PyCapsule interface: polars, nanoarrow, DuckDB, arro3."""

from __future__ import annotations

import datetime as dt
import decimal
import io
from collections.abc import Callable
from typing import Any

import arro3.core
import duckdb
import nanoarrow as na
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import colkern as ck
from colkern import RecordBatch, RecordBatchStream
from colkern.interchange import import_array, import_batch, import_schema, import_stream

COLUMNS: dict[str, pa.Array] = {
    "ints": pa.array([1, None, 3], pa.int32()),
    "floats": pa.array([1.5, None, -0.0]),
    "bools": pa.array([True, None, False]),
    "text": pa.array(["a", None, "a text of more than twelve bytes"]),
    "views": pa.array(["a", None, "a text of more than twelve bytes"], pa.string_view()),
    "days": pa.array([dt.date(2020, 2, 29), None, dt.date(1, 1, 1)]),
    "moments": pa.array([0, None, -1], pa.timestamp("us", "UTC")),
    "decimals": pa.array(
        [decimal.Decimal("1.25"), None, decimal.Decimal("-3")], pa.decimal128(9, 2)
    ),
    "lists": pa.array([[1, None], None, []], pa.list_(pa.int64())),
    "structs": pa.array([{"x": 1, "y": "b"}, None, {"x": None, "y": ""}]),
    "words": pa.array(["u", None, "u"]).dictionary_encode(),
}
BATCH = pa.record_batch(COLUMNS)
ROWS = BATCH.to_pylist()


def ours() -> RecordBatch:
    return import_batch(BATCH)


def stream() -> RecordBatchStream:
    return RecordBatchStream(ours().schema, [ours(), ours().slice(1, 2)])


def rows_of(batches: RecordBatchStream) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = pa.table(batches).to_pylist()
    return result


def test_polars_reads() -> None:
    assert pl.DataFrame(stream()).to_dicts() == ROWS + ROWS[1:]


@pytest.mark.parametrize("name", COLUMNS)
def test_polars_reads_an_array(name: str) -> None:
    assert pl.Series(ours()[name]).to_list() == COLUMNS[name].to_pylist()
    assert pl.Series(ours()[name].slice(1)).to_list() == COLUMNS[name].to_pylist()[1:]


def test_polars_writes() -> None:
    frame = pl.DataFrame(BATCH)
    assert rows_of(import_stream(frame)) == ROWS
    assert rows_of(import_stream(frame[1:])) == ROWS[1:]
    assert pa.record_batch(import_batch(frame)).to_pylist() == ROWS


def test_polars_writes_a_series() -> None:
    series = pl.Series("s", ["a", None, "a text of more than twelve bytes"])
    assert pa.array(import_array(series)).to_pylist() == series.to_list()


# nanoarrow 0.8 ends the process when it iterates over views, and takes negative decimals for
# positive ones, whoever made them.
FOR_NANOARROW = [name for name in COLUMNS if name not in ("views", "decimals")]


def test_nanoarrow_reads() -> None:
    batch = ours().select(FOR_NANOARROW)
    read = na.ArrayStream(RecordBatchStream(batch.schema, [batch, batch.slice(1)])).read_all()
    expected = BATCH.select(FOR_NANOARROW).to_pylist()
    assert list(read.iter_py()) == expected + expected[1:]
    assert na.Schema(batch.schema).n_fields == len(FOR_NANOARROW)


@pytest.mark.parametrize("name", FOR_NANOARROW)
def test_nanoarrow_reads_an_array(name: str) -> None:
    assert na.Array(ours()[name]).to_pylist() == COLUMNS[name].to_pylist()
    assert na.Array(ours()[name].slice(1)).to_pylist() == COLUMNS[name].to_pylist()[1:]


def test_nanoarrow_moves_children_out() -> None:
    # nanoarrow takes columns out of a batch, which outlive it.
    batch = na.c_array(ours())
    child = batch.child(3)
    del batch
    assert na.Array(child).to_pylist() == COLUMNS["text"].to_pylist()


def test_nanoarrow_writes() -> None:
    array = na.Array(["x", None, "yy"], na.string())
    assert pa.array(import_array(array)).to_pylist() == ["x", None, "yy"]
    assert import_schema(na.Schema(BATCH.schema)) == ours().schema
    assert rows_of(import_stream(na.ArrayStream(BATCH))) == ROWS


def test_duckdb_reads() -> None:
    batches = stream()
    relation = duckdb.connect().sql("select ints, text, lists from batches")
    expected = [tuple(row[name] for name in ("ints", "text", "lists")) for row in ROWS + ROWS[1:]]
    assert relation.fetchall() == expected
    assert batches.read_all() == []


def test_duckdb_reads_a_part() -> None:
    batches = stream()  # DuckDB finds it by its name
    actual = duckdb.connect().sql("select sum(ints) from batches where text is not null").fetchall()
    assert actual == [(1 + 3 + 3,)]
    assert batches.read_all() == []


def test_duckdb_writes() -> None:
    relation = duckdb.connect().sql(
        "select i, i::varchar as t, [i, null] as l from range(5000) r(i)"
    )
    batches = import_stream(relation).read_all()
    assert sum(len(batch) for batch in batches) == 5000
    table = pa.Table.from_batches([pa.record_batch(batch) for batch in batches])
    assert table["i"].to_pylist() == list(range(5000))
    assert table["t"].to_pylist() == [str(i) for i in range(5000)]
    assert table["l"][4999].as_py() == [4999, None]


def test_arro3_goes_both_ways() -> None:
    there = arro3.core.Table.from_arrow(stream())
    assert rows_of(import_stream(there)) == ROWS + ROWS[1:]
    array = arro3.core.Array.from_arrow(ours()["structs"].slice(1))
    assert pa.array(import_array(array)).to_pylist() == COLUMNS["structs"].to_pylist()[1:]


# What a new user writes with a batch or a reader: the right table, or an error that says what to write.

TABLE = ck.record_batch({"a": [1, None, 3], "b": ["x", "y", None]})
TABLE_ROWS = TABLE.to_pylist()


def written(write: Callable[..., None]) -> bytes:
    sink = io.BytesIO()
    write(sink, [TABLE, TABLE.slice(1)])
    return sink.getvalue()


TABLES: dict[str, tuple[Callable[[], Any], list[dict[str, Any]]]] = {
    "batch": (lambda: TABLE, TABLE_ROWS),
    "slice": (lambda: TABLE.slice(1), TABLE_ROWS[1:]),
    "file": (lambda: ck.ipc.open(written(ck.ipc.write_file)), TABLE_ROWS + TABLE_ROWS[1:]),
    "stream": (lambda: ck.ipc.open(written(ck.ipc.write_stream)), TABLE_ROWS + TABLE_ROWS[1:]),
    "batches": (
        lambda: RecordBatchStream(TABLE.schema, [TABLE, TABLE.slice(1)]),
        TABLE_ROWS + TABLE_ROWS[1:],
    ),
    "structs": (lambda: ck.array(TABLE_ROWS), TABLE_ROWS),
}


def by_duckdb(data: Any) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = duckdb.sql("select * from data").to_arrow_table().to_pylist()
    return result


CALLS: dict[str, Callable[[Any], list[dict[str, Any]]]] = {
    "polars.DataFrame": lambda table: pl.DataFrame(table).to_dicts(),
    # polars makes a column of structs of what is not pyarrow's.
    "polars.from_arrow": lambda table: pl.from_arrow(table).to_list(),
    "pyarrow.table": lambda table: pa.table(table).to_pylist(),
    "pyarrow.chunked_array": lambda table: pa.chunked_array(table).to_pylist(),
    "pandas.DataFrame.from_arrow": lambda table: (
        pd.DataFrame.from_arrow(table)
        .astype(object)
        .replace({float("nan"): None})
        .to_dict("records")
    ),
    "duckdb.sql": by_duckdb,
    "nanoarrow.Array": lambda table: na.Array(table).to_pylist(),
    "nanoarrow.ArrayStream": lambda table: na.ArrayStream(table).read_all().to_pylist(),
    "arro3.core.Table": lambda table: pa.table(arro3.core.Table(table)).to_pylist(),
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("call", CALLS)
def test_the_obvious_call_gives_the_table(call: str, kind: str) -> None:
    make, rows = TABLES[kind]
    assert CALLS[call](make()) == rows


@pytest.mark.parametrize("kind", [kind for kind in TABLES if kind != "structs"])
def test_a_table_is_a_stream_of_its_batches(kind: str) -> None:
    make, rows = TABLES[kind]
    assert pa.RecordBatchReader.from_stream(make()).read_all().to_pylist() == rows
    assert [row for batch in import_stream(make()) for row in batch.to_pylist()] == rows


@pytest.mark.parametrize("kind", [kind for kind in TABLES if kind != "structs"])
@pytest.mark.parametrize("call", [pd.DataFrame, np.asarray])
def test_what_knows_no_arrow_is_told_what_does(call: Callable[[Any], Any], kind: str) -> None:
    make, _ = TABLES[kind]
    with pytest.raises(
        TypeError, match=r"is a table, not one array.*pandas\.DataFrame\.from_arrow"
    ):
        call(make())


@pytest.mark.parametrize(
    "call", [pl.DataFrame, pa.table, pd.DataFrame.from_arrow, pa.RecordBatchReader.from_stream]
)
def test_an_array_of_numbers_is_no_table(call: Callable[[Any], Any]) -> None:
    with pytest.raises((TypeError, ValueError, pl.exceptions.SchemaError), match=r"truct|stream"):
        call(ck.array([1, 2]))


def test_a_reader_of_a_file_has_positions_and_slices() -> None:
    reader = ck.ipc.open_file(written(ck.ipc.write_file))
    assert len(reader) == 2
    assert reader[0] == reader[-2] == TABLE
    assert reader[1:] == [TABLE.slice(1)]
    assert TABLE in reader
    assert list(reversed(reader)) == [TABLE.slice(1), TABLE]
