"""Batches that several threads, processes and columns read at once."""

from __future__ import annotations

import copy
import io
import pickle
import threading
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import batch_from_pyarrow

import colkern.ipc
import colkern.schema as s
from colkern import Array, InvalidArrowError, LimitExceededError, RecordBatch, Schema, StreamError
from colkern.ipc.limits import Limits
from colkern.memory import EMPTY, Buffer

WIDE = pa.record_batch({f"c{i}": pa.array(np.arange(5_000) + i) for i in range(20)})


def written(batch: RecordBatch, **options: Any) -> bytes:
    sink = io.BytesIO()
    colkern.ipc.write_stream(sink, batch, **options)
    return sink.getvalue()


@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
def test_threads_that_ask_for_all_columns_get_the_same_ones(codec: Any) -> None:
    data = written(batch_from_pyarrow(WIDE), compression=codec)
    # Enough for the batch once, and not twice.
    limits = Limits(decompressed_bytes=WIDE.nbytes + 1_000)
    for _ in range(5):
        (batch,) = colkern.ipc.open(data, limits=limits)
        found: list[Any] = []
        started = threading.Barrier(4)

        def ask(
            batch: RecordBatch = batch,
            found: list[Any] = found,
            started: threading.Barrier = started,
        ) -> None:
            started.wait()
            found.append(batch.columns)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 4
        for columns in found[1:]:
            assert all(a is b for a, b in zip(columns, found[0], strict=True))


def test_one_damaged_column_does_not_take_the_others_along() -> None:
    data = bytearray(written(batch_from_pyarrow(WIDE), compression="zstd"))
    last = data.rindex(b"\x28\xb5\x2f\xfd")
    data[last + 8 : last + 200] = bytes(192)
    (batch,) = colkern.ipc.open(bytes(data), limits=Limits(decompressed_bytes=WIDE.nbytes + 1_000))
    with pytest.raises(InvalidArrowError, match="column 'c19'"):
        _ = batch.columns
    assert batch.column(0).to_pylist() == WIDE.column(0).to_pylist()


@pytest.mark.parametrize(
    "column",
    [
        Array(s.fixed_size_binary(0), 1_000, [None, EMPTY]),
        Array(s.struct([]), 1_000, [None]),
        Array(s.null(), 1_000, []),
    ],
    ids=["no bytes", "no fields", "null"],
)
def test_slots_without_buffers_are_limited_however_they_are_asked_for(column: Array) -> None:
    data = written(RecordBatch(Schema([("x", column.type)]), [column]))
    limits = Limits(unbacked_length=10)
    for ask in (lambda batch: batch.column(0), lambda batch: batch.columns):
        (batch,) = colkern.ipc.open(data, limits=limits)
        with pytest.raises(LimitExceededError, match="1000 slots without a buffer"):
            ask(batch)


def test_what_was_read_is_pickled_and_copied() -> None:
    (batch,) = colkern.ipc.open(written(batch_from_pyarrow(WIDE)))
    for column in (batch.columns[3], batch.slice(10, 5).column(3)):
        for other in (pickle.loads(pickle.dumps(column)), copy.deepcopy(column)):
            assert other == column
    part = batch.slice(7, 2)
    assert pickle.loads(pickle.dumps(part)) == part
    assert pickle.loads(pickle.dumps(batch)).schema == batch.schema


def test_a_source_that_fails_once_is_not_read_on() -> None:
    data = written(batch_from_pyarrow(WIDE))

    class Once(io.BytesIO):
        failed = False

        def readinto(self, view: Any) -> int:
            if self.tell() > len(data) // 2 and not self.failed:
                self.failed = True
                raise TimeoutError("too slow")
            return super().readinto(memoryview(view)[:10_000])

    reader = colkern.ipc.open(Once(data))
    with pytest.raises(TimeoutError):
        next(reader)
    with pytest.raises(StreamError, match="the source failed before"):
        next(reader)


def test_a_bitmap_does_not_count_where_there_are_no_nulls() -> None:
    zeros = Buffer(np.zeros(1, np.uint8))
    values = Buffer(np.array([1, 2, 3], np.int8).view(np.uint8))
    column = Array(s.int8(), 3, [zeros, values], null_count=0)
    assert column.to_pylist() == [1, 2, 3]
    assert pa.array(column).to_pylist() == [1, 2, 3]
    with pytest.raises(InvalidArrowError, match="null count 0, the bitmap has 3"):
        column.validate(full=True)
