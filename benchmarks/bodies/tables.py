"""A table of a hundred columns, in files."""

from __future__ import annotations

from functools import cache
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import pyarrow as pa

import colkern as ck
from benchmarks import data
from colkern.interchange import import_batch

COLUMNS = 100
BATCHES = 8

TWO = ["column_27", "column_72"]
"""Two columns that are no neighbours, of about the mean width."""


def write_table(path: Path, size: int, compression: str | None = None) -> None:
    """Write about `size` bytes of columns in `BATCHES` record batches: see `_batch`."""
    batch = _batch(size // BATCHES)
    with ck.ipc.new_file(path, batch.schema, compression=compression, alignment=64) as writer:
        for _ in range(BATCHES):
            writer.write(batch)


@cache
def _batch(size: int) -> ck.RecordBatch:
    """Integers, prices, codes and words, in turn: they compress as data does, some well, some hardly."""
    # What ten rows of such columns take.
    rows = max(10 * size // (COLUMNS * 75), 64)
    prices = np.round(data.random(7).normal(100, 20, rows), 2)
    kinds = [
        data.numbers(rows, "int64", distinct=1000),
        pa.array(prices),
        data.numbers(rows, "int32", nulls=0.1, distinct=100),
        data.numbers(rows, "int64"),
        pa.array(prices, mask=data.random(8).random(rows) < 0.1),
        data.strings(rows, 4, distinct=3000),
    ]
    columns = list(islice(cycle(kinds), COLUMNS))
    names = [f"column_{number}" for number in range(COLUMNS)]
    return import_batch(pa.record_batch(columns, names))


def body_bytes(path: Path, columns: list[str] | None = None) -> int:
    """The bytes of the buffers of a file's columns, without padding, as they are decompressed."""
    with ck.ipc.open_file(path, columns=columns) as reader:
        return sum(array_bytes(column) for batch in reader for column in batch.columns)


def array_bytes(array: ck.Array) -> int:
    """The bytes of an array's buffers, its children's and its dictionary's."""
    below = [*array.children, *([array.dictionary] if array.dictionary is not None else [])]
    own = sum(buffer.size for buffer in array.buffers if buffer is not None)
    return own + sum(map(array_bytes, below))
