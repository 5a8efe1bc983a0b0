"""Cases of `colkern.kernels.numbers`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from kernels.case import LENGTHS, NOWHERE, Case, cases_of, limits, numbers, validities

from colkern.kernels import numbers as kernels

DAY = 24 * 60 * 60 * 1000


@cases_of(kernels.first_partial_day)
def first_partial_day(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("days")
    low, high = limits(types["values"])
    good = [0, DAY, -DAY, 20_000 * DAY, high // DAY * DAY, -(-low // DAY) * DAY]
    bad = [1, -1, DAY - 1, -DAY + 1, DAY // 2, low, high]
    for count in LENGTHS:
        for label, bytes_, offset, valid in validities(rng, count):
            for share in (0, 0.1, 1):
                values = [rng.choice(bad if rng.random() < share else good) for _ in range(count)]
                wrong = (i for i, v in enumerate(values) if valid[i] and v in bad)
                args = (values, bytes_, offset)
                yield Case(f"{count}, {label}, {share} bad", count, args, next(wrong, NOWHERE))
    for value in bad:
        yield Case(f"{value}", 2, ([0, value], [], 0), 1)


def words(values: list[int], bits: int, code: str, *, signed: bool = True) -> list[int]:
    """The values as words of that type, lowest first."""
    raw = b"".join(value.to_bytes(bits // 8, "little", signed=signed) for value in values)
    result: list[int] = np.frombuffer(raw, f"<{code}").tolist()
    return result


@cases_of(kernels.first_decimal_out_of_precision)
def first_decimal_out_of_precision(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("decimals")
    code = types["words"]
    wide = ((64, 10), (64, 18), (128, 1), (128, 20), (128, 38), (256, 39), (256, 76))
    for bits, precision in wide if code == "u8" else ((32, 1), (32, 9)):
        limit, half = 10**precision, 2 ** (bits - 1)
        good = [0, 1, -1, limit - 1, 1 - limit]
        bad = [limit, -limit, limit + 1, half - 1, -half]
        # The least and the largest value; half the range on top turns the sign's bit over.
        ends = [words([end + half], bits, code, signed=False) for end in (1 - limit, limit - 1)]
        sign = 2 ** (31 if code == "u4" else 63)
        for value in (*good, *bad):
            args = (words([0, value], bits, code), [], 0, sign, *ends)
            label = f"{value} of {precision} digits in {bits} bits"
            yield Case(label, 2, args, 1 if value in bad else NOWHERE)
        for count in LENGTHS:
            for label, bytes_, offset, valid in validities(rng, count):
                values = [rng.choice(bad if rng.random() < 0.1 else good) for _ in range(count)]
                wrong = (i for i, v in enumerate(values) if valid[i] and v in bad)
                args = (words(values, bits, code), bytes_, offset, sign, *ends)
                yield Case(f"{bits}: {count}, {label}", count, args, next(wrong, NOWHERE))
