"""The model of a GPU: its rules by hand, on the smallest launches, and the committed predictions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cuda.ptx_costs import Block, waits

from benchmarks.gpu import MEASUREMENTS
from benchmarks.gpu.model import (
    GPUS,
    RESULTS,
    Gpu,
    accuracy,
    measured,
    predicted,
    prediction,
    ranking,
    resident_warps,
)

WORK, PREDICTIONS = (
    json.loads((RESULTS / f"{name}.json").read_text()) for name in ("memory_requests", "gpu_model")
)

TINY = Gpu(multiprocessors=1, clock=1e9, copy=1e12, cache=2e12, wait=1e-6, launch=0.0)

H200 = "NVIDIA H200"


@pytest.mark.parametrize(
    ("registers", "threads", "warps"),
    [
        (32, 256, 64),
        # 40 registers of 32 threads are 1,280: 12 warps of each scheduler's 16,384.
        (40, 256, 48),
        # A register more is eight more: 10 warps, 40 of which are five blocks.
        (41, 256, 40),
        # 20 warps have room, and two blocks of 8 are whole.
        (96, 256, 16),
        (255, 256, 8),
        # No more than 32 blocks.
        (32, 32, 32),
    ],
)
def test_registers_limit_the_warps_that_run_at_a_time(
    registers: int, threads: int, warps: int
) -> None:
    assert resident_warps(registers, threads) == warps


def row(**counted: list[int]) -> dict[str, Any]:
    """A launch of eight blocks of 256 threads, which have 16 items each, of one byte in and out."""
    memory = ("memory_sectors", "cached_sectors", "waits", "short_waits", "wavefronts")
    kinds = (*memory, "instructions", "slow_instructions")
    return {
        "case": "add_words, tiny",
        "kernel": "add_words",
        "kind": "streaming",
        "items": 8 * 256 * 16,
        "launch_bytes": 8 * 256 * 16 * 2,
        "mean_bytes": 0,
        "registers": 32,
        "steps": [1, 2],
        **{kind: [0, 0] for kind in kinds},
        **counted,
    }


@pytest.mark.parametrize(
    ("counted", "limit", "seconds"),
    [
        # 64 warps of 16 items, 2 sectors each.
        ({"memory_sectors": [2, 4]}, "memory", 64 * 16 * 2 * 32 / 1e12),
        # What is in the cache already is slow, if there is much of it.
        ({"memory_sectors": [2, 4], "cached_sectors": [6, 12]}, "cache", 64 * 16 * 8 * 32 / 2e12),
        # All warps run at a time, and each waits 16 times for a microsecond.
        ({"waits": [1, 2]}, "waits", 16e-6),
        ({"short_waits": [1, 2]}, "waits", 16 * 33e-9),
        # As often, whatever the items are.
        ({"waits": [1, 1]}, "waits", 1e-6),
        ({"wavefronts": [3, 6]}, "requests", 64 * 16 * 3 / 1e9),
        # Four schedulers, four fifths of their cycles.
        ({"instructions": [10, 20]}, "instructions", 64 * 16 * 10 / 0.8 / 4e9),
        ({"slow_instructions": [1, 2]}, "instructions", 64 * 16 * 8 / 4e9),
    ],
)
def test_the_slowest_part_is_the_time(
    counted: dict[str, list[int]], limit: str, seconds: float
) -> None:
    actual = prediction(row(**counted), TINY)
    assert actual["limit"] == limit
    assert actual["seconds"] == pytest.approx(seconds, rel=1e-3)
    share = 8 * 256 * 16 * 2 / seconds / 1e12
    assert actual["bandwidth_share"] == pytest.approx(share, rel=1e-2, abs=1e-3)


def test_half_the_warps_wait_twice_as_long() -> None:
    """Little's law: bytes in flight are those of the warps that run."""
    few = prediction({**row(waits=[1, 2]), "registers": 64}, TINY)
    assert few["seconds"] == pytest.approx(2 * 16e-6)


def test_a_launch_takes_time_of_its_own() -> None:
    actual = prediction(row(waits=[1, 2]), TINY._replace(launch=4e-6))
    assert actual["seconds"] == pytest.approx(20e-6)


