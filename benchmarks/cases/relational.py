"""Groups, joins, sorts by several keys, distinct values."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

import colkern as ck
from benchmarks import data
from benchmarks.case import Case, compared
from benchmarks.timing import Work

ROWS = (1_000_000, 10_000_000)
KEYS = ("int64", "text")


def keys_of(numbers: np.ndarray[tuple[int], np.dtype[np.int64]], kind: str) -> pa.Array:
    """Keys for numbers: these times a prime, or text."""
    if kind == "int64":
        return pa.array(numbers * 7919)
    names = pa.array([f"customer {n:07d}" for n in range(int(numbers.max()) + 1)])
    return names.take(pa.array(numbers))


def batch_of(table: pa.Table) -> ck.RecordBatch:
    return ck.record_batch({n: table[n].combine_chunks() for n in table.column_names})


def queried(sql: str, **tables: pa.Table) -> Work:
    """A query of DuckDB's, on one thread."""
    connection = duckdb.connect()
    connection.execute("set threads = 1")
    for name, table in tables.items():
        connection.register(name, table)
    return lambda: connection.sql(sql).to_arrow_table()


@compared(target=1.0, rows=ROWS, groups=(10_000, 10, 1_000_000), keys=("int64", "text", "two"))
def group_by(rows: int, groups: int, keys: str) -> Case:
    """The sum and the greatest value of each group."""
    numbers = data.random().integers(0, groups, rows)
    own = {"k": keys_of(numbers, "text" if keys == "text" else "int64")}
    if keys == "two":
        own["j"] = pa.array((numbers % 7).astype(np.int32))
    table = pa.table(own | {"v": data.numbers(rows, "float64"), "n": data.numbers(rows, "int32")})
    batch, frame = batch_of(table), pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    names = list(own)
    asked = [("v", "sum"), ("n", "max")]
    by = ", ".join(names)
    work: dict[str, Work] = {
        "colkern": lambda: ck.group_by(batch, names).aggregate(asked),
        "pyarrow": lambda: table.group_by(names, use_threads=False).aggregate(asked),
        "polars": lambda: frame.group_by(names).agg(pl.col("v").sum(), pl.col("n").max()),
        "DuckDB": queried(f"select {by}, sum(v), max(n) from t group by {by}", t=table),
    }
    return Case(table.nbytes, work)


@compared(target=1.0, rows=ROWS, keys=KEYS, matches=("n:1", "1:1"))
def join(rows: int, keys: str, matches: str) -> Case:
    """The rows of two tables with the same key."""
    several = rows if matches == "1:1" else rows // 10
    random = data.random()
    numbers = random.permutation(rows) if matches == "1:1" else random.integers(0, several, rows)
    left = pa.table({"k": keys_of(numbers, keys), "v": data.numbers(rows, "float64")})
    right = pa.table(
        {"k": keys_of(random.permutation(several), keys), "d": data.numbers(several, "float64")}
    )
    batches = batch_of(left), batch_of(right)
    frames = [pl.DataFrame(pl.from_arrow(table)) for table in (left, right)]
    work: dict[str, Work] = {
        "colkern": lambda: ck.join(*batches, "k"),
        "pyarrow": lambda: left.join(right, "k", join_type="inner", use_threads=False),
        "polars": lambda: frames[0].join(frames[1], on="k"),
        "DuckDB": queried("select l.*, r.d from l join r using (k)", l=left, r=right),
    }
    return Case(left.nbytes + right.nbytes, work)


@compared(target=1.0, rows=ROWS, groups=(0, 1000))
def join_asof(rows: int, groups: int) -> Case:
    """The last row of another table that is not later, in the same group; both are in order."""
    random = data.random()
    tables = [
        {"t": np.sort(random.integers(0, 10**12, rows)), name: random.random(rows)}
        for name in ("v", "w")
    ]
    if groups:
        tables = [table | {"g": random.integers(0, groups, rows)} for table in tables]
    by = "g" if groups else None
    left, right = map(ck.record_batch, tables)
    frames, theirs = list(map(pl.DataFrame, tables)), list(map(pd.DataFrame, tables))
    work: dict[str, Work] = {
        "colkern": lambda: ck.join_asof(left, right, "t", by or ()),
        "polars": lambda: frames[0].join_asof(frames[1], on="t", by=by, check_sortedness=False),
        "pandas": lambda: pd.merge_asof(*theirs, on="t", by=by),
    }
    return Case(left.nbytes + right.nbytes, work)


@compared(target=1.0, rows=ROWS, keys=("three", "text", "few texts"))
def sort_rows(rows: int, keys: str) -> Case:
    """The positions of rows in order."""
    random = data.random()
    table = pa.table(
        {"a": keys_of(random.integers(0, rows if keys == "text" else 1000, rows), "text")}
    )
    if keys == "three":
        small = [random.integers(0, 1000, rows) for _ in range(2)]
        table = pa.table({"a": small[0], "b": small[1].astype(np.int32), "c": random.random(rows)})
    batch, frame = batch_of(table), pl.DataFrame(pl.from_arrow(table))
    ascending = [(name, "ascending") for name in table.column_names]
    work: dict[str, Work] = {
        "colkern": lambda: ck.sort_indices(batch),
        "pyarrow": lambda: pc.sort_indices(table, ascending),
        "polars": lambda: frame.select(pl.arg_sort_by(table.column_names)),
    }
    return Case(table.nbytes + 8 * rows, work)


@compared(target=1.0, rows=ROWS, distinct=(10_000, 10, 1_000_000), keys=KEYS)
def unique(rows: int, distinct: int, keys: str) -> Case:
    """The different values."""
    peer = keys_of(data.random().integers(0, distinct, rows), keys)
    ours, series = ck.array(peer), pl.Series(pl.from_arrow(peer))
    work: dict[str, Work] = {
        "colkern": lambda: ck.unique(ours),
        "pyarrow": lambda: pc.unique(peer),
        "polars": lambda: series.unique(maintain_order=True),
    }
    return Case(peer.nbytes, work)
