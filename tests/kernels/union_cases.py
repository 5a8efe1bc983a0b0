"""Cases of `colkern.kernels.unions`."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from kernels.case import (
    LENGTHS,
    NOWHERE,
    Addresses,
    Case,
    bitmap,
    cases_of,
    limits,
    numbers,
    packed,
)

from colkern.kernels import unions

CODES = (5, 0, 127)
CHILD_OF = [CODES.index(code) if code in CODES else -1 for code in range(128)]


@dataclass
class Slots:
    """The slots of a union: its type ids and offsets, and for each slot its child and slot there."""

    type_ids: list[int]
    offsets: list[int]
    children: list[int]
    places: list[int]
    lengths: list[int]


def some_slots(rng: random.Random, count: int, dense: bool) -> Slots:
    children = [rng.choice((0, 0, 2, 1)) for _ in range(count)]
    lengths = [count + 3, count, count + 1]
    places = [rng.randrange(lengths[c]) for c in children] if dense else list(range(count))
    ids = [CODES[child] for child in children]
    return Slots(ids, places if dense else [], children, places, lengths)


def unions_of(seed: str) -> Iterator[tuple[str, random.Random, Slots]]:
    rng = numbers(seed)
    for count in LENGTHS:
        for dense in (False, True):
            mode = "dense" if dense else "sparse"
            yield f"{count}, {mode}", rng, some_slots(rng, count, dense)


@cases_of(unions.gather_union)
def gather_union(types: dict[str, str]) -> Iterator[Case]:
    low, high = limits(types["out"])
    for label, rng, slots in unions_of("gather"):
        for width in (1, 2, 3):
            values = [
                np.array([rng.randint(low, high) for _ in range(length * width)], types["out"])
                for length in slots.lengths
            ]
            expected = [
                int(values[child][place * width + item])
                for child, place in zip(slots.children, slots.places, strict=True)
                for item in range(width)
            ]
            args = (slots.type_ids, CHILD_OF, slots.offsets, Addresses(values), width)
            yield Case(f"{label}, {width} items", len(slots.children), args, expected)


def ends_of(lengths: Sequence[int]) -> list[int]:
    """The length of the child of each type id, 0 where there is none."""
    return [lengths[child] if child >= 0 else 0 for child in CHILD_OF]


@cases_of(unions.first_slot_out_of_bounds)
def first_slot_out_of_bounds(types: dict[str, str]) -> Iterator[Case]:
    for label, _, slots in unions_of("bounds"):
        count = len(slots.children)
        ends = ends_of(slots.lengths)
        args = (slots.type_ids, slots.offsets, ends)
        yield Case(f"{label}, good", count, args, NOWHERE)
        if not count:
            continue
        for slot in sorted({0, count // 2, count - 1}):
            for bad_id in (-1, -128, 1, 126):
                ids = [bad_id if i == slot else v for i, v in enumerate(slots.type_ids)]
                args = (ids, slots.offsets, ends)
                yield Case(f"{label}, type id {bad_id} at {slot}", count, args, slot)
            if slots.offsets:
                length = slots.lengths[slots.children[slot]]
                for bad in (-1, -(2**31), length, 2**31 - 1):
                    offsets = [bad if i == slot else v for i, v in enumerate(slots.offsets)]
                    args = (slots.type_ids, offsets, ends)
                    yield Case(f"{label}, offset {bad} at {slot}", count, args, slot)
    yield Case("short child", 3, ([5, 5, 5], [], ends_of([2, 0, 0])), 2)


@cases_of(unions.split_pairs)
def split_pairs(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("pairs")
    ends = [7, 0, 2**31 - 1, *[1] * 125]
    for count in LENGTHS:
        pairs = [
            (child := rng.choice((0, 2, 127)), rng.randrange(ends[child])) for _ in range(count)
        ]
        groups = -(-count // 4)
        ids = np.zeros(4 * groups, np.int8)
        ids[:count] = [child for child, _ in pairs]
        expected = [*[slot for _, slot in pairs], *ids.view(np.int32).tolist()]
        args = [item for pair in pairs for item in pair], ends, count
        yield Case(f"{count} pairs", groups, args, (NOWHERE, expected))
    lowest, highest = limits(types["pairs"])
    for bad in ((0, 7), (1, 0), (128, 0), (0, highest), (highest, 0), (lowest or highest, 0)):
        args = [0] * 10 + [*bad, 0, 6], ends, 7
        expected = [0, 0, 0, 0, 0, 9, 9, 0, 9]
        yield Case(f"a pair {bad}", 2, args, (5, expected), [9] * 9)


@cases_of(unions.first_descending_slot)
def first_descending_slot(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("order")
    for count in (2, *LENGTHS[2:]):
        slots = sorted(rng.sample(range(2 * count), count))
        for label, step in (("rising", (0, 1, 2)), ("mixed", (-1, 0, 1, 1, 1)), ("falling", (-1,))):
            places = list(itertools.accumulate(rng.choices(step, k=count), initial=count))[1:]
            offsets = [rng.choice((-(2**31), 2**31 - 1)) for _ in range(2 * count)]
            for slot, place in zip(slots, places, strict=True):
                offsets[slot] = place
            pairs = enumerate(itertools.pairwise(places))
            expected = next((i for i, (a, b) in pairs if b < a), NOWHERE)
            yield Case(f"{count}, {label}", count - 1, (slots, offsets), expected)
    yield Case("one slot", 0, ([0], [3]), NOWHERE)


@cases_of(unions.number_slots)
def number_slots(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("number slots")
    for count in LENGTHS:
        slots = sorted(rng.sample(range(count), count // 2))
        expected = [-1] * count
        for place, slot in enumerate(slots):
            expected[slot] = place
        yield Case(f"{len(slots)} of {count}", len(slots), (slots,), expected, [-1] * count)


@cases_of(unions.rebase_slots)
def rebase_slots(types: dict[str, str]) -> Iterator[Case]:
    for label, _, slots in unions_of("rebase"):
        bases = [1000, 0, 31]
        where = zip(slots.children, slots.places, strict=True)
        expected = [bases[child] + place for child, place in where]
        args = (slots.type_ids, CHILD_OF, slots.offsets, bases)
        yield Case(label, len(expected), args, expected)


@cases_of(unions.gather_union_bits)
def gather_union_bits(types: dict[str, str]) -> Iterator[Case]:
    for label, rng, slots in unions_of("gather bits"):
        bits = [[rng.random() < 0.5 for _ in range(length)] for length in slots.lengths]
        firsts = [rng.randrange(9) for _ in bits]
        maps = [bitmap(b, first, rng) for b, first in zip(bits, firsts, strict=True)]
        for absent in ((), (0,), (0, 1, 2)):
            given = Addresses([None if c in absent else m for c, m in enumerate(maps)])
            where = zip(slots.children, slots.places, strict=True)
            expected = packed([child in absent or bits[child][place] for child, place in where])
            length = len(slots.children)
            args = (slots.type_ids, CHILD_OF, slots.offsets, given, firsts, length)
            yield Case(f"{label}, absent {absent}", len(expected), args, expected)


@cases_of(unions.places_in_child)
def places_in_child(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("places in child")
    for count in LENGTHS:
        ids = [rng.choice((0, 5, 127)) for _ in range(count)]
        offsets = [rng.choice((0, 3, 2**31 - 1)) for _ in range(count)]
        expected = [o if code == 5 else 0 for o, code in zip(offsets, ids, strict=True)]
        yield Case(f"{count}", count, (ids, 5, offsets), expected)


def texts_of(
    seed: str, code: str
) -> Iterator[tuple[str, Slots, Addresses, list[bytes], list[bytes]]]:
    """Unions of strings: the slots, the children's offsets, their data, and what each slot shows."""
    for label, rng, slots in unions_of(seed):
        data, offsets, values = [], [], []
        for length in slots.lengths:
            own = [rng.randbytes(rng.choice((0, 1, 3, 9, 20))) for _ in range(length)]
            values.append(own)
            data.append(b"?" + b"".join(own))
            offsets.append(np.array([*itertools.accumulate(map(len, own), initial=1)], code))
        where = zip(slots.children, slots.places, strict=True)
        shown = [values[child][place] for child, place in where]
        yield label, slots, Addresses(offsets), data, shown


@cases_of(unions.gather_union_lengths)
def gather_union_lengths(types: dict[str, str]) -> Iterator[Case]:
    for label, slots, offsets, _, shown in texts_of("text lengths", types["like"]):
        args: tuple[Any, ...] = (slots.type_ids, CHILD_OF, slots.offsets, offsets, [])
        yield Case(label, len(shown), args, [len(value) for value in shown])


@cases_of(unions.gather_union_bytes)
def gather_union_bytes(types: dict[str, str]) -> Iterator[Case]:
    for label, slots, offsets, data, shown in texts_of("text bytes", types["starts"]):
        starts = list(itertools.accumulate(map(len, shown), initial=0))
        bases = Addresses([np.frombuffer(own, np.uint8) for own in data])
        sizes = [len(own) for own in data]
        args = (slots.type_ids, CHILD_OF, slots.offsets, offsets, bases, sizes, starts)
        yield Case(label, len(shown), args, list(b"".join(shown)))
