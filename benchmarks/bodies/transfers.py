"""A plain file to the device, batches to the device and back, and files written from there."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import colkern as ck
from benchmarks.bodies.contestant import RATE, SECONDS, Against, Contestant, Group, Place
from benchmarks.bodies.peers import peers
from benchmarks.bodies.tables import TWO, array_bytes, body_bytes, write_table
from benchmarks.bodies.yardsticks import TO_DEVICE, TO_HOST, yardsticks
from colkern.memory import Buffer, Device, allocate_for_overwrite

READ = "file to the device"

LEAST_RATE = 0.85
"""The target of reading a file to the device, as a share of a copy from page-locked memory."""

MOST_SECONDS = 1 / 20
"""The share of the time for a hundred columns that two of them may take."""


@contextmanager
def transfers(place: Place) -> Iterator[list[Contestant]]:
    """The yardsticks, and whatever is a copy at its best."""
    path = place.folder / "plain.arrow"
    write_table(path, place.size)
    try:
        yield [
            *yardsticks(place),
            *_reading(path, place.device),
            *_moving(path, place.device),
            *_writing(path, place),
        ]
    finally:
        path.unlink()


TRANSFERS = Group("transfers", transfers)


def _reading(path: Path, device: Device) -> list[Contestant]:
    nbytes = body_bytes(path)
    facts = {"body_bytes": nbytes, "stored_bytes": path.stat().st_size}

    def read(columns: list[str] | None = None) -> list[ck.RecordBatch]:
        return list(ck.ipc.open_file(path, columns=columns, device=device))

    def read_columns() -> list[list[ck.Array]]:
        return [batch.columns for batch in ck.ipc.open_file(path, device=device)]

    def read_mapped() -> list[ck.RecordBatch]:
        with open(path, "rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return list(ck.ipc.open_file(mapped, device=device))

    return [
        Contestant(READ, read, nbytes, Against(RATE, TO_DEVICE, LEAST_RATE), facts),
        Contestant(
            f"{READ}, 2 of 100 columns",
            lambda: read(TWO),
            body_bytes(path, TWO),
            Against(SECONDS, READ, MOST_SECONDS),
            facts,
        ),
        Contestant(
            f"{READ}, each column taken", read_columns, nbytes, Against(RATE, TO_DEVICE), facts
        ),
        Contestant(f"{READ}, mapped", read_mapped, nbytes, Against(RATE, TO_DEVICE), facts),
        *(
            Contestant(f"{READ}: {name}", work, nbytes, Against(RATE, TO_DEVICE), facts)
            for name, work in peers(path).items()
        ),
    ]


def _moving(path: Path, device: Device) -> list[Contestant]:
    on_host = list(ck.ipc.open_file(_in_memory(path)))
    on_device = [ck.to_device(batch, device) for batch in on_host]
    nbytes = _bytes_of(on_host)
    return [
        Contestant(
            "to_device",
            lambda: [ck.to_device(batch, device) for batch in on_host],
            nbytes,
            Against(RATE, TO_DEVICE),
        ),
        Contestant(
            "to_host",
            lambda: [ck.to_host(batch) for batch in on_device],
            nbytes,
            Against(RATE, TO_HOST),
        ),
    ]


def _writing(path: Path, place: Place) -> list[Contestant]:
    batches = list(ck.ipc.open_file(path, device=place.device))
    written = place.folder / "written.arrow"

    def to_nowhere() -> None:
        with open(os.devnull, "wb", buffering=0) as sink:
            ck.ipc.write_stream(sink, batches)

    def to_file() -> None:
        ck.ipc.write_file(written, batches)
        written.unlink()

    works = {"stream from the device to nowhere": to_nowhere, "file from the device": to_file}
    nbytes = _bytes_of(batches)
    return [Contestant(case, work, nbytes, Against(RATE, TO_HOST)) for case, work in works.items()]


def _in_memory(path: Path) -> Buffer:
    """A file's bytes in host memory, at a multiple of 64."""
    data: Any = allocate_for_overwrite(path.stat().st_size, np.uint8)
    with open(path, "rb", buffering=0) as file:
        filled = 0
        while filled < data.size:
            filled += file.readinto(data[filled:].data) or 0
    return Buffer(data)


def _bytes_of(batches: list[ck.RecordBatch]) -> int:
    return sum(array_bytes(column) for batch in batches for column in batch.columns)
