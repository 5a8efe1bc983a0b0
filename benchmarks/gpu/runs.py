"""Runs: short and long ones, of any length from one slot on."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.case import gather, other, streaming
from benchmarks.gpu.data import Data
from colkern.kernels import run_merging
from colkern.kernels import runs as kernels

RUNS = {"runs of 10": 10, "runs of 100": 100}
BLOCK = 1 << kernels.BLOCK_BITS


def run_ends(d: Data, run: int, dtype: str = "i4") -> Any:
    """Runs for about as many slots as there are."""
    return d.offsets(dtype, run, max(d.n // run, 2), 1)[1:]


def decode_runs(d: Data, run: int) -> tuple[Any, ...]:
    ends = run_ends(d, run)
    return d.last(ends), ends, d.words("u8", len(ends)), 0, d.out("u8", d.last(ends))


def decode_run_bits(d: Data, run: int) -> tuple[Any, ...]:
    ends = run_ends(d, run, "i8")
    slots = d.last(ends)
    size = -(-slots // 64)
    return size, ends, d.bits(len(ends)), 0, 0, slots, d.out("u8", size)


def measured(d: Data, run: int) -> tuple[Any, ...]:
    """How many bytes the strings of each of n runs are."""
    ends = d.offsets("i8", run, d.n, 1)[1:]
    return d.n, ends, 0, 0, d.last(ends), d.offsets("i8", 4), d.out("i8")


def repeated(d: Data, run: int) -> tuple[Any, ...]:
    """Where the string of each slot begins."""
    ends = run_ends(d, run, "i8")
    slots, strings = d.last(ends), d.offsets("i8", 4, len(ends))
    lengths = (len(ends), ends, 0, 0, slots, strings, d.out("i8", len(ends)))
    starts = d.scan(d.computed(kernels.measure_runs, *lengths))
    return slots, ends, 0, 0, strings, starts, d.out("i8", slots + 1)


def repeat_bytes(d: Data, run: int) -> tuple[Any, ...]:
    slots, ends, _, _, strings, starts, out = repeated(d, run)
    begins = d.computed(kernels.repeat_offsets, slots, ends, 0, 0, strings, starts, out)
    begins[-1:] = starts[-1:]
    text = d.text(d.last(strings))
    return slots, ends, 0, strings, d.address(text), begins, d.out("u1", d.last(starts))


def find_runs(d: Data) -> tuple[Any, ...]:
    ends = d.offsets("i4", 10, least=1)[1:]
    return d.n, ends, d.numbers("i8", d.last(ends)), 0, d.out("i8")


def indexed(d: Data, run: int) -> tuple[Any, ...]:
    """The index of runs for as many slots as there are."""
    ends = d.offsets("i8", run, max(-(-d.n // run), 2), 1)[1:]
    return d.n // 64, ends, 0, d.out("u8", d.n // 32)


def look_up_runs(d: Data, run: int) -> tuple[Any, ...]:
    index = d.computed(kernels.index_runs, *indexed(d, run))
    return d.n, index, d.numbers("i4", d.n), d.out("i8")


def kept(d: Data) -> tuple[Any, ...]:
    """How many slots are kept, one in two, before each of n runs of 2."""
    ends, slots = d.offsets("i8", 2, least=1)[1:], 2 * d.n
    bits = d.bits(slots)
    counts = d.computed(
        kernels.count_word_bits, slots // 64, bits, 0, slots, d.out("i8", slots // 64)
    )
    return d.n + 1, ends, 0, 0, slots, bits, 0, d.scan(counts), d.out("i8", d.n + 1)


def picked(d: Data) -> tuple[Any, ...]:
    """A position in each of n runs of 2."""
    ends = d.offsets("i8", 2, least=1)[1:]
    return d.n + 1, ends, 0, 0, d.range("i8", 2), d.out("i8", d.n + 1)


def count_kept_runs(d: Data) -> tuple[Any, ...]:
    before = d.computed(kernels.kept_before, *kept(d))
    return d.blocks(BLOCK), before, 0, d.out("i8", d.blocks(BLOCK))


def list_kept_runs(d: Data) -> tuple[Any, ...]:
    blocks, before, _, out = count_kept_runs(d)
    starts = d.scan(d.computed(kernels.count_kept_runs, blocks, before, 0, out))
    return blocks, before, 0, starts, d.out("i8", d.last(starts))


def end_kept_runs(d: Data) -> tuple[Any, ...]:
    args = list_kept_runs(d)
    runs = d.computed(kernels.list_kept_runs, *args)
    return len(runs), args[1], 0, runs, d.out("i8", len(runs))


def merged(d: Data) -> tuple[Any, ...]:
    """Two arrays of n runs each, with ends of their own."""
    sides = [d.offsets("i4", 10, least=1)[1:] for _ in range(2)]
    blocks = -(-2 * d.n // (1 << run_merging.BLOCK_BITS))
    return blocks, *sides, d.out("i8", blocks)


def list_merged(d: Data) -> tuple[Any, ...]:
    blocks, left, right, out = merged(d)
    starts = d.scan(d.computed(run_merging.count_merged, blocks, left, right, out))
    return blocks, left, right, 0, 0, starts, d.out("i8", 3 * (d.last(starts) + 1))


streaming(kernels.decode_runs, decode_runs, each=RUNS)
other(kernels.decode_run_bits, decode_run_bits, each=RUNS)
streaming(kernels.measure_runs, measured, each=RUNS)
streaming(kernels.repeat_offsets, repeated, each=RUNS)
gather(kernels.repeat_bytes, repeat_bytes, each=RUNS)
streaming(kernels.first_bad_run_end, lambda d: (d.n, d.offsets("i4", 4, least=1)[1:]))
streaming(kernels.end_runs, lambda d: (d.n, d.range("i8", 5), 5 * d.n, d.out("i4")))
streaming(kernels.number_runs, lambda d: (d.n, d.out("i4")))
streaming(
    kernels.rebase_run_ends,
    lambda d: (d.n, d.range("i4", 5, 5), 3, 5 * d.n - 3, 0, d.out("i4")),
)
other(kernels.find_runs, find_runs, label="at random")
other(kernels.index_runs, indexed, each=RUNS)
other(kernels.look_up_runs, look_up_runs, each=RUNS)
streaming(kernels.count_word_bits, lambda d: (d.n // 64, d.bits(), 0, d.n, d.out("i8", d.n // 64)))
other(kernels.kept_before, kept)
other(kernels.picked_before, picked)
streaming(kernels.count_kept_runs, count_kept_runs)
other(kernels.list_kept_runs, list_kept_runs)
other(kernels.end_kept_runs, end_kept_runs)
other(run_merging.count_merged, merged)
other(run_merging.list_merged, list_merged)
