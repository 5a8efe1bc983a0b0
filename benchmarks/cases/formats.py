"""Cases of the IPC formats: files with many columns, with many batches, and compressed ones."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa

import colkern as ck
from benchmarks.case import Case, compared


def _int_file(columns: int, batches: int, rows: int) -> pa.Buffer:
    """A file with columns of int64 values."""
    arrays = [pa.array(np.arange(rows) + i) for i in range(columns)]
    batch = pa.record_batch(arrays, [f"column_{i}" for i in range(columns)])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, batch.schema) as writer:
        for _ in range(batches):
            writer.write_batch(batch)
    return sink.getvalue()


@compared(target=1.5, rows=(8,), columns=(10_000,))
def read_one_column(rows: int, columns: int) -> Case:
    """Open a file of ten batches, and read one column of each."""
    data = _int_file(columns, 10, rows)
    chosen = columns // 2

    def ours() -> list[ck.Array]:
        reader = ck.ipc.open_file(data)
        return [batch.column(chosen) for batch in reader]

    def theirs() -> list[pa.Array]:
        options = pa.ipc.IpcReadOptions(included_fields=[chosen], use_threads=False)
        reader = pa.ipc.open_file(data, options=options)
        return [reader.get_batch(i).column(0) for i in range(reader.num_record_batches)]

    work = {"colkern": ours, "pyarrow": theirs}
    return Case(data.size, work)


@compared(target=0.5, rows=(8,), shape=((10_000, 10), (10, 1_000)))
def read_all_columns(rows: int, shape: tuple[int, int]) -> Case:
    """Open a file, and take every column of every batch."""
    data = _int_file(*shape, rows)

    def ours() -> list[list[ck.Array]]:
        return [batch.columns for batch in ck.ipc.open_file(data)]

    def theirs() -> list[list[pa.Array]]:
        reader = pa.ipc.open_file(data, options=pa.ipc.IpcReadOptions(use_threads=False))
        return [reader.get_batch(i).columns for i in range(reader.num_record_batches)]

    work = {"colkern": ours, "pyarrow": theirs}
    return Case(data.size, work)


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


@compared(target=0.9, rows=(1_000, 2_000_000), codec=("lz4", "zstd"))
def compressed_read(rows: int, codec: str) -> Case:
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
    return Case(batch.nbytes, work)


@compared(target=0.9, rows=(1_000, 2_000_000), codec=("lz4", "zstd"))
def compressed_write(rows: int, codec: str) -> Case:
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
    return Case(batch.nbytes, work, folder)
