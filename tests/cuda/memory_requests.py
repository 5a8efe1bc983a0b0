"""The work of the launches of `benchmarks.gpu`, without a GPU: memory requests, and instructions.

    PYTHONPATH=tests python -m cuda.memory_requests --json benchmarks/results/memory_requests.json

runs a warp of each launch on the PTX machine, and writes what it counted; what is in the file already stays
as it is. `benchmarks.gpu.model` predicts times from it.

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
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from cuda.ptx_costs import Block, waits
from cuda.ptx_machine import Allocation
from cuda.ptx_machine import Kernel as Machine
from cuda.ptx_running import grid_values
from cuda.races import Place, Races
from kernels.machine_code import assembled

from benchmarks import machine
from benchmarks.gpu import MEASUREMENTS, Launch, Measurement
from benchmarks.gpu.case import GRAIN
from colkern.cpu.target import CpuTarget
from colkern.cuda import compiler
from colkern.cuda.target import schedule_for

WARP, LANES, SECTOR, LINE, BANKS = 32, 8, 32, 128, 32

STEPS = 4
"""The items of a thread, or of its group."""

MOST_STEPS, MOST_BYTES = 16, 1 << 17
"""Where the work of a thread is counted: so many items, or as many as a warp's so many bytes are.

It has eight times as many where it leaves a partial result, as on a GPU.
"""

SLOTS = 1 << 20
"""As many as leave random places apart."""

SIZE = 1 << 30
"""The bytes that a launch works on in `bench-gpu`."""

IN_CACHE = 1 << 24
"""An array of fewer bytes stays in the second-level cache while a launch works on `SIZE`."""

CAPABILITY = (9, 0)


class HostTarget(CpuTarget):
    """Arrays of the host, cut up as for a GPU."""

    def block_words(self, words: int) -> int:
        """See `CudaTarget.block_words`."""
        return 1


class Requests(Races):
    """The memory requests of a grid's threads, in place of the races between them.

    Args:
        memory: The memory of arrays, which begins with a sector on a GPU; what is shared by a block is
            not asked for.

    memory: The same, in order.
    followed: The blocks that each thread came to, with the sectors that it loaded from.
    """

    def __init__(self, memory: Iterable[Allocation]) -> None:
        super().__init__()
        self.memory = sorted(set(memory))
        self._begins, self._ends = zip(*self.memory, strict=True)
        self._requests: dict[tuple[int, int, int, int], set[int]] = {}
        self._block = 0
        self.followed: dict[int, list[tuple[int, list[int]]]] = defaultdict(list)

    def begin(self, block: int, threads: int) -> None:
        """A block begins."""
        self._block = block

    def visits(self, thread: int) -> Callable[[int], None]:
        """The function that a thread tells each basic block it comes to."""
        visits = self.followed[thread]
        return lambda block: visits.append((block, []))

    def accesses(self, thread: int, place: Place) -> tuple[Place, Place]:
        """The way a thread finds what it reads, and what it writes."""
        times: Counter[int] = Counter()
        visits = self.followed[thread]

        def accessed(kind: str, address: int) -> tuple[Any, int]:
            result = place(kind, address)
            number = bisect_right(self._begins, address) - 1
            if number < 0 or address >= self._ends[number]:
                return result, -1
            line = sys._getframe(2).f_lineno
            request = self._block, thread // WARP, line, times[line]
            times[line] += 1
            at = (number << 40) + address - self._begins[number]
            places = range(at, at + ctypes.sizeof(result))
            self._requests.setdefault(request, set()).update(places)
            return result, at // SECTOR

        def read(kind: str, address: int) -> Any:
            result, sector = accessed(kind, address)
            if visits:
                visits[-1][1].append(sector)
            return result

        return read, lambda kind, address: accessed(kind, address)[0]

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

    @property
    def wavefronts(self) -> int:
        """The cycles of a multiprocessor's first-level cache: each gives a word of each bank.

        It finds four lines in a cycle.
        """
        cycles = 0
        for places in self._requests.values():
            words = {place // 4 for place in places}
            lines = len({place // LINE for place in places})
            cycles += max(max(Counter(word % BANKS for word in words).values()), -(-lines // 4))
        return cycles

    def apart(self, least: int) -> tuple[int, int]:
        """The sectors that are asked for, each once: in arrays of so many bytes, and in smaller ones."""
        large = {k for k, (begin, end) in enumerate(self.memory) if end - begin >= least}
        result = {place // SECTOR for places in self._requests.values() for place in places}
        within = sum((sector * SECTOR >> 40) in large for sector in result)
        return within, len(result) - within


def _allocation(array: Any) -> Allocation:
    """Where an array's memory begins that would begin with a sector on a GPU, and its end."""
    begin: int = array.ctypes.data
    end = begin + array.nbytes
    if begin % SECTOR and array.base is not None:
        begin = array.base.ctypes.data
    return begin, end


