"""The data source in a task that Spark has given a GPU: over a stand-in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import datasource as spark

import colkern as ck
from colkern.cuda.memory import count_transfers
from colkern.cuda.stand_in import StandIn
from colkern.memory import Device
from colkern.spark.source import reading
from colkern.spark.source.contents import Piece
from colkern.spark.source.reading import Request, read_pieces

N = 40


@pytest.fixture
def task(device: StandIn, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    monkeypatch.setattr(reading, "task_device", lambda: Device("cuda"))
    return device


def rows() -> list[dict[str, Any]]:
    return [
        {
            "n": n if n % 5 else None,
            "price": n / 4,
            "text": "row " * (n % 7) if n % 3 else None,
            "many": list(range(n % 4)),
        }
        for n in range(N)
    ]


def file_of(folder: Path, compression: str | None) -> str:
    path = folder / "rows.arrow"
    batch = pa.RecordBatch.from_pylist(rows())
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(path, batch.schema, options=options) as writer:
        for start in range(0, N, 10):
            writer.write(batch.slice(start, 10))
    return str(path)


FILTERS = {
    "equal": (spark.EqualTo(("n",), 7), lambda row: row["n"] == 7),
    "greater": (spark.GreaterThan(("price",), 5.0), lambda row: row["price"] > 5),
    "at most": (
        spark.LessThanOrEqual(("n",), 12),
        lambda row: row["n"] is not None and row["n"] <= 12,
    ),
    "in": (spark.In(("n",), (3, 11, None)), lambda row: row["n"] in (3, 11)),
    "prefix": (
        spark.StringStartsWith(("text",), "row row"),
        lambda row: (row["text"] or "").startswith("row row"),
    ),
    "null": (spark.IsNull(("text",)), lambda row: row["text"] is None),
    "not null": (spark.IsNotNull(("price",)), lambda row: True),
    "order of strings": (
        spark.LessThan(("text",), "row row"),
        lambda row: row["text"] is not None and row["text"] < "row row",
    ),
}


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("name", FILTERS)
def test_rows_are_chosen_on_the_device(
    name: str, compression: str | None, task: StandIn, tmp_path: Path
) -> None:
    path = file_of(tmp_path, compression)
    filter_, passes = FILTERS[name]
    request = Request(request_schema(path), (filter_,))
    with count_transfers() as counted:
        actual = [
            row for batch in read_pieces([Piece(path, None)], request) for row in batch.to_pylist()
        ]
    assert actual == list(filter(passes, rows()))
    assert counted.bytes_to_device > 0


def request_schema(path: str) -> ck.Schema:
    with ck.ipc.open(path) as reader:
        return reader.schema


def test_without_filters_nothing_goes_there(task: StandIn, tmp_path: Path) -> None:
    path = file_of(tmp_path, None)
    with count_transfers() as counted:
        actual = list(read_pieces([Piece(path, None)], Request(request_schema(path))))
    assert sum(batch.num_rows for batch in actual) == N
    assert counted.bytes_to_device == 0


def test_columns_that_need_a_conversion_stay_on_the_host(task: StandIn, tmp_path: Path) -> None:
    path = file_of(tmp_path, None)
    schema = ck.Schema([ck.field("n", ck.int32())])
    with count_transfers() as counted:
        (batch,) = read_pieces([Piece(path, None)], Request(schema, (spark.EqualTo(("n",), 7),)))
    assert batch.to_pylist() == [{"n": 7}]
    assert counted.bytes_to_device == 0
