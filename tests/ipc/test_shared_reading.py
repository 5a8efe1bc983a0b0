"""Batches that several threads, processes and columns read at once."""

from __future__ import annotations

import contextlib
import copy
import io
import pickle
import random
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import batch_from_pyarrow
from ipc.written import written

import colkern.ipc
import colkern.schema as s
from colkern import (
    Array,
    InvalidArrowError,
    LimitExceededError,
    RecordBatch,
    RecordBatchStream,
    Schema,
    StreamError,
)
from colkern.cuda import stand_in
from colkern.ipc.limits import Limits
from colkern.memory import EMPTY, Buffer

WIDE = pa.record_batch({f"c{i}": pa.array(np.arange(5_000) + i) for i in range(20)})


@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
def test_threads_that_ask_for_all_columns_get_the_same_ones(codec: Any) -> None:
    data = written(batch_from_pyarrow(WIDE), compression=codec)
    # Enough for the batch once, and not twice.
    limits = Limits(decompressed_bytes=WIDE.nbytes + 1_000)
    for _ in range(5):
        (batch,) = colkern.ipc.open(data, limits=limits)
        results: list[Any] = []
        started = threading.Barrier(4)

        def ask(
            batch: RecordBatch = batch,
            results: list[Any] = results,
            started: threading.Barrier = started,
        ) -> None:
            started.wait()
            results.append(batch.columns)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(results) == 4
        for columns in results[1:]:
            assert all(a is b for a, b in zip(columns, results[0], strict=True))


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
    asks: list[Callable[[RecordBatch], object]] = [
        lambda batch: batch.column(0),
        lambda batch: batch.columns,
    ]
    for ask in asks:
        (batch,) = colkern.ipc.open(data, limits=limits)
        with pytest.raises(LimitExceededError, match="1000 slots without a buffer"):
            ask(batch)


def test_what_was_read_is_pickled_and_copied() -> None:
    (batch,) = colkern.ipc.open(written(batch_from_pyarrow(WIDE)))
    for column in (batch.columns[3], batch.slice(10, 5).column(3)):
        for other in (pickle.loads(pickle.dumps(column)), copy.deepcopy(column)):
            assert other.equals(column)
    part = batch.slice(7, 2)
    assert pickle.loads(pickle.dumps(part)).equals(part)
    assert pickle.loads(pickle.dumps(batch)).schema == batch.schema


