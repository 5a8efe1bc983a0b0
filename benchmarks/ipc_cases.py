"""Cases of the IPC formats: files with many columns, with many batches, and compressed ones."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

import colkern as ck
from benchmarks.case import Case


def ipc_cases(quick: bool) -> Iterator[Callable[[], Case]]:
    """The cases, each made when its turn comes; `quick` makes them smaller."""
    columns, batches = (1_000, 100) if quick else (10_000, 1_000)
    yield lambda: one_of_many_columns(columns)
    yield lambda: all_columns(columns, 10, 2)
    yield lambda: all_columns(10, batches, 2)
    for codec in ("lz4", "zstd"):
        for work in (compressed_read, compressed_write):
            rows = 100_000 if quick else 2_000_000
            yield lambda work=work, codec=codec, rows=rows: work(codec, rows)  # type: ignore[misc]


def _int_file(columns: int, batches: int) -> pa.Buffer:
    """A file with columns of eight int64 values."""
    arrays = [pa.array(np.arange(8) + i) for i in range(columns)]
    batch = pa.record_batch(arrays, [f"column_{i}" for i in range(columns)])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, batch.schema) as writer:
        for _ in range(batches):
            writer.write_batch(batch)
    return sink.getvalue()


def one_of_many_columns(columns: int) -> Case:
    """Open a file of ten batches, and read one column of each."""
    data = _int_file(columns, 10)
    chosen = columns // 2

    def ours() -> list[ck.Array]:
        reader = ck.ipc.open_file(data)
        return [batch.column(chosen) for batch in reader]

    def theirs() -> list[pa.Array]:
        options = pa.ipc.IpcReadOptions(included_fields=[chosen], use_threads=False)
        reader = pa.ipc.open_file(data, options=options)
        return [reader.get_batch(i).column(0) for i in range(reader.num_record_batches)]

    work = {"colkern": ours, "pyarrow": theirs}
    return Case(f"open, {columns:,} columns, 10 batches, read one", data.size, work, 1.5)


def all_columns(columns: int, batches: int, most: float) -> Case:
    """Open a file, and take every column of every batch; in at most `most` times the peer's time."""
    data = _int_file(columns, batches)

    def ours() -> list[list[ck.Array]]:
        return [batch.columns for batch in ck.ipc.open_file(data)]

    def theirs() -> list[list[pa.Array]]:
        reader = pa.ipc.open_file(data, options=pa.ipc.IpcReadOptions(use_threads=False))
        return [reader.get_batch(i).columns for i in range(reader.num_record_batches)]

    work = {"colkern": ours, "pyarrow": theirs}
    name = f"open, {columns:,} columns, {batches:,} batches, touch all"
    return Case(name, data.size, work, 1 / most)


def _table(rows: int) -> pa.RecordBatch:
    """Columns that compress as data does: some well, some hardly."""
    rng = np.random.default_rng(1)
    words = np.array([f"word {i}" for i in range(3_000)])
    return pa.record_batch(
        {
            "small": rng.integers(0, 1000, rows),
            "price": np.round(rng.normal(size=rows), 2),
            "words": pa.array(words[rng.zipf(1.3, rows) % len(words)]),
            "key": np.arange(rows),
        }
    )


def _write_theirs(path: Path, batch: pa.RecordBatch, codec: str) -> None:
    options = pa.ipc.IpcWriteOptions(compression=codec, use_threads=pa.cpu_count() > 1)
    with (
        pa.OSFile(str(path), "wb") as sink,
        pa.ipc.new_file(sink, batch.schema, options=options) as w,
    ):
        w.write_batch(batch)


def compressed_read(codec: str, rows: int) -> Case:
    """All columns of one batch, in a file that pyarrow has written."""
    batch = _table(rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "compressed.arrow"
        _write_theirs(path, batch, codec)
        data = pa.py_buffer(path.read_bytes())

    def theirs() -> pa.RecordBatch:
        options = pa.ipc.IpcReadOptions(use_threads=pa.cpu_count() > 1)
        return pa.ipc.open_file(data, options=options).get_batch(0)

    work = {"colkern": lambda: ck.ipc.open_file(data)[0].columns, "pyarrow": theirs}
    return Case(f"read {codec}, {batch.nbytes >> 20} MiB", batch.nbytes, work, 0.9)


def compressed_write(codec: str, rows: int) -> Case:
    """One batch into a file."""
    batch = _table(rows)
    ours = ck.record_batch(batch)
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name)

    def write_ours() -> None:
        ck.ipc.write_file(path / "ours.arrow", ours, compression=codec)

    work = {
        "colkern": write_ours,
        "pyarrow": lambda: _write_theirs(path / "theirs.arrow", batch, codec),
    }
    return Case(f"write {codec}, {batch.nbytes >> 20} MiB", batch.nbytes, work, 0.9, folder)