def waited(*lines: str, sectors: list[int]) -> tuple[int, int]:
    """The waits of a thread that runs a basic block once."""
    return waits([Block(lines)], [(0, sectors)])


FIRST, SECOND = "ld.global.nc.u32 %r1, [%rd1];", "ld.global.nc.u32 %r2, [%rd2];"


def test_loads_side_by_side_are_one_wait() -> None:
    use = ("add.s32 %r3, %r1, 1;", "add.s32 %r4, %r2, 1;")
    assert waited(FIRST, SECOND, *use, sectors=[0, 1]) == (1, 0)
    assert waited(FIRST, use[0], SECOND, use[1], sectors=[0, 1]) == (1, 0)


def test_a_load_waits_for_its_address() -> None:
    at = "mul.wide.u32 %rd2, %r1, 4;"
    assert waited(FIRST, at, SECOND, "add.s32 %r3, %r2, 1;", sectors=[0, 1]) == (2, 0)


def test_a_sector_that_was_loaded_before_is_near() -> None:
    at = "mul.wide.u32 %rd2, %r1, 4;"
    assert waited(FIRST, at, SECOND, "add.s32 %r3, %r2, 1;", sectors=[0, 0]) == (1, 1)


def test_a_load_that_may_be_of_what_was_stored_comes_after_the_store() -> None:
    plain = SECOND.replace(".nc", "")
    store, use = "st.global.u32 [%rd3], %r1;", "add.s32 %r3, %r2, 1;"
    assert waited(FIRST, store, plain, use, sectors=[0, 1]) == (2, 0)
    assert waited(FIRST, store, SECOND, use, sectors=[0, 1]) == (1, 0)


def test_another_name_of_a_register_is_no_use_of_it() -> None:
    assert waited(FIRST, "mov.u32 %r5, %r1;", SECOND, sectors=[0, 1]) == (0, 0)
    assert waited(FIRST, "mov.u32 %r5, %r1;", "add.s32 %r3, %r5, 1;", sectors=[0]) == (1, 0)


def test_a_measurement_stands_beside_its_prediction(tmp_path: Path) -> None:
    case, failed = MEASUREMENTS[0].name, MEASUREMENTS[1].name
    rows = [{"case": case, "bandwidth_share": 0.123}, {"case": failed, "error": "no memory"}]
    (tmp_path / "NVIDIA-H200.json").write_text(json.dumps({"device": H200, "rows": rows}))
    (tmp_path / "of-a-host.json").write_text(json.dumps({"rows": [{"case": case}]}))
    assert measured(tmp_path, H200) == {case: rows[0]}
    head, *table = ranking(PREDICTIONS, tmp_path)
    assert [name for name in head if name.startswith("measured")] == [f"measured, {H200}"]
    at = head.index(f"measured, {H200}")
    result = {each[0]: each[at] for each in table}
    assert (result[case], result[failed]) == ("12%", "")
    assert len(result) == len(table)


def test_measurements_are_compared_with_predictions(tmp_path: Path) -> None:
    predicted = {row["case"]: row["predictions"][H200]["seconds"] for row in PREDICTIONS["rows"]}
    cases = list(predicted)[:3]
    rows = [
        {"case": case, "seconds": predicted[case] * times, "bandwidth_share": 0.5}
        for case, times in zip(cases, (1.0, 1.5, 5.0), strict=True)
    ]
    (tmp_path / "NVIDIA-H200.json").write_text(json.dumps({"device": H200, "rows": rows}))
    median, near, furthest = accuracy(PREDICTIONS, tmp_path)
    assert "1.50 of the predicted time" in median
    assert near == "1 of 3 within a quarter, 2 within a factor of two"
    assert furthest.startswith(f"furthest off: {cases[2]} 5.0 times")


def test_the_predictions_are_those_of_what_was_counted() -> None:
    """`python -m benchmarks.gpu.model --json benchmarks/results/gpu_model.json` writes them."""
    assert predicted(WORK) == PREDICTIONS


def test_each_launch_has_a_prediction_for_each_gpu() -> None:
    assert {each["case"] for each in PREDICTIONS["rows"]} == {each.name for each in MEASUREMENTS}
    assert all(each["predictions"].keys() == GPUS.keys() for each in PREDICTIONS["rows"])
