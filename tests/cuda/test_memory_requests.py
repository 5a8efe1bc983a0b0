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

COUNTED = Path(__file__).parents[2] / "benchmarks" / "results" / "memory_requests.json"

CASES = {row["kernel"]: row["case"] for row in reversed(json.loads(COUNTED.read_text())["rows"])}
"""The first launch of each kernel."""

STREAMS = {
    each.name: each
    for each in MEASUREMENTS
    if each.kind == STREAMING and each.name == CASES.get(each.kernel.name)
}

MOST = 1.3
"""The sectors of a streaming kernel, of those that it needs."""

IN_A_ROW = "a thread has several items in a row, for a word of bits: a cache keeps their sector"

WIDE = "an item is read as several words: a cache keeps their sector"

PART = "a part of each item is read"

SKIPS = "threads skip items, so that requests of several rounds are counted together"

MAY_ASK_FOR_MORE = {
    "least_word, 128 bits": WIDE,
    "add_decimals, 128 bits": WIDE,
    "multiply_decimals, 128 bits": WIDE,
    "divide_decimals, 128 bits": WIDE,
    "scale_up, 64 to 128 bits": WIDE,
    "scale_down, 64 to 128 bits": WIDE,
    "mark_changes, u1": IN_A_ROW,
    "equal_items, u1": IN_A_ROW,
    "equal_item, u1": IN_A_ROW,
    "equal_wide, 128 bits": IN_A_ROW,
    "equal_halves": IN_A_ROW,
    "hash_fixed_bytes, 16 bytes": WIDE,
    "hash_nulls, half null": SKIPS,
    "number_partitions": PART,
    "first_hidden_value, u1": IN_A_ROW,
    "blank_hidden_values, u1": IN_A_ROW,
    "first_hidden_length": IN_A_ROW,
    "count_elements, half null": IN_A_ROW,
    "first_list_of_another_length": IN_A_ROW,
    "find_stand_ins": IN_A_ROW,
    "first_tensor_unlike_its_shape, two dimensions": WIDE,
    "has_inline_high_bit": WIDE,
    "less_integers, u1, two arrays": IN_A_ROW,
    "less_floats, f4, two arrays": IN_A_ROW,
    "less_decimals, 128 bits": IN_A_ROW,
    "take_fixed_ranges, 4 elements": PART,
    "short_view_keys": PART,
    "count_bytes_in_buffers": PART,
    "first_view_out_of_bounds": PART,
    "view_lengths": PART,
    "long_lengths": PART,
    "move_views": PART,
    "renumber_views": PART,
}
"""Launches that do, and why."""


@pytest.mark.parametrize("name", STREAMS)
def test_threads_of_a_warp_share_sectors(name: str) -> None:
    requests = requests_of(STREAMS[name])
    assert (requests.sectors <= MOST * requests.needed) == (name not in MAY_ASK_FOR_MORE)


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
