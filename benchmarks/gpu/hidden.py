"""Hidden slots: half of them, at random."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.gpu.case import Data, Launch, launches
from colkern.kernels import hidden as kernels


@launches
def hidden_values(data: Data) -> Iterator[Launch]:
    for dtype, width in (("u1", 1), ("u4", 1), ("u8", 2)):
        count = data.slots(2 * int(dtype[1]) * width)
        zeros, visible = data.full(count * width, 0, dtype), data.bits(count)
        args = (zeros, width, visible, 0)
        label = f"{width} x {dtype}"
        yield Launch(kernels.first_hidden_value, label, count, *args)
        out = data.out(count * width, dtype)
        yield Launch(kernels.blank_hidden_values, label, count, *args, out)


@launches
def hidden_lengths(data: Data) -> Iterator[Launch]:
    offsets = data.full(data.slots(12) + 1, 0, "i4")
    count = len(offsets) - 1
    args = (offsets, data.bits(count), 0)
    yield Launch(kernels.first_hidden_length, "i4", count, *args)
    yield Launch(kernels.visible_lengths, "i4", count, *args, data.out(count, "i8"))


@launches
def covered_bits(data: Data) -> Iterator[Launch]:
    ranges = 8 * data.slots(8 * 18.5)
    starts = data.range(ranges, "i8", 20)
    stops = data.range(ranges, "i8", 20, start=10)
    out = data.out(20 * ranges // 8, "u1")
    args = (starts, stops, 20 * ranges, out)
    yield Launch(kernels.covered_bits, "ranges of 10", len(out), *args)


@launches
def repeat_bits(data: Data) -> Iterator[Launch]:
    size = data.slots(1.1)
    bits, out = data.bits(8 * size // 10 + 8), data.out(size, "u1")
    yield Launch(kernels.repeat_bits, "10 times", size, bits, 10, 8 * size, out)
