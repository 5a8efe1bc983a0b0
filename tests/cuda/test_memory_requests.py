"""The memory requests of launches: streaming kernels ask for little more than they need."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path
from typing import Any

import pytest
from cuda.memory_requests import SECTOR, Requests, requests_of

from benchmarks.gpu import MEASUREMENTS
from benchmarks.gpu.case import STREAMING
from benchmarks.gpu.requests import MAY_ASK_FOR_MORE, MOST, reasons

COUNTED = Path(__file__).parents[2] / "benchmarks" / "results" / "memory_requests.json"

CASES = {row["kernel"]: row["case"] for row in reversed(json.loads(COUNTED.read_text())["rows"])}
"""The first launch of each kernel."""

STREAMS = {
    each.name: each
    for each in MEASUREMENTS
    if each.kind == STREAMING and each.name == CASES.get(each.kernel.name)
}


@pytest.mark.parametrize("name", STREAMS)
def test_threads_of_a_warp_share_sectors(name: str) -> None:
    requests = requests_of(STREAMS[name])
    assert (requests.sectors <= MOST * requests.needed) == (name not in MAY_ASK_FOR_MORE)


def test_each_streaming_launch_that_asks_for_more_has_a_reason() -> None:
    rows = json.loads(COUNTED.read_text())["rows"]
    assert all(reason for case, reason in reasons(rows).items())


@pytest.fixture
def memory() -> int:
    """The address of a kilobyte, at the begin of a sector."""
    return 4096


def asked(begin: int, *steps: list[int]) -> Requests:
    """The requests of threads that read four bytes at their places, step by step, and then write them."""
    requests = Requests([(begin, begin + 1024)])
    requests.begin(0, 32)

    def place(kind: str, address: int) -> Any:
        return ctypes.c_uint32()

    ways = [requests.accesses(thread, place) for thread in range(len(steps[0]))]
    for places in steps:
        for (read, _), at in zip(ways, places, strict=True):
            read("u32", begin + at)
    for thread, (_, write) in enumerate(ways):
        write("u32", begin + 4 * thread)
    return requests


def test_neighbours_share_sectors(memory: int) -> None:
    requests = asked(memory, [4 * k for k in range(32)])
    assert requests.sectors == requests.needed == 2 * 4


def test_scattered_threads_have_a_sector_each(memory: int) -> None:
    requests = asked(memory, [SECTOR * k for k in range(32)])
    assert (requests.sectors, requests.needed) == (32 + 4, 2 * 4)


def test_one_place_is_one_sector_for_all(memory: int) -> None:
    requests = asked(memory, [0] * 32)
    assert requests.sectors == requests.needed == 1 + 4
