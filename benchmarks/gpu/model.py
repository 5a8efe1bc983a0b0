"""A model of a GPU: predicts each figure of `bench-gpu` from what is counted without one.

    python -m benchmarks.gpu.model --json benchmarks/results/gpu_model.json

The work of a warp of each launch is in `results/memory_requests.json` for two numbers of items a thread; a
launch has as much more as it has more items and warps. It takes the time of its slowest part:

memory, cache
    the bytes of the sectors that its warps ask for, at the rate of a copy, or of the second-level cache;
waits
    Little's law: each warp waits for its loads, and as many warps wait at a time as have registers;
requests, instructions
    the cycles of the first-level caches and of the schedulers.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import machine
from benchmarks.gpu.case import GATHER, OTHER, STREAMING, TARGETS
from colkern.cuda.target import schedule_for
from colkern.kernels import KERNELS

RESULTS = Path(__file__).parents[1] / "results"

KINDS = (STREAMING, GATHER, OTHER)

WARP, SECTOR, SCHEDULERS = 32, 32, 4

REGISTERS, WARPS, BLOCKS = 1 << 16, 64, 32
"""The most of a multiprocessor: NVIDIA's tables for compute capabilities 8.0 and 9.0."""

UNIT = 256
"""The registers of a warp are a multiple of this."""

SLOW = 8
"""How many cycles a scheduler takes for a warp's instruction of the slowest kind."""

ISSUED = 0.8
"""The share of a scheduler's cycles in which it can issue something."""

FURTHEST = 10
"""How many launches are named whose predictions are furthest off."""

SHORT_WAIT = 33
"""The cycles until the first-level cache answers."""


class Gpu(NamedTuple):
    """A GPU.

    Args:
        multiprocessors: Their number.
        clock: Cycles a second, under load.
        copy: The bytes a second that a copy is expected to read and write.
        cache: The bytes a second of the second-level cache.
        wait: The seconds until a loaded memory answers.
        launch: The seconds between the end of a kernel and the work of the next one.
    """

    multiprocessors: int
    clock: float
    copy: float
    cache: float
    wait: float = 700e-9
    launch: float = 3e-6


GPUS = {
    "NVIDIA H100 80GB HBM3": Gpu(132, 1.7e9, 3.0e12, 5.5e12),
    "NVIDIA H200": Gpu(132, 1.7e9, 4.3e12, 5.5e12),
    "NVIDIA A100-SXM4-80GB": Gpu(108, 1.4e9, 1.75e12, 4.0e12),
}
"""By the name that the driver gives."""


