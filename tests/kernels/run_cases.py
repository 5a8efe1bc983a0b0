"""Cases of `colkern.kernels.runs`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from kernels.case import (
    LENGTHS,
    NOWHERE,
    POISON,
    At,
    Case,
    bitmap,
    cases_of,
    limits,
    numbers,
    random_bits,
    words,
)

from colkern.kernels import runs

# Lengths of runs: one, many short ones, a long one, mixtures.
RUNS = ([1], [5], [1] * 70, [64, 1], [3, 1, 1, 20, 2, 41, 1, 9], [100])

_POISONED = {code: int.from_bytes([POISON] * int(code[1:])) for code in ("u4", "u8")}
"""An item of the output that a kernel has not written."""


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
    yield Case("two at the end", 4, ([most - 2, most], [0, 1], most - 4), [0, 0, 1, 1])


@cases_of(runs.decode_run_bits)
def decode_run_bits(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("decode bits")
    for ends, owners, offset, count in slices():
        bits = [rng.random() < 0.5 for _ in ends]
        first = rng.randrange(9)
        shown = [bits[run] for run in owners[offset : offset + count]]
        expected = words(shown)
        args = (ends, bitmap(bits, first, rng), first, offset, count)
        label = f"{count} of {len(ends)} runs from {offset}, bit {first}"
        yield Case(label, len(expected), args, (sum(shown), expected))


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


@cases_of(runs.join_neighbours)
def join_neighbours(types: dict[str, str]) -> Iterator[Case]:
    most = limits(types["words"])[1]
    for values in ([], [most], [0, 0, 1], [3, 3, most, most, 3], [*range(5)], [7] * 70, [1, 2] * 9):
        groups = [(value, len(list(same))) for value, same in itertools.groupby(values)]
        # The halves of the output are as long as the words.
        ends = list(itertools.accumulate(length for _, length in groups))
        rest = [_POISONED[types["out"]]] * (len(values) - len(groups))
        expected = [value for value, _ in groups] + rest + ends + rest
        yield Case(
            f"{len(groups)} of {values[:5]}", len(values), (values,), (len(groups), expected)
        )


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


@cases_of(runs.end_runs)
def end_runs(types: dict[str, str]) -> Iterator[Case]:
    yield Case("no runs", 0, ([], 0), [])
    for lengths in RUNS:
        ends = list(itertools.accumulate(lengths))
        yield Case(f"{len(ends)} runs", len(ends), ([0, *ends[:-1]], ends[-1]), ends)


@cases_of(runs.index_runs)
def index_runs(types: dict[str, str]) -> Iterator[Case]:
    for ends, owners, offset, count in slices():
        expected = []
        for begin in range(offset, offset + count, 64):
            held = owners[begin : begin + 64]
            starts = (k for k in range(1, len(held)) if held[k] != held[k - 1])
            expected += [sum(1 << k for k in starts), held[0]]
        label = f"{count} of {len(ends)} runs from {offset}"
        yield Case(label, len(expected) // 2, (ends, offset), expected)


@cases_of(runs.look_up_runs)
def look_up_runs(types: dict[str, str]) -> Iterator[Case]:
    index = [0b1010 | 1 << 63, 7, 0, 10, 1 << 1, 10]
    owners = [7, *[8] * 2, *[9] * 60, *[10] * 66, *[11] * 63]
    rng = numbers("look up")
    for places in ([], [0], [191, 0], list(range(192)), rng.choices(range(192), k=65)):
        yield Case(f"{len(places)}", len(places), (index, places), [owners[p] for p in places])


@cases_of(runs.count_word_bits)
def count_word_bits(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("word bits")
    for count in (*LENGTHS, 200):
        for offset in (0, 1, 7, 8, 61, 67):
            bits = random_bits(rng, count)
            expected = [sum(bits[b : b + 64]) for b in range(0, count, 64)]
            args = (bitmap(bits, offset, rng), offset, count)
            yield Case(f"{count} from bit {offset}", len(expected), args, expected)


def filtered() -> Iterator[tuple[str, list[int], int, int, int, list[bool], list[int]]]:
    """Runs and which slots are kept; where each run begins among those that are."""
    rng = numbers("filtered")
    for ends, owners, offset, count in slices():
        for share in (0, 0.3, 1):
            bits = [rng.random() < share for _ in range(count)]
            kept = [
                run for run, bit in zip(owners[offset : offset + count], bits, strict=True) if bit
            ]
            first = owners[offset] if count else 0
            last = owners[offset + count - 1] if count else -1
            before = [sum(run < r for run in kept) for r in range(first, last + 2)]
            label = f"{count} of {len(ends)} runs from {offset}, {share} kept"
            yield label, ends, offset, count, first, bits, before


@cases_of(runs.kept_before)
def kept_before(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("kept")
    yield Case("no range", 0, ([], 0, 0, 0, [], 0, [0]), [])
    for label, ends, offset, count, first, bits, before in filtered():
        running = [sum(bits[:b]) for b in range(0, count, 64)] + [sum(bits)]
        place = rng.randrange(70)
        args = (ends, first, offset, count, bitmap(bits, place, rng), place, running)
        yield Case(f"{label}, bit {place}", len(before), args, before)


@cases_of(runs.picked_before)
def picked_before(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("picked")
    yield Case("no range", 0, ([1], 0, 0, [0]), [])
    for ends, owners, offset, count in slices():
        for picks in (1, 5, 40, 300) if count else ():
            positions = sorted(rng.randrange(count) for _ in range(picks))
            held = [owners[offset + position] for position in positions]
            before = [sum(run < r for run in held) for r in range(held[0], held[-1] + 2)]
            args = (ends, held[0], offset, positions)
            label = f"{picks} of {count} in {len(ends)} runs from {offset}"
            yield Case(label, len(before), args, before)


@cases_of(runs.count_kept_runs)
def count_kept_runs(types: dict[str, str]) -> Iterator[Case]:
    for label, _, _, _, first, _, before in filtered():
        rises = [b > a for a, b in itertools.pairwise(before)]
        expected = [sum(rises[b : b + 64]) for b in range(0, len(rises), 64)]
        yield Case(label, len(expected), (before, first), expected)


@cases_of(runs.list_kept_runs)
def list_kept_runs(types: dict[str, str]) -> Iterator[Case]:
    for label, _, _, _, first, _, before in filtered():
        rises = [b > a for a, b in itertools.pairwise(before)]
        counts = [sum(rises[b : b + 64]) for b in range(0, len(rises), 64)]
        starts = list(itertools.accumulate(counts, initial=0))
        expected = [first + r for r, rise in enumerate(rises) if rise]
        yield Case(label, len(counts), (before, first, starts), expected)


@cases_of(runs.end_kept_runs)
def end_kept_runs(types: dict[str, str]) -> Iterator[Case]:
    for label, _, _, _, first, _, before in filtered():
        rises = [r for r, (a, b) in enumerate(itertools.pairwise(before)) if b > a]
        held = [first + r for r in rises]
        expected = [before[r + 1] for r in rises]
        yield Case(label, len(held), (before, first, held), expected)


def repeated() -> Iterator[tuple[str, list[int], list[int], bytes, int, list[int]]]:
    """Runs of binary values: run ends, the values' offsets and data, and a slice: its first position
    and the run of each of its slots."""
    rng = numbers("repeated")
    for ends, owners, offset, count in slices():
        lengths = [rng.choice((0, 1, 3, 9, 20)) for _ in ends]
        value_offsets = list(itertools.accumulate(lengths, initial=2))
        data = rng.randbytes(value_offsets[-1])
        label = f"{count} of {len(ends)} runs from {offset}"
        yield label, ends, value_offsets, data, offset, owners[offset : offset + count]


def sizes_of(value_offsets: list[int], held: list[int]) -> list[int]:
    return [value_offsets[run + 1] - value_offsets[run] for run in held]


EMPTY_RUNS, VALUE_OFFSETS = [6, 6, 9, 9], [0, 3, 10, 11, 15]
"""Runs of slots from 4 on, of which two are empty, and where their values begin."""


@cases_of(runs.measure_runs)
def measure_runs(types: dict[str, str]) -> Iterator[Case]:
    for label, ends, value_offsets, _, offset, held in repeated():
        first = held[0] if held else 0
        own = sorted(set(held))
        sizes = sizes_of(value_offsets, own)
        expected = [held.count(run) * size for run, size in zip(own, sizes, strict=True)]
        args = (ends, first, offset, len(held), value_offsets)
        yield Case(label, len(own), args, expected)
    yield Case("empty runs", 4, (EMPTY_RUNS, 0, 4, 5, VALUE_OFFSETS), [6, 0, 3, 0])


@cases_of(runs.repeat_offsets)
def repeat_offsets(types: dict[str, str]) -> Iterator[Case]:
    for label, ends, value_offsets, _, offset, held in repeated():
        first = held[0] if held else 0
        sizes = sizes_of(value_offsets, held)
        expected = list(itertools.accumulate(sizes, initial=0))[:-1]
        starts = [
            sum(s for s, run in zip(sizes, held, strict=True) if run < r) for r in sorted({*held})
        ]
        args = (ends, first, offset, value_offsets, starts)
        yield Case(label, len(held), args, expected)
    args = (EMPTY_RUNS, 0, 4, VALUE_OFFSETS, [0, 6, 6, 9])
    yield Case("empty runs", 5, args, [0, 3, 6, 7, 8])


@cases_of(runs.repeat_bytes)
def repeat_bytes(types: dict[str, str]) -> Iterator[Case]:
    for label, ends, value_offsets, data, offset, held in repeated():
        starts = list(itertools.accumulate(sizes_of(value_offsets, held), initial=0))
        expected = b"".join(data[value_offsets[run] : value_offsets[run + 1]] for run in held)
        args = (ends, offset, value_offsets, At(np.frombuffer(data, np.uint8)), starts)
        yield Case(label, len(held), args, list(expected))
    letters = At(np.frombuffer(b"abcdefghijklmno", np.uint8))
    args = (EMPTY_RUNS, 4, VALUE_OFFSETS, letters, [0, 3, 6, 7, 8, 9])
    yield Case("empty runs", 5, args, list(b"abcabckkk"))
