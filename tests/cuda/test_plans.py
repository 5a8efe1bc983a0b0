"""Launches by plans, over a driver that runs nothing: the real compiler, and what gets to the driver."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cuda.silent_device import has_compiler, process

pytestmark = pytest.mark.skipif(not has_compiler(), reason="the driver needs a C compiler")


@pytest.fixture(scope="module")
def launches(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("driver")
    return json.loads(process(folder, Path(__file__).with_name("silent_launches.py")))


def test_parameters_are_those_that_the_compiler_would_pass(launches: Any) -> None:
    """Also a number past int64, a negative one, a float, and one of a byte."""
    assert launches["plan"] == launches["dispatcher"]
    grid, numbers = launches["plan"][:8], launches["plan"][8:]
    assert grid == [4, 1, 1, 256, 1, 1, 0, 0]
    assert numbers[:2] == [1000, 256]
    assert (1 << 64) - 3 in numbers


def test_a_launch_is_one_call_of_the_driver(launches: Any) -> None:
    assert sum(launches["calls of a launch"].values()) == 1, launches["calls of a launch"]


MOST_CALLS = {
    "a launch": 12,
    "a launch with partial results": 22,
    "add": 44,
    "add, two bitmaps": 107,
    "less, two bitmaps": 101,
}
"""Launches and operations → the most calls of Python functions that they may make."""


def test_launches_make_few_calls_of_python(launches: Any) -> None:
    calls = launches["calls of Python"]
    assert calls.keys() == MOST_CALLS.keys()
    assert {what: count for what, count in calls.items() if count > MOST_CALLS[what]} == {}


def test_threads_that_have_not_used_the_device_launch_as_well(launches: Any) -> None:
    assert launches["failures of another thread"] == []


def test_partial_results_are_the_last_parameter_an_item_a_block(launches: Any) -> None:
    is_theirs, (items, size), blocks = launches["partials"]
    assert is_theirs
    assert (items, size) == (blocks, 8)


def test_kernels_of_users_are_launched_as_by_the_compiler(launches: Any) -> None:
    """With shared memory; by a plan, too."""
    assert launches["plan of a user's kernel"] == launches["dispatcher of a user's kernel"]
    assert launches["plan of a user's kernel"][:7] == [3, 1, 1, 64, 1, 1, 32]


def test_launches_follow_the_current_stream(launches: Any) -> None:
    assert launches["plan"][7] == 0
    assert launches["stream"] == 0x70


def test_arrays_of_types_that_are_not_declared_are_refused(launches: Any) -> None:
    assert launches["refused"] == "counts: a is T[], got i8[]"
