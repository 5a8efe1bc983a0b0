"""Work on several streams, some of it done as late as it may be, some as early: no wait may be missing.

Each of colkern's waits is taken away as well, to see that something is wrong then.
"""

from __future__ import annotations

import gc
import io
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cuda import strict_device
from cuda.strict_device import StrictDevice
from operations.samples import sample, samples

import colkern as ck
from colkern.arrays import Array
from colkern.cuda import memory
from colkern.errors import InvalidArrowError
from colkern.interchange import device_arrays, tensors
from colkern.ipc import write_file, write_stream
from colkern.ipc.reading.batches import BatchColumns

Seen = Iterator[tuple[object, object]]
"""Values as they should be, and as they are."""

LONG = list(range(4096))
"""More than all slots have room for."""


def values(array: Array) -> list[Any]:
    return ck.to_host(array).to_pylist()


def moved(device: StrictDevice) -> Seen:
    """Columns that go to memory that others had, in which work may go on."""
    turned = LONG[5:] + LONG[:5]
    results = []
    for _ in range(2):
        first = ck.to_device(ck.array(LONG), "cuda")
        results.append((LONG[::-1], ck.reverse(first)))
        del first
        gc.collect()
        results.append((turned, ck.to_device(ck.array(turned), "cuda")))
    yield from ((expected, values(array)) for expected, array in results)
    for name in samples():
        yield sample(name).to_pylist(), values(ck.to_device(sample(name), "cuda"))


def read(device: StrictDevice) -> Seen:
    """Batches for the streams that are current when they are handed out, and a dictionary that grows."""
    texts = [[f"word {n % size}" for n in LONG] for size in (300, 700, 700)]
    batches = [
        ck.record_batch({"number": ck.array(LONG), "word": ck.dictionary_encode(ck.array(each))})
        for each in texts
    ]
    for write in (write_stream, write_file):
        for compression in (None, "lz4"):
            file = io.BytesIO()
            write(file, batches, compression=compression)
            read = iter(ck.ipc.open(file.getvalue(), device="cuda"))
            results = []
            for stream, expected in zip((5, 6, 7), texts, strict=True):
                with device.on_stream(stream):
                    batch = next(read)
                    numbers = ck.reverse(batch["number"])
                    results.append((stream, expected, batch["word"], numbers))
            # The stream that has had its work last is looked at first.
            for stream, expected, words, numbers in reversed(results):
                with device.on_stream(stream):
                    yield expected, values(ck.dictionary_decode(words))
                    yield LONG[::-1], values(numbers)


class Foreign:
    """An object of another library, with one of its names."""

    def __init__(self, **names: Any) -> None:
        self.__dict__ = names


def exported(device: StrictDevice) -> Seen:
    """A column for another stream, while it is being computed."""
    with device.on_stream(5):
        column = ck.add(ck.to_device(ck.array(LONG), "cuda"), 1)
        capsules = column.__arrow_c_device_array__()
        foreign = Foreign(__arrow_c_device_array__=lambda *_: capsules)
    with device.on_stream(6):
        yield [n + 1 for n in LONG], values(ck.array(foreign))


def taken(device: StrictDevice) -> Seen:
    """Memory of another library, which is given to others once colkern has let go of it."""
    with device.on_stream(5):
        items: Any = device.zeros(len(LONG), "i8")
        items += 7
        interface = {**items.__cuda_array_interface__, "stream": 5}
    with device.on_stream(6):
        column = ck.array(Foreign(__cuda_array_interface__=interface, items=items))
        yield [8] * len(LONG), values(ck.add(column, 1))
        result = ck.add(column, 2)
    del items, column
    gc.collect()
    with device.on_stream(5):
        device.zeros(len(LONG), "i8").get()
    with device.on_stream(6):
        yield [9] * len(LONG), values(result)


def wrong(run: Callable[[StrictDevice], Seen], early: str | None) -> int:
    """The number of results that are not as they should be."""
    with strict_device.installed(early) as device:
        return sum(expected != result for expected, result in run(device))


@pytest.mark.parametrize("early", [None, "copies", "kernels"])
@pytest.mark.parametrize("run", [moved, read, exported, taken], ids=lambda run: run.__name__)
def test_no_wait_is_missing(run: Any, early: str | None) -> None:
    assert wrong(run, early) == 0


WAITS: dict[str, tuple[Any, str, Any, str | None]] = {
    "copies wait for what uses the memory": (
        strict_device._CopyStream,
        "wait_for_current",
        moved,
        "copies",
    ),
    "columns wait for their bytes": (strict_device._Event, "hold_current", moved, "kernels"),
    "batches wait for their bytes": (strict_device._Event, "hold_current", read, "kernels"),
    "a slot waits for its last copy": (strict_device._Event, "wait", moved, None),
    "a dictionary is there for any stream": (BatchColumns, "finish", read, None),
    "imports wait for an event": (device_arrays._DeviceStructure, "_hold_current", exported, None),
    "arrays wait for their stream": (tensors, "_finish", taken, None),
    "memory goes back when nothing uses it": (memory.InUse, "__del__", taken, None),
}
"""What for → whose, the name of the wait, where its lack shows, and what is done early."""


@pytest.mark.parametrize("what", WAITS)
def test_a_wait_that_is_taken_away_is_missed(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, run, early = WAITS[what]
    monkeypatch.setattr(owner, name, lambda *_: None)
    with pytest.raises((AssertionError, InvalidArrowError)):
        assert wrong(run, early) == 0