ROWS = 5_000
TEXTS = [f"a text of more than twelve bytes: {i}" for i in range(ROWS)]
COLUMNS = {
    "numbers": pa.array(range(ROWS)),
    "nulls": pa.array([None, 1] * (ROWS // 2)),
    "booleans": pa.array([True, False] * (ROWS // 2)),
    "text": pa.array(TEXTS),
    "views": pa.array(TEXTS, pa.string_view()),
    "lists": pa.array([[text] for text in TEXTS]),
    "list views": pa.array([[text] for text in TEXTS], pa.list_view(pa.string())),
    "fixed lists": pa.array([[i, i] for i in range(ROWS)], pa.list_(pa.int64(), 2)),
    "structs": pa.array([{"x": text} for text in TEXTS]),
    "maps": pa.array([[(text, 1)] for text in TEXTS], pa.map_(pa.string(), pa.int8())),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array(range(1, ROWS + 1), pa.int32()), TEXTS),
    "sparse": pa.UnionArray.from_sparse(pa.array([0] * ROWS, pa.int8()), [pa.array(TEXTS)]),
    "dense": pa.UnionArray.from_dense(
        pa.array([0] * ROWS, pa.int8()), pa.array(range(ROWS), pa.int32()), [pa.array(TEXTS)]
    ),
    "words": pa.array(["u", "v"] * (ROWS // 2)).dictionary_encode(),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("start", [0, 2_001, ROWS - 3])
def test_the_pickle_of_a_slice_has_its_values_alone(name: str, start: int) -> None:
    whole = colkern.array(COLUMNS[name])
    part = whole.slice(start, 3)
    batch = RecordBatch.from_arrays([whole], [name]).slice(start, 3)
    for sent in (part, batch):
        pickled = pickle.dumps(sent)
        assert len(pickled) < 3_000
        assert pickle.loads(pickled).equals(sent)
    assert pickle.loads(pickle.dumps(whole)).equals(whole)


def test_the_pickle_of_a_slice_has_its_whole_dictionary() -> None:
    """Arrays over other dictionaries differ; a dictionary that is a slice is one without the rest."""
    values = colkern.array(TEXTS)
    indices = colkern.array([0, 1, None] * 1_000, colkern.int32())
    words = Array(
        colkern.dictionary(colkern.int32(), colkern.utf8()),
        indices.length,
        indices.buffers,
        dictionary=values.slice(10, 4),
    )
    part = pickle.loads(pickle.dumps(words.slice(2_000, 2)))
    assert part.equals(words.slice(2_000, 2))
    assert part.dictionary.to_pylist() == TEXTS[10:14]
    assert len(pickle.dumps(words.slice(2_000, 2))) < 3_000


@pytest.mark.parametrize("opened", ["file", "stream", "batches"])
def test_readers_are_not_pickled(opened: str) -> None:
    batch = batch_from_pyarrow(WIDE)
    sink = io.BytesIO()
    colkern.ipc.write_file(sink, batch)
    readers: dict[str, Callable[[], Any]] = {
        "file": lambda: colkern.ipc.open(sink.getvalue()),
        "stream": lambda: colkern.ipc.open(written(batch)),
        "batches": lambda: RecordBatchStream(batch.schema, [batch]),
    }
    reader = readers[opened]()
    for use in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(
            TypeError, match=f"a {type(reader).__name__} cannot be pickled or copied"
        ):
            use(reader)


def shared_by_threads(work: Any, count: int = 4) -> list[Exception]:
    """The failures of threads that do the same, with a switch between them as often as can be."""
    failed: list[Exception] = []

    def attempt() -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - whatever it is, the test fails
            failed.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=attempt) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(interval)
    return failed


BATCHES = [
    colkern.record_batch(
        {
            "n": list(range(k + 1)),
            "text": [f"{k} of {n}" for n in range(k + 1)],
            "word": colkern.dictionary_encode(colkern.array(["u", "v"] * (k + 1))[: k + 1]),
        }
    )
    for k in range(30)
]


def source_of(kind: str, data: bytes, path: Path) -> Any:
    path.write_bytes(data)
    if kind == "socket":
        here, there = socket.socketpair()

        def send() -> None:
            with there:
                there.sendall(data)

        threading.Thread(target=send).start()
        return here
    sources: dict[str, Callable[[], Any]] = {
        "path": lambda: path,
        "bytes": lambda: data,
        "BytesIO": lambda: io.BytesIO(data),
        "file": lambda: path.open("rb"),
        "raw file": lambda: path.open("rb", buffering=0),
    }
    return sources[kind]()


@pytest.mark.parametrize("kind", ["path", "bytes", "BytesIO", "file", "raw file", "socket"])
@pytest.mark.parametrize("device", [None, "cuda"])
def test_threads_share_the_reader_of_a_stream(kind: str, device: Any, tmp_path: Path) -> None:
    """Each batch goes to one of them."""
    sink = io.BytesIO()
    colkern.ipc.write_stream(sink, BATCHES)
    with stand_in.installed() if device else contextlib.nullcontext():
        for _ in range(3):
            reader = colkern.ipc.open(
                source_of(kind, sink.getvalue(), tmp_path / "data"), device=device
            )
            taken: list[RecordBatch] = []

            def take(reader: Any = reader, taken: Any = taken) -> None:
                for batch in reader:
                    taken.append(batch)

            assert shared_by_threads(take) == []
            values = [(colkern.to_host(batch) if device else batch).to_pydict() for batch in taken]
            values.sort(key=lambda columns: len(columns["n"]))
            assert values == [batch.to_pydict() for batch in BATCHES]


@pytest.mark.parametrize("kind", ["path", "BytesIO", "file", "raw file"])
def test_threads_share_the_reader_of_a_file(kind: str, tmp_path: Path) -> None:
    """Two readers over one file object, too: neither relies on where the other leaves it."""
    sink = io.BytesIO()
    colkern.ipc.write_file(sink, BATCHES)
    source = source_of(kind, sink.getvalue(), tmp_path / "data")
    readers = [colkern.ipc.open_file(source)]
    if kind != "path":
        source.seek(0)
        readers.append(colkern.ipc.open_file(source))
        source.seek(7)

    def read() -> None:
        for position in random.sample(range(len(BATCHES)), len(BATCHES)):
            batch = readers[position % len(readers)].get_batch(position)
            assert batch.to_pydict() == BATCHES[position].to_pydict()

    assert shared_by_threads(read) == []


def test_a_source_that_fails_once_is_not_read_on() -> None:
    data = written(batch_from_pyarrow(WIDE))

    class Once(io.BytesIO):
        failed = False

        def readinto(self, view: Any) -> int:
            if self.tell() > len(data) // 2 and not self.failed:
                self.failed = True
                raise TimeoutError("too slow")
            return super().readinto(memoryview(view)[:10_000])

    reader = colkern.ipc.open_stream(Once(data))
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


@pytest.mark.parametrize("kind", ["list", "struct", "map"])
def test_the_deepest_that_is_read_is_printed_pickled_and_copied(kind: str) -> None:
    limit = Limits(nesting_depth=128)
    offsets = Buffer(np.array([0, 1, 2], np.int32).view(np.uint8))
    column = colkern.array([1, None], colkern.int8())
    for _ in range(62 if kind == "map" else 126):
        if kind == "struct":
            column = Array(s.struct([("a", column.type)]), 2, [None], [column])
        elif kind == "list":
            column = Array(s.list_(column.type), 2, [None, offsets], [column])
        else:
            type_ = s.map_(s.int8(), column.type)
            keys = colkern.array([1, 2], colkern.int8())
            entries = Array(type_.entries_field.type, 2, [None], [keys, column])
            column = Array(type_, 2, [None, offsets], [entries])
    data = written(RecordBatch.from_arrays([column], ["x"]), reader_limits=limit)
    (batch,) = colkern.ipc.open(data, limits=limit)
    assert "2 rows" in repr(batch)
    assert "2 values" in repr(batch["x"])
    for part in (batch["x"], batch["x"].slice(1)):
        part.validate(full=True)
        for other in (pickle.loads(pickle.dumps(part)), copy.deepcopy(part)):
            assert other.equals(part)
