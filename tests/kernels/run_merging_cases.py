"""Cases of `colkern.kernels.run_merging`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from kernels.case import Case, cases_of, limits, numbers

from colkern.kernels import run_merging

BLOCK = 1 << run_merging.BLOCK_BITS


def pairs(most: int) -> Iterator[tuple[str, list[int], list[int], list[int], list[int]]]:
    """Two run ends; how many ends each block of both has, and all of them."""
    rng = numbers("merging")
    some = [
        ([], []),
        ([5], [5]),
        ([1, 2, 3], [3]),
        ([3], [1, 2, 3]),
        ([1, 3, 5, 9], [2, 3, 4, 9]),
        ([most - 1, most], [1, most]),
        (list(range(1, 201)), list(range(1, 201))),
        (list(range(1, 201)), [200]),
        ([200], list(range(1, 201))),
        *(
            [[*sorted(rng.sample(range(1, 300), k)), 300] for k in sizes]
            for sizes in ((10, 10), (100, 5), (200, 250), (3, 61))
        ),
    ]
    for left, right in some:
        # Of an end of both, the right one counts.
        every = sorted([(end, 0) for end in left] + [(end, 1) for end in right])
        counted = [which == 1 or end not in right for end, which in every]
        counts = [sum(counted[b : b + BLOCK]) for b in range(0, len(every), BLOCK)]
        yield f"{len(left)} and {len(right)}", left, right, counts, sorted({*left, *right})


@cases_of(run_merging.merge_in_order)
def merge_in_order(types: dict[str, str]) -> Iterator[Case]:
    for label, left, right, _, _ in pairs(limits(types["left"])[1]):
        length = max(left, default=0)
        for offsets in {(0, 0), (min(length, 1), 0), (length // 3, length // 2)}:
            sides = list(zip((left, right), offsets, strict=True))
            whole = length - max(offsets)
            for count in {whole, whole // 2}:
                actual = {min(end - at, count) for ends, at in sides for end in ends if end > at}
                ends = sorted(actual) if count else []
                held = [sum(e < at + end for e in own) for own, at in sides for end in ends]
                args = (left, offsets[0], right, offsets[1])
                where = f"{label}, {count} from {offsets}"
                yield Case(where, count, args, (len(ends), ends + held))


@cases_of(run_merging.count_merged)
def count_merged(types: dict[str, str]) -> Iterator[Case]:
    for label, left, right, counts, _ in pairs(limits(types["left"])[1]):
        yield Case(label, len(counts), (left, right), counts)


@cases_of(run_merging.list_merged)
def list_merged(types: dict[str, str]) -> Iterator[Case]:
    for label, left, right, counts, ends in pairs(limits(types["left"])[1]):
        starts = list(itertools.accumulate(counts, initial=0))
        slots = [0, *ends] if counts else []
        runs = [
            first + sum(end <= slot for end in side)
            for first, side in ((2, left), (5, right))
            for slot in slots
        ]
        yield Case(label, len(counts), (left, right, 2, 5, starts), slots + runs)
