"""Shared parts of tests of reading into device memory: batches, sources, and their results."""

from __future__ import annotations

import io
import socket
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from flatbuf import Type
from fuzz.recording import as_file, take_apart
from ipc.handmade import EOS, Batch, WireField, int_type, schema_message
from ipc.written import written as written

import colkern as ck
from colkern import Array, ColkernError, InvalidArrowError, RecordBatch
from colkern.cuda import stand_in

INT8 = WireField("i", Type.Int, int_type(8, True))


def batch_of(seed: int, rows: int = 3_000) -> RecordBatch:
    """Numbers with and without nulls, and text: of several slots of the stand-in."""
    numbers = np.arange(seed, seed + rows)
    return ck.record_batch(
        {
            "plain": ck.array(numbers),
            "nulls": ck.array([None if n % 7 == 0 else n for n in numbers.tolist()]),
            "text": ck.array([f"text {n}" for n in numbers.tolist()]),
        }
    )


BATCHES = [batch_of(1000 * k) for k in range(3)]
VALUES = [batch.to_pylist() for batch in BATCHES]


def padded(size: int) -> int:
    return size + -size % 64


def buffer_sizes(array: Array) -> Iterator[int]:
    """The bytes of all buffers of an array on the host; of what is in a message, all."""
    yield from (buffer.size for buffer in array.buffers if buffer is not None)
    for child in array.children:
        yield from buffer_sizes(child)


def wanted_bytes(columns: Any) -> int:
    return sum(padded(size) for column in columns for size in buffer_sizes(column))


def socket_with(data: bytes, chunk: int = 1 << 16) -> socket.socket:
    """A socket whose other end sends those bytes, so many at a time, and closes."""
    here, there = socket.socketpair()

    def send() -> None:
        with there:
            for start in range(0, len(data), chunk):
                there.sendall(data[start : start + chunk])

    threading.Thread(target=send, daemon=True).start()
    return here


class Tap:
    """A source without seek that gives a few bytes at a time."""

    def __init__(self, data: bytes, step: int = 1000) -> None:
        self._data = io.BytesIO(data)
        self._step = step

    def readinto(self, view: Any) -> int:
        return self._data.readinto(memoryview(view)[: self._step])


Outcome = tuple[list[Any], str]


def outcome(read: Callable[[], Any]) -> Outcome:
    """The values of all batches that come, or what is wrong with a column; and how reading ended."""
    results: list[Any] = []
    try:
        for batch in read():
            results.append([said(partial(batch.column, i)) for i in range(batch.num_columns)])
    except ColkernError as error:
        return results, f"{type(error).__name__}: {error}"
    return results, "read"


def complaint(batch: RecordBatch) -> str | None:
    """The error of a batch's full validation, if there is one."""
    try:
        batch.validate(full=True)
    except InvalidArrowError as error:
        return str(error)
    return None


def said(column: Callable[[], Array]) -> Any:
    try:
        return ck.to_host(column()).to_pylist()
    except ColkernError as error:
        return f"{type(error).__name__}: {error}"


def assert_as_on_the_host(data: bytes, **options: Any) -> Outcome:
    expected = outcome(lambda: ck.ipc.open(data, **options))
    with stand_in.installed():
        assert outcome(lambda: ck.ipc.open(data, device="cuda", **options)) == expected
        on_the_way = outcome(lambda: ck.ipc.open(Tap(data), device="cuda", **options))
        assert on_the_way == expected
    return expected


def file_of(fields: list[WireField], batches: list[Batch]) -> bytes:
    """A file of messages made by hand."""
    stream = schema_message(fields) + b"".join(batch.message() for batch in batches) + EOS
    parts = take_apart(stream)
    return as_file(parts, parts[0])
