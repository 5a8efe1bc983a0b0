"""From a million slots to a billion: `python -m benchmarks.scaling --json FILE`.

Time should grow as the slots do, and memory beside the input not at all.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import colkern as ck
from benchmarks import machine
from benchmarks.timing import Work
from colkern.cpu.threads import set_num_threads
from colkern.memory import Buffer

SIZES = (1_000_000, 10_000_000, 100_000_000, 1_000_000_000)


def bitmap(slots: int) -> Work:
    """The set bits of a bitmap."""
    bits = Buffer(np.full(slots // 8, 0x5A, np.uint8))
    return lambda: ck.operations.count_set_bits(bits, 0, slots)


def offsets(slots: int) -> Work:
    """The offsets of binary values without bytes: nothing but offsets is looked at."""
    starts = Buffer(np.zeros(4 * (slots + 1), np.uint8))
    data = Buffer(np.zeros(0, np.uint8))
    # Each time an array that nothing is known of yet.
    return lambda: ck.Array(ck.binary(), slots, [None, starts, data], null_count=0).validate(
        full=True
    )


OPERATIONS = {"count_set_bits": bitmap, "validate offsets": offsets}


def measured(sizes: list[int], rounds: int) -> Iterator[dict[str, Any]]:
    """One row for each operation and size."""
    for name, make in OPERATIONS.items():
        for slots in sizes:
            work = make(slots)
            work()
            before = _reset_peak()
            seconds = []
            for _ in range(rounds):
                begin = time.perf_counter()
                work()
                seconds.append(time.perf_counter() - begin)
            yield {
                "operation": name,
                "slots": slots,
                "seconds": statistics.median(seconds),
                "peak_bytes": max(_status("VmHWM") - before, 0),
            }


def _reset_peak() -> int:
    """Forget the most memory that this process has had; what it has now, in bytes."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _status(name: str) -> int:
    """A figure of this process's memory, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (size,) = (line.split()[1] for line in lines if line.startswith(f"{name}:"))
    return int(size) << 10


def main() -> None:
    """Measure, print, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--most", type=int, default=SIZES[-1], help="slots; fewer for less memory")
    options = parser.parse_args()
    set_num_threads(1)
    rows = []
    for row in measured([size for size in SIZES if size <= options.most], options.rounds):
        rows.append(row)
        print(
            f"{row['operation']:20}{row['slots']:>15,}{row['seconds'] * 1e3:12.3f} ms"
            f"{row['seconds'] / row['slots'] * 1e9:10.3f} ns a slot"
            f"{row['peak_bytes'] / 2**20:10.1f} MiB"
        )
    if options.json:
        result = {**machine.facts(threads=1), "rows": rows}
        machine.write_json(options.json, result)


if __name__ == "__main__":
    main()
