"""Runs: short and long ones."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.gpu.case import Data, Launch, launches
from colkern.kernels import hidden
from colkern.kernels import runs as kernels

RUNS = (10, 1000)


@launches
def decoded_runs(data: Data) -> Iterator[Launch]:
    for run in RUNS:
        ends = data.range(data.slots(8 * run + 12), "i4", run, start=run)
        count, values = len(ends) * run, data.range(len(ends), "u8")
        out = data.out(count, "i8")
        label = f"runs of {run}"
        yield Launch(kernels.run_of_each, label, count, ends, 0, out)
        yield Launch(kernels.decode_runs, f"u8, {label}", count, ends, values, 0, out.view("u8"))


@launches
def decode_run_bits(data: Data) -> Iterator[Launch]:
    for run in RUNS:
        ends = data.range(8 * data.slots(8 * 8 + run), "i8", run, start=run)
        count, bits = len(ends) * run, data.bits(len(ends))
        args = (ends, bits, 0, 0, count, data.out(-(-count // 64), "u8"))
        yield Launch(kernels.decode_run_bits, f"runs of {run}", -(-count // 64), *args)
        seen = (ends, data.bits(count), data.out(len(ends) // 8, "u1"))
        yield Launch(hidden.runs_with_set_bits, f"runs of {run}", len(ends) // 8, *seen)


@launches
def run_ends(data: Data) -> Iterator[Launch]:
    ends = data.range(data.slots(8), "i4", 10, start=10)
    count, last = len(ends), 10 * len(ends)
    yield Launch(kernels.first_bad_run_end, "i4", count, ends)
    yield Launch(kernels.number_runs, "i4", count, data.out(count, "i4"))
    args = (ends, 5, last - 5, 0, data.out(count, "i4"))
    yield Launch(kernels.rebase_run_ends, "i4", count, *args)


@launches
def find_runs(data: Data) -> Iterator[Launch]:
    ends = data.range(data.slots(20), "i4", 10, start=10)
    count = len(ends)
    positions, out = data.numbers(count, 10 * count, "i8"), data.out(count, "i8")
    yield Launch(kernels.find_runs, "at random", count, ends, positions, 0, out)
