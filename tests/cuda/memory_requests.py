"""The requests that the launches of `benchmarks.gpu` make of a GPU's memory, without one.

    PYTHONPATH=tests python -m cuda.memory_requests --json benchmarks/results/memory_requests.json

runs a warp of each kernel's first launch on the PTX machine, and writes what it counted; what is in the
file already stays as it is.

A request is an instruction that reads or writes memory, for all threads of a warp. Memory answers in
sectors of 32 bytes: threads that access neighbouring items share them.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import sys
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cuda.ptx_machine import Allocation
from cuda.ptx_machine import Kernel as Machine
from cuda.ptx_running import grid_values
from cuda.races import Place, Races

from benchmarks import machine
from benchmarks.gpu import MEASUREMENTS, Measurement
from benchmarks.gpu.case import GRAIN
from colkern.cpu.target import CpuTarget
from colkern.cuda import compiler

WARP, LANES, SECTOR = 32, 8, 32

STEPS = 4
"""The items of a thread, or of its group."""

CAPABILITY = (9, 0)


class Requests(Races):
    """The memory requests of a grid's threads, in place of the races between them.

    Args:
        memory: The memory of arrays, which begins with a sector on a GPU; what is shared by a block is
            not asked for.
    """

    def __init__(self, memory: Iterable[Allocation]) -> None:
        super().__init__()
        self._begins, self._ends = zip(*sorted(set(memory)), strict=True)
        self._requests: dict[tuple[int, int, int], set[int]] = {}
        self._block = 0

    def begin(self, block: int, threads: int) -> None:
        """A block begins."""
        self._block = block

    def accesses(self, thread: int, place: Place) -> tuple[Place, Place]:
        """How a thread finds what it reads, and what it writes."""
        times: Counter[int] = Counter()

        def accessed(kind: str, address: int) -> Any:
            found = place(kind, address)
            number = bisect_right(self._begins, address) - 1
            if number >= 0 and address < self._ends[number]:
                line = sys._getframe(1).f_lineno
                request = self._block, line, times[line]
                times[line] += 1
                at = (number << 40) + address - self._begins[number]
                places = range(at, at + ctypes.sizeof(found))
                self._requests.setdefault(request, set()).update(places)
            return found

        return accessed, accessed

    def join(self, threads: Iterable[int]) -> None:
        """These threads have waited for each other."""

    def forget(self, memory: Any) -> None:
        """Memory of a block or a thread goes."""

    @property
    def sectors(self) -> int:
        """The sectors of all requests."""
        return sum(len({place // SECTOR for place in places}) for places in self._requests.values())

    @property
    def needed(self) -> int:
        """The sectors that would have what is asked for if it lay side by side."""
        return sum(-(-len(places) // SECTOR) for places in self._requests.values())

    @property
    def touched(self) -> int:
        """The bytes of memory that are asked for, each once."""
        return len(set().union(*self._requests.values()))


def _allocation(array: Any) -> Allocation:
    """Where an array's memory begins that would begin with a sector on a GPU, and its end."""
    begin: int = array.ctypes.data
    end = begin + array.nbytes
    if begin % SECTOR and array.base is not None:
        begin = array.base.ctypes.data
    return begin, end


def requests_of(measurement: Measurement) -> Requests:
    """The requests of the first warp of a launch."""
    kernel = measurement.kernel
    launch = measurement.at(CpuTarget(), GRAIN)
    variant = kernel.variant(kernel.require_types(launch.args))
    lanes = LANES if kernel.grouped else 1
    program = Machine(compiler.ptx(kernel, variant, CAPABILITY, WARP, lanes))
    tile = STEPS * WARP // lanes
    values, arrays = grid_values(kernel, launch.count, tile, launch.args, 1)
    memory = [_allocation(a) for a in (*arrays, *launch.held) if a.nbytes]
    requests = Requests(memory)
    program.launch(1, WARP, values, memory, requests)
    return requests


def main() -> None:
    """Run what is not in the file yet, for so many seconds at most."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="then stop")
    options = parser.parse_args()
    begin = time.monotonic()
    result = json.loads(options.json.read_text()) if options.json.exists() else {"rows": []}
    result = {**machine.facts(threads=1), **result}
    known = {row["kernel"] for row in result["rows"]}
    left: dict[str, Measurement] = {}
    for measurement in MEASUREMENTS:
        if measurement.kernel.name not in known:
            left.setdefault(measurement.kernel.name, measurement)
    # Streaming kernels first.
    for measurement in sorted(left.values(), key=lambda each: each.kind, reverse=True):
        if time.monotonic() - begin > options.seconds:
            break
        requests = requests_of(measurement)
        row: dict[str, Any] = {
            "case": measurement.name,
            "kernel": measurement.kernel.name,
            "kind": measurement.kind,
            "bytes": requests.touched,
            "sectors": requests.sectors,
            "sectors_needed": requests.needed,
        }
        result["rows"].append(row)
        del left[measurement.kernel.name]
        machine.write_json(options.json, result)
    print(f"{len(left)} kernels are left")


if __name__ == "__main__":
    main()
