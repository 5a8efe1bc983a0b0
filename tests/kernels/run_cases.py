"""Cases of `colkern.kernels.runs`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from kernels.case import LENGTHS, NOWHERE, Case, bitmap, cases_of, limits, numbers, packed

from colkern.kernels import runs

# Lengths of runs: one, many short ones, a long one, mixtures.
RUNS = ([1], [5], [1] * 70, [64, 1], [3, 1, 1, 20, 2, 41, 1, 9], [100])


def slices() -> Iterator[tuple[list[int], list[int], int, int]]:
    """Run ends, the run of each logical position, and a slice of the positions."""
    for lengths in RUNS:
        ends = list(itertools.accumulate(lengths))
        owners = [run for run, length in enumerate(lengths) for _ in range(length)]
        total = len(owners)
        for offset in sorted({0, 1, total // 2, total - 1}):
            for count in sorted({0, 1, total - offset, (total - offset) // 2}):
                if offset + count <= total:
                    yield ends, owners, offset, count


@cases_of(runs.find_runs)
def find_runs(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("find")
    for ends, owners, offset, count in slices():
        places = [rng.randrange(count) for _ in range(count)]
        expected = [owners[offset + place] for place in places]
        label = f"{count} of {len(ends)} runs from {offset}"
        yield Case(label, count, (ends, places, offset), expected)
    most = limits(types["run_ends"])[1]
    far = min(most, limits(types["positions"])[1]) - 1
    yield Case("largest run end", 3, ([1, most], [0, 1, far], 0), [0, 1, 1])


@cases_of(runs.run_of_each)
def run_of_each(types: dict[str, str]) -> Iterator[Case]:
    for ends, owners, offset, count in slices():
        expected = owners[offset : offset + count]
        yield Case(f"{count} of {len(ends)} runs from {offset}", count, (ends, offset), expected)
    most = limits(types["run_ends"])[1]
    yield Case("largest run end", 4, ([most - 2, most], most - 4), [0, 0, 1, 1])


@cases_of(runs.decode_runs)
def decode_runs(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("decode")
    low, high = limits(types["values"])
    for ends, owners, offset, count in slices():
        values = [rng.choice((low, high, rng.randint(low, high))) for _ in ends]
        expected = [values[run] for run in owners[offset : offset + count]]
        label = f"{count} of {len(ends)} runs from {offset}"
        yield Case(label, count, (ends, values, offset), expected)
    most = limits(types["run_ends"])[1]
    yield Case("largest run end", 3, ([1, most - 1, most], [1, 2, 3], most - 3), [2, 2, 3])


@cases_of(runs.decode_run_bits)
def decode_run_bits(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("decode bits")
    for ends, owners, offset, count in slices():
        bits = [rng.random() < 0.5 for _ in ends]
        first = rng.randrange(9)
        expected = packed([bits[run] for run in owners[offset : offset + count]])
        args = (ends, bitmap(bits, first, rng), first, offset, count)
        label = f"{count} of {len(ends)} runs from {offset}, bit {first}"
        yield Case(label, len(expected), args, expected)


@cases_of(runs.first_bad_run_end)
def first_bad_run_end(types: dict[str, str]) -> Iterator[Case]:
    low, high = limits(types["run_ends"])
    for label, ends in (
        ("no runs", []),
        ("one run", [1]),
        ("largest", [1, high]),
        ("empty first run", [0, 5]),
        ("negative first run", [-1, 5]),
        ("least", [low]),
        ("empty run", [2, 5, 5, 9]),
        ("descends", [2, 5, 4, 9]),
        ("descends at the end", [*range(1, 65), 64]),
        ("several", [3, 2, 1, 0, -1]),
        *((f"{n} runs", list(range(1, 2 * n + 1, 2))) for n in LENGTHS),
    ):
        before = [0, *ends]
        bad = (r for r, end in enumerate(ends) if end <= before[r])
        yield Case(label, len(ends), (ends,), next(bad, NOWHERE))


@cases_of(runs.number_runs)
def number_runs(types: dict[str, str]) -> Iterator[Case]:
    for count in LENGTHS:
        yield Case(f"{count}", count, (), list(range(1, count + 1)))


@cases_of(runs.rebase_run_ends)
def rebase_run_ends(types: dict[str, str]) -> Iterator[Case]:
    for base in (0, 1000):
        for ends, owners, offset, count in slices():
            kept = owners[offset : offset + count]
            held = sorted(set(kept))
            expected = list(itertools.accumulate(kept.count(run) for run in held))
            args = ([ends[run] for run in held], offset, offset + count, base)
            label = f"{count} of {len(ends)} runs from {offset} to {base}"
            yield Case(label, len(held), args, [base + end for end in expected])
