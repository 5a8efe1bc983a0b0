"""Copies of any size and place: by NumPy, or past the caches by whole words."""

from __future__ import annotations

import numpy as np
import pytest

from colkern.cpu import target
from colkern.cpu.target import CpuTarget
from colkern.cpu.threads import set_num_threads

BYTES = np.random.default_rng(1).integers(0, 256, 3000, np.uint8)


@pytest.fixture(params={"numpy": 1 << 60, "past the caches": 0}.items(), ids=lambda way: way[0])
def copying(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> CpuTarget:
    """A target that copies in one of its ways, whatever the size."""
    monkeypatch.setattr(target, "_PAST_CACHES", request.param[1])
    return CpuTarget()


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 127, 1000, 2047])
@pytest.mark.parametrize(("source", "place"), [(0, 0), (1, 0), (0, 1), (7, 63), (64, 5)])
def test_just_those_bytes_are_copied(
    copying: CpuTarget, size: int, source: int, place: int
) -> None:
    items = BYTES[source : source + size]
    out = np.zeros(3000, np.uint8)
    copying.copy(items, out[place : place + size])
    expected = bytes(place) + BYTES[source : source + size].tobytes()
    assert out.tobytes() == expected.ljust(3000, b"\0")


def test_several_threads_past_the_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target, "_PAST_CACHES", 1 << 20)
    items = np.arange(1 << 19, dtype=np.uint64).view(np.uint8)
    out = np.zeros_like(items)
    set_num_threads(3)
    try:
        CpuTarget().copy(items[1:], out[1:])
    finally:
        set_num_threads(0)
    assert (out == items).all()
