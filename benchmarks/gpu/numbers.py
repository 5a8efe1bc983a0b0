"""Numbers within what their types allow."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.gpu.case import Data, Launch, launches
from colkern.kernels import extensions
from colkern.kernels import numbers as kernels


@launches
def ranges_of_numbers(data: Data) -> Iterator[Launch]:
    for dtype in ("i4", "i8"):
        values = data.range(data.slots(int(dtype[1])), dtype)
        args = (values, data.none, 0, len(values))
        yield Launch(kernels.first_number_out_of_range, dtype, len(values), *args)
    small = data.numbers(data.slots(2), 1000, "i2")
    args = (small, -1000, 1000, data.none, 0)
    yield Launch(extensions.first_number_outside, "i2", len(small), *args)


@launches
def partial_days(data: Data) -> Iterator[Launch]:
    days = data.numbers(data.slots(8), 20_000, "i8") * kernels.DAY_MS
    yield Launch(kernels.first_partial_day, "", len(days), days, data.none, 0)


@launches
def precision_of_decimals(data: Data) -> Iterator[Launch]:
    sign = 1 << 63
    for width in (1, 2):
        count = data.slots(8 * width)
        words = data.repeated([1000, 0][:width], count * width, "u8")
        least, largest = [[0, sign - 1][-width:], [1 << 32, sign][-width:]]
        if width == 1:
            least, largest = [sign - 10_000], [sign + 10_000]
        limits = (sign, data.table(least, "u8"), data.table(largest, "u8"))
        args = (words, data.none, 0, *limits)
        yield Launch(kernels.first_decimal_out_of_precision, f"{64 * width} bits", count, *args)


@launches
def shapes_of_tensors(data: Data) -> Iterator[Launch]:
    count = data.slots(12)
    offsets, shapes = data.range(count + 1, "i4", 6), data.repeated([2, 3], 2 * count, "i4")
    args = (offsets, shapes, data.none, 0, data.table([-1, 3], "i8"), data.none, 0)
    yield Launch(extensions.first_tensor_unlike_its_shape, "two dimensions", count, *args)