def _compiled(launch: Launch, threads: int, lanes: int) -> str:
    kernel = launch.kernel
    variant = kernel.variant(kernel.require_types(launch.args))
    return compiler.ptx(kernel, variant, CAPABILITY, threads, lanes)


def _requested(program: Machine, launch: Launch, threads: int, lanes: int, steps: int) -> Requests:
    """The requests of the first block of a launch, of which each thread has so many items."""
    values, arrays = grid_values(
        launch.kernel, launch.count, steps * threads // lanes, launch.args, 1
    )
    requests = Requests([_allocation(a) for a in (*arrays, *launch.held) if a.nbytes])
    program.launch(1, threads, values, requests.memory, requests)
    return requests


def requests_of(measurement: Measurement) -> Requests:
    """The requests of the first warp of a launch."""
    launch = measurement.at(HostTarget(), GRAIN)
    lanes = LANES if launch.kernel.grouped else 1
    return _requested(Machine(_compiled(launch, WARP, lanes)), launch, WARP, lanes, STEPS)


def work_of(measurement: Measurement) -> dict[str, Any]:
    """The work of a launch's warp: two figures of each kind, of threads that have so many items."""
    target = HostTarget()
    launch = measurement.at(target, SLOTS)
    is_sized = launch.kernel.grouped and launch.kernel.arguments[-1].array
    mean = launch.args[-1].nbytes // max(launch.count, 1) if is_sized else 0
    lanes = schedule_for(1).cut(launch.kernel, launch.count, mean).lanes
    threads = max(WARP, lanes)
    text = _compiled(launch, threads, lanes)
    program = Machine(text, followed=True)
    blocks = [Block(lines) for lines in program.blocks]
    most = MOST_STEPS * (8 if launch.kernel.returns else 1)
    most = min(most, launch.count * lanes // threads)
    most = min(most, MOST_BYTES * launch.count // launch.nbytes * lanes // threads)
    steps = [max(most // 2, 1), max(most, 2)]
    counted: dict[str, list[int]] = defaultdict(list)
    for some in steps:
        requests = _requested(program, launch, threads, lanes, some)
        warps = threads // WARP
        # Threads of a warp that part run one after the other.
        runs = [0.0] * len(blocks)
        for warp in range(warps):
            visited = [
                Counter(block for block, _ in requests.followed[warp * WARP + lane])
                for lane in range(WARP)
            ]
            for number in range(len(blocks)):
                runs[number] += max(counts[number] for counts in visited) / warps
        waited = [waits(blocks, requests.followed[k]) for k in range(0, threads, threads // 4)]
        within, small = requests.apart(IN_CACHE * launch.nbytes // SIZE)
        figures = {
            "instructions": sum(n * block.slots for n, block in zip(runs, blocks, strict=True)),
            "slow_instructions": sum(n * block.slow for n, block in zip(runs, blocks, strict=True)),
            "wavefronts": requests.wavefronts / warps,
            "memory_sectors": within / warps,
            "cached_sectors": small / warps,
            "waits": max(far for far, _ in waited),
            "short_waits": max(near for _, near in waited),
        }
        for name, figure in figures.items():
            counted[name].append(round(figure))
    slots = measurement.slots_for(target, SIZE)
    few, more = (measurement.at(target, n) for n in (GRAIN, 2 * GRAIN))
    return {
        "items": few.count + (more.count - few.count) * (slots // GRAIN - 1),
        "launch_bytes": few.nbytes + (more.nbytes - few.nbytes) * (slots // GRAIN - 1),
        "mean_bytes": mean,
        "registers": assembled(text, CAPABILITY).registers,
        "steps": steps,
        **counted,
    }


def main() -> None:
    """Run what is not in the file yet, for so many seconds at most."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="then stop")
    options = parser.parse_args()
    begin = time.monotonic()
    result = json.loads(options.json.read_text()) if options.json.exists() else {"rows": []}
    result = {**machine.facts(threads=1), **result}
    known = {row["case"] for row in result["rows"]}
    left = [measurement for measurement in MEASUREMENTS if measurement.name not in known]
    # Streaming kernels first.
    for measurement in sorted(left, key=lambda each: each.kind, reverse=True):
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
            **work_of(measurement),
        }
        result["rows"].append(row)
        left.remove(measurement)
        machine.write_json(options.json, result)
    print(f"{len(left)} launches are left")


if __name__ == "__main__":
    main()
