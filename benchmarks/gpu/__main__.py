"""Kernels on the GPU against its own memory: `python -m benchmarks.gpu --json FILE`.

Every kernel works on about a gigabyte. Its rate stands beside that of a device-to-device copy of as
many bytes, measured in the same process. Times are between CUDA events; the median of the rounds.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine
from benchmarks.gpu import LAUNCHES, Data, Launch
from colkern.cuda import adapter
from colkern.cuda.target import CudaTarget
from colkern.kernels import KERNELS
from colkern.memory import Device

Work = Callable[[], object]


def seconds(work: Work, rounds: int) -> float:
    """The median seconds of one call on the device."""
    import cupy

    work()
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    spent = []
    for _ in range(rounds):
        begin.record()
        work()
        end.record()
        end.synchronize()
        spent.append(cupy.cuda.get_elapsed_time(begin, end) / 1e3)
    return statistics.median(spent)


def copy_bandwidth(size: int, rounds: int) -> float:
    """Bytes a second of a device-to-device copy, reads and writes counted."""
    import cupy

    source, target = cupy.zeros(size // 8, np.uint64), cupy.zeros(size // 8, np.uint64)
    return 2 * size / seconds(lambda: cupy.copyto(target, source), rounds)


def measured(target: CudaTarget, launch: Launch, rounds: int, bandwidth: float) -> dict[str, Any]:
    """A row of the table."""
    spent = seconds(lambda: launch.run(target), rounds)
    rate = launch.nbytes / spent
    return {
        "case": launch.name,
        "seconds": spent,
        "bytes_per_second": rate,
        "bandwidth_share": rate / bandwidth,
    }


def main() -> None:
    """Run the launches, print the table, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--size", type=int, default=1 << 30, help="bytes a kernel works on")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--kernel", default="", help="only kernels whose name contains this")
    options = parser.parse_args()
    adapter.require_device()
    import cupy

    bandwidth = copy_bandwidth(options.size, options.rounds)
    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    # Plain text: a stock CUDA image of Python has no terminal library.
    print(f"{device}: memory copied at {bandwidth / 1e9:,.0f} GB/s")
    print(f"{'case':60}{'ms':>10}{'GB/s':>10}{'share of bandwidth':>20}")
    target = CudaTarget(Device("cuda", 0))
    rows, seen = [], set()
    for make in LAUNCHES.values():
        for launch in make(Data(target, options.size)):
            seen.add(launch.kernel.name)
            if options.kernel in launch.kernel.name:
                rows.append(measured(target, launch, options.rounds, bandwidth))
                _print(rows[-1])
    if missing := KERNELS.keys() - seen:
        print("not measured:", ", ".join(sorted(missing)))
    if options.json:
        head = {
            "device": device,
            "compiler": adapter.chosen_compiler(),
            **machine.facts(threads=1),
            "copy_bytes_per_second": bandwidth,
        }
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps({**head, "rows": rows}, indent=1) + "\n")


def _print(row: dict[str, Any]) -> None:
    print(
        f"{row['case']:60}{row['seconds'] * 1e3:10.3f}{row['bytes_per_second'] / 1e9:10,.0f}"
        f"{row['bandwidth_share']:20.0%}",
        flush=True,
    )


if __name__ == "__main__":
    main()
