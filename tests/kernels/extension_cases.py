"""Cases of `colkern.kernels.extensions`."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import accumulate
from math import prod
from typing import Any

from kernels.case import LENGTHS, NOWHERE, Case, bitmap, cases_of, numbers, validities

from colkern.kernels import extensions


def tensors(
    label: str, shapes: list[list[int]], lengths: list[int], uniform: list[int], **more: Any
) -> Case:
    """One call, with what must hold said once more in Python."""
    count = len(shapes)
    valid = more.get("valid", [True] * count)
    known = more.get("known", [True] * (count * len(uniform)))
    wrong = (
        i
        for i, (shape, length) in enumerate(zip(shapes, lengths, strict=True))
        if valid[i]
        and (
            min(shape, default=0) < 0
            or prod(shape) != length
            or any(u >= 0 and u != size for u, size in zip(uniform, shape, strict=True))
            or not all(known[i * len(uniform) : (i + 1) * len(uniform)])
        )
    )
    args = (
        list(accumulate(lengths, initial=more.get("first", 0))),
        [size for shape in shapes for size in shape],
        more.get("sizes", []),
        more.get("sizes_offset", 0),
        uniform,
        more.get("validity", []),
        more.get("offset", 0),
    )
    return Case(label, count, args, next(wrong, NOWHERE))


@cases_of(extensions.first_tensor_unlike_its_shape)
def first_tensor_unlike_its_shape(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("tensors")
    for count in LENGTHS:
        for label, bytes_, offset, valid in validities(rng, count):
            for share in (0, 0.1, 1):
                shapes = [[rng.randrange(4), rng.randrange(1, 4)] for _ in range(count)]
                lengths = [prod(shape) + (rng.random() < share) for shape in shapes]
                yield tensors(
                    f"{count}, {label}, {share} bad",
                    shapes,
                    lengths,
                    [-1, -1],
                    validity=bytes_,
                    offset=offset,
                    valid=valid,
                    first=5,
                )
    good = [[2, 3], [4, 3], [0, 3]]
    yield tensors("uniform", good, [6, 12, 0], [-1, 3])
    yield tensors("not uniform", [*good, [3, 2]], [6, 12, 0, 6], [-1, 3])
    yield tensors("negative", [[2, 3], [-2, -3]], [6, 6], [-1, -1])
    yield tensors("no dimensions", [[], [], []], [1, 1, 2], [])
    yield tensors("product past 64 bits", [[2**31 - 1] * 9], [0], [-1] * 9)
    yield tensors("product of 2**64", [[65536] * 4], [0], [-1] * 4)
    yield tensors("nothing of much", [[2**31 - 1] * 8 + [0]], [0], [-1] * 9)
    known = [True, True, True, False, False, True]
    for sizes_offset in (0, 5):
        sizes = bitmap(known, sizes_offset, random.Random(1))
        more = {"sizes": sizes, "sizes_offset": sizes_offset, "known": known}
        yield tensors("a size is null", good, [6, 12, 0], [-1, -1], **more)
        valid = [True, False, False]
        more |= {"validity": bitmap(valid, 0, random.Random(2)), "valid": valid}
        yield tensors("a size of a null is null", good, [6, 12, 0], [-1, -1], **more)


@cases_of(extensions.first_number_outside)
def first_number_outside(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("outside")
    low, high = -779, 781
    for count in LENGTHS:
        for label, bytes_, offset, valid in validities(rng, count):
            for share in (0, 0.1, 1):
                values = [
                    rng.choice([-780, 781, -(2**15), 2**15 - 1] if rng.random() < share else [0])
                    for _ in range(count)
                ]
                wrong = (i for i, v in enumerate(values) if valid[i] and not low <= v < high)
                args = (values, low, high, bytes_, offset)
                yield Case(f"{count}, {label}, {share} bad", count, args, next(wrong, NOWHERE))
    yield Case("the ends", 3, ([low, high - 1, high], low, high, [], 0), 2)