def resident_warps(registers: int, threads: int) -> int:
    """The warps that a multiprocessor runs at a time, in blocks of so many threads.

    Args:
        registers: Those of a thread.
        threads: Those of a block.
    """
    of_warp = -(-registers * WARP // UNIT) * UNIT
    # Each scheduler has registers of its own.
    warps = min(REGISTERS // SCHEDULERS // of_warp * SCHEDULERS, WARPS)
    per_block = -(-threads // WARP)
    return min(warps // per_block, BLOCKS) * per_block


def prediction(row: dict[str, Any], gpu: Gpu) -> dict[str, Any]:
    """The time of a launch, its share of a copy's bandwidth, and what takes that time.

    Args:
        row: The work of its warp.
        gpu: Where it runs.
    """
    cut = schedule_for(gpu.multiprocessors).cut(
        KERNELS[row["kernel"]], row["items"], row["mean_bytes"]
    )
    few, more = row["steps"]
    steps = cut.tile * cut.lanes / cut.threads
    warps = cut.blocks * cut.threads / WARP

    def all_of(name: str) -> float:
        first, second = row[name]
        return float(warps * (first + (second - first) / (more - few) * (steps - few)))

    cycles = gpu.multiprocessors * gpu.clock
    at_a_time = gpu.multiprocessors * resident_warps(row["registers"], cut.threads)
    memory = SECTOR * all_of("memory_sectors")
    waited = all_of("waits") * gpu.wait + all_of("short_waits") * SHORT_WAIT / gpu.clock
    issued = all_of("instructions") / ISSUED
    times = {
        "memory": memory / gpu.copy,
        "cache": (memory + SECTOR * all_of("cached_sectors")) / gpu.cache,
        "waits": waited / at_a_time,
        "requests": all_of("wavefronts") / cycles,
        "instructions": max(issued, SLOW * all_of("slow_instructions")) / cycles / SCHEDULERS,
    }
    limit = max(times, key=times.__getitem__)
    seconds = gpu.launch + times[limit]
    return {
        "seconds": float(f"{seconds:.4g}"),
        "bandwidth_share": round(row["launch_bytes"] / seconds / gpu.copy, 3),
        "limit": limit,
    }


def predicted(work: dict[str, Any]) -> dict[str, Any]:
    """The predictions for each launch on each GPU.

    Args:
        work: The work of warps, from `results/memory_requests.json`.
    """
    return {
        "gpus": {name: gpu._asdict() for name, gpu in GPUS.items()},
        "rows": [
            {
                "case": row["case"],
                "kernel": row["kernel"],
                "kind": row["kind"],
                "target": TARGETS.get(row["kind"]),
                "bytes": row["launch_bytes"],
                "predictions": {name: prediction(row, gpu) for name, gpu in GPUS.items()},
            }
            for row in work["rows"]
        ],
    }


def measured(folder: Path, gpu: str) -> dict[str, dict[str, Any]]:
    """The measured rows by their cases, from the files of `benchmarks.gpu`; none if there is no file."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.json")):
        result = json.loads(path.read_text())
        if result.get("device") == gpu:
            found |= {row["case"]: row for row in result["rows"] if "bandwidth_share" in row}
    return found


def ranking(result: dict[str, Any], folder: Path) -> Iterable[list[str]]:
    """The table of predictions, the lowest share of a copy first, beside measurements of a folder."""
    names = list(result["gpus"])
    beside = {name: found for name in names if (found := measured(folder, name))}
    yield [
        "case",
        "kind",
        *(f"predicted, {name}" for name in names),
        *(f"measured, {name}" for name in beside),
        f"limit, {names[0]}",
    ]
    for row in sorted(
        result["rows"],
        key=lambda each: (
            KINDS.index(each["kind"]),
            each["predictions"][names[0]]["bandwidth_share"],
        ),
    ):
        shares = [row["predictions"][name]["bandwidth_share"] for name in names]
        rows = [found.get(row["case"]) for found in beside.values()]
        yield [
            row["case"],
            row["kind"],
            *(f"{share:.0%}" for share in shares),
            *("" if each is None else f"{each['bandwidth_share']:.0%}" for each in rows),
            row["predictions"][names[0]]["limit"],
        ]


def accuracy(result: dict[str, Any], folder: Path) -> Iterable[str]:
    """How the measurements of a folder compare with the predictions, and which are furthest off."""
    for name in result["gpus"]:
        found = measured(folder, name)
        ratios = {
            row["case"]: found[row["case"]]["seconds"] / row["predictions"][name]["seconds"]
            for row in result["rows"]
            if row["case"] in found
        }
        if not ratios:
            continue
        values = ratios.values()
        near, alike = (sum(1 / most <= ratio <= most for ratio in values) for most in (1.25, 2))
        slowest = sorted(ratios, key=ratios.__getitem__, reverse=True)[:FURTHEST]
        yield f"{name}, measured: {statistics.median(values):.2f} of the predicted time in the median"
        yield f"{near} of {len(ratios)} within a quarter, {alike} within a factor of two"
        yield f"furthest off: {', '.join(f'{case} {ratios[case]:.1f} times' for case in slowest)}"


def summary(result: dict[str, Any]) -> Iterable[str]:
    """The predictions in a few lines."""
    yield from accuracy(result, RESULTS)
    for name in result["gpus"]:
        for kind, least in TARGETS.items():
            shares = [
                row["predictions"][name]["bandwidth_share"]
                for row in result["rows"]
                if row["kind"] == kind
            ]
            met = sum(share >= least for share in shares)
            yield f"{name}, {kind}: {met} of {len(shares)} at {least:.0%} of a copy or more"


def main() -> None:
    """Predict, write the JSON, and print how many meet their targets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, required=True, help="write the predictions here")
    options = parser.parse_args()
    result = predicted(json.loads((RESULTS / "memory_requests.json").read_text()))
    machine.write_json(options.json, result)
    for line in summary(result):
        print(line)


if __name__ == "__main__":
    main()
