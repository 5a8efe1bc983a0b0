"""Batches of a file that are on their way to a device while others are in use: whose stream is theirs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from ipc.on_device import BATCHES, VALUES
from ipc.written import written

import colkern as ck
from colkern.cuda import stand_in
from colkern.ipc.reading.ahead import one_ahead
from colkern.memory import Device

CUDA = Device("cuda")


class Streams:
    """A caller's current stream, which tests change, and those that other threads were given."""

    def __init__(self, device: stand_in.StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
        self.current: str | None = "s"
        self.entered: list[str] = []
        monkeypatch.setattr(device, "current_state", lambda: self.current)
        monkeypatch.setattr(device, "in_state", self.in_state)

    @contextmanager
    def in_state(self, state: str) -> Iterator[None]:
        self.entered.append(state)
        yield


@pytest.fixture
def streams(device: stand_in.StandIn, monkeypatch: pytest.MonkeyPatch) -> Streams:
    return Streams(device, monkeypatch)


class Taker:
    """Notes which items were taken, and whether that was in the caller's thread."""

    def __init__(self) -> None:
        self.caller = threading.get_ident()
        self.taken: list[tuple[int, bool]] = []

    def __call__(self, number: int) -> int:
        self.taken.append((number, threading.get_ident() == self.caller))
        return number


def test_all_but_the_first_are_taken_ahead_on_the_callers_stream(streams: Streams) -> None:
    take = Taker()
    assert list(one_ahead(take, 3, [CUDA])) == [0, 1, 2]
    assert take.taken == [(0, True), (1, False), (2, False)]
    assert streams.entered == ["s", "s"]


def test_a_stream_of_each_threads_own_is_not_that_of_another_thread(streams: Streams) -> None:
    streams.current = None
    take = Taker()
    items = one_ahead(take, 3, [CUDA])
    assert next(items) == 0
    assert take.taken == [(0, True)]
    assert list(items) == [1, 2]
    assert take.taken == [(0, True), (1, True), (2, True)]


def test_what_was_begun_on_another_stream_is_taken_again(streams: Streams) -> None:
    # Its memory would go back to that stream while this one still works on it.
    take = Taker()
    items = one_ahead(take, 3, [CUDA])
    assert next(items) == 0
    streams.current = "t"
    assert next(items) == 1
    assert take.taken[:3] == [(0, True), (1, False), (1, True)]
    assert next(items) == 2
    assert streams.entered == ["s", "t"]


def test_nothing_is_kept_of_what_is_taken_again(streams: Streams, device: stand_in.StandIn) -> None:
    sizes: list[int] = []

    def take(number: int) -> Any:
        sizes.append(device.used_bytes)
        return ck.to_device(ck.array(np.arange(1000)))

    items = one_ahead(take, 2, [CUDA])
    next(items)
    streams.current = "t"
    next(items)
    assert len(sizes) == 3
    assert sizes[-1] == 0


def test_batches_of_a_file_under_changing_streams(streams: Streams) -> None:
    results = []
    for number, batch in enumerate(ck.ipc.open(written(BATCHES, "file"), device="cuda")):
        results.append(ck.to_host(batch).to_pylist())
        streams.current = f"s{number}"
    assert results == VALUES
