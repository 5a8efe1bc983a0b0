"""Batches of another process on the device: by CUDA IPC, and by host memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import colkern as ck
from benchmarks.bodies.contestant import SPEED, Against, Contestant, Group, Place
from benchmarks.bodies.tables import array_bytes
from benchmarks.serving_process import ServingProcess
from colkern.cuda import memory, stand_in
from colkern.dissociated import connect

SHARED = "another process's, by CUDA IPC"
PACKED = "another process's, packed"


@contextmanager
def sharing(place: Place) -> Iterator[list[Contestant]]:
    """A stream of the other process, from the request to the last batch."""
    flags = ["--stand-in"] if stand_in.installed_library() else []
    service = ServingProcess("benchmarks.bodies.service", place.size, *flags)
    uris = service.places

    def read(name: str) -> list[ck.RecordBatch]:
        with connect(uris[name], device=place.device) as reader:
            return reader.read_all()

    def read_and_copy() -> list[Any]:
        with memory.current(place.device):
            return [
                buffer.array.copy()
                for batch in read("cuda")
                for column in batch.columns
                for buffer in column.buffers
                if buffer is not None
            ]

    nbytes = sum(array_bytes(column) for batch in read("cuda") for column in batch.columns)
    against = Against(SPEED, PACKED)
    yield [
        Contestant(PACKED, lambda: read("unix"), nbytes),
        Contestant("another process's, by shared memory", lambda: read("shm"), nbytes, against),
        Contestant(SHARED, lambda: read("cuda"), nbytes, against),
        Contestant(f"{SHARED}, and copied there", read_and_copy, nbytes, against),
    ]


SHARING = Group("sharing", sharing)
