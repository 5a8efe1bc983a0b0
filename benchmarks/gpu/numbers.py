"""Numbers within what their types allow."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.case import streaming
from benchmarks.gpu.data import Data
from colkern.kernels import extensions
from colkern.kernels import numbers as kernels

SIGN = 1 << 63


def days(d: Data) -> tuple[Any, ...]:
    values = d.numbers("i8", 20_000)
    values *= kernels.DAY_MS
    return d.n, values, d.none, 0


def decimals(d: Data, width: int) -> tuple[Any, ...]:
    words = d.out("u8", width * d.n)
    words[::width] = d.numbers("u8", 1000)
    # The sign's bit stands in the highest word, the other way round.
    least, largest = [[SIGN - 10_000], [SIGN + 10_000]]
    if width == 2:
        least, largest = [0, SIGN - 1], [1 << 32, SIGN]
    return d.n, words, d.none, 0, SIGN, d.table(least, "u8"), d.table(largest, "u8")


def tensors(d: Data) -> tuple[Any, ...]:
    offsets = d.range("i4", 6, count=d.n + 1)
    shapes = d.repeated([2, 3], "i4", 2 * d.n)
    return d.n, offsets, shapes, d.none, 0, d.table([-1, 3], "i8"), d.none, 0


streaming(kernels.first_partial_day, days)
streaming(kernels.first_decimal_out_of_precision, decimals, each={"64 bits": 1, "128 bits": 2})
streaming(
    extensions.first_number_outside,
    lambda d: (d.n, d.numbers("i2", 1000), -1000, 1000, d.none, 0),
)
streaming(extensions.first_tensor_unlike_its_shape, tensors, label="two dimensions")
