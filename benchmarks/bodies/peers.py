"""Other libraries that bring a file's columns into device memory, if they are installed."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.timing import Work
from colkern.cuda import memory


def peers(path: Path) -> dict[str, Work]:
    """The work of each, by its name; all leave all buffers of the file on the device."""
    ways: dict[str, Work] = {"pyarrow, then CuPy": lambda: _by_cupy(path)}
    if _has("pyarrow.cuda"):
        ways["pyarrow.cuda"] = lambda: _by_pyarrow(path)
    if _has("cudf"):
        ways["pyarrow, then cuDF"] = lambda: _by_cudf(path)
    return ways


def _has(name: str) -> bool:
    try:
        importlib.import_module(name)
    except (ImportError, OSError, RuntimeError):
        return False
    return True


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    """On the host: not copied where the file is not compressed."""
    with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as reader:
        for number in range(reader.num_record_batches):
            yield reader.get_batch(number)


def _by_cupy(path: Path) -> list[Any]:
    """One copy of each buffer."""
    arrays = memory.array_library()
    return [
        arrays.array(np.frombuffer(buffer, np.uint8))
        for batch in _batches(path)
        for column in batch.columns
        for buffer in column.buffers()
        if buffer is not None
    ]


def _by_pyarrow(path: Path) -> list[Any]:
    """Each batch as a message of the stream format, in its memory on the device."""
    cuda = importlib.import_module("pyarrow.cuda")
    context = cuda.Context(0)
    batches = list(_batches(path))
    messages = [cuda.serialize_record_batch(batch, context) for batch in batches]
    return [cuda.read_record_batch(message, batches[0].schema) for message in messages]


def _by_cudf(path: Path) -> Any:
    with pa.memory_map(str(path)) as source:
        return importlib.import_module("cudf").DataFrame.from_arrow(
            pa.ipc.open_file(source).read_all()
        )
