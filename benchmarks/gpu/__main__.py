"""Kernels on the GPU against its own memory: `python -m benchmarks.gpu --json FILE`.

Every kernel works on about a gigabyte, made on the device. Its rate stands beside that of a
device-to-device copy of as many bytes, measured in the same process and in the same way.
`make bench-gpu` runs the tests on the device first, and hands their reports over.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from benchmarks import machine
from benchmarks.gpu import MEASUREMENTS, UNMEASURED, turns
from benchmarks.gpu.measure import Clock, copy_bandwidth, row
from benchmarks.gpu.reading import OUTCOMES, failed, line, summary
from colkern.cuda import adapter
from colkern.cuda.target import CudaTarget
from colkern.memory import Device


def main() -> int:
    """Measure the launches, print the table, write the JSON; 1 if a test or a launch failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    turns.add_options(parser)
    parser.add_argument("--size", type=int, default=1 << 30, help="bytes a kernel works on")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--kernel", default="", help="only kernels whose name contains this")
    parser.add_argument(
        "--reports", type=Path, nargs="*", default=[], help="pytest's JUnit files of the tests"
    )
    options = parser.parse_args()
    if not turns.has_device():
        # Nothing is measured, and nothing written: `make test` proves kernels without a device.
        return 1
    with turns.device_alone(options.turn):
        clock = Clock(options.rounds)
        result = {
            **head(clock, options.size, options.rounds),
            "tests": outcome(options.reports),
            "rows": [],
        }

    def save() -> None:
        """Whoever stops this has what was found so far."""
        if options.json:
            machine.write_json(options.json, result)

    save()
    # Plain text: a stock CUDA image of Python has no terminal library.
    print(f"{result['device']}: copied at {result['copy_bytes_per_second'] / 1e9:,.0f} GB/s")
    print(f"{'case':56}{'kind':14}{'ms':>10}{'GB/s':>9}{'of a copy':>12}{'target':>9}")
    shown: set[str] = set()
    for rows in _rows(options, clock, result["copy_bytes_per_second"]):
        result["rows"] = rows
        save()
        for each in rows:
            if each["case"] not in shown:
                print(line(each), flush=True)
                shown.add(each["case"])
    for text in summary(result):
        print(text)
    if options.json:
        print(f"written: {options.json}")
    return int(failed(result))


def _rows(
    options: argparse.Namespace, clock: Clock, bandwidth: float
) -> Iterator[list[dict[str, Any]]]:
    """All rows so far, again and again."""
    if options.jobs > 1:
        yield from turns.rows_of_jobs("benchmarks.gpu", options)
        return
    target = CudaTarget(Device("cuda", 0))
    chosen = [each for each in MEASUREMENTS if options.kernel in each.kernel.name]
    rows: list[dict[str, Any]] = []
    for measurement in chosen[options.part]:
        rows.append(row(measurement, target, clock, options.size, bandwidth, options.turn))
        yield rows


def head(clock: Clock, size: int, rounds: int) -> dict[str, Any]:
    """The measurements, the machine, and the yardstick."""
    import cupy

    return {
        "device": cupy.cuda.runtime.getDeviceProperties(0)["name"].decode(),
        "compiler": adapter.chosen_compiler(),
        **machine.facts(threads=1),
        "size": size,
        "rounds": rounds,
        "copy_bytes_per_second": copy_bandwidth(clock, size),
        "unmeasured": UNMEASURED,
    }


def outcome(reports: Iterable[Path]) -> dict[str, int]:
    """How many tests there were on this device, and what became of them; empty if none was run."""
    counts: Counter[str] = Counter()
    for path in reports:
        if not path.exists():
            # The run ended before its report: an error as well.
            counts["errors"] += 1
            continue
        for suite in ElementTree.parse(path).iter("testsuite"):
            counts.update({name: int(suite.get(name, 0)) for name in OUTCOMES})
    return dict(counts)


if __name__ == "__main__":
    raise SystemExit(main())
