"""Selection by position: random positions, which is the worst that memory can be asked for."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.gpu.case import Data, Launch, launches
from colkern.kernels import lists
from colkern.kernels import selection as kernels


@launches
def indices(data: Data) -> Iterator[Launch]:
    count = data.slots(12)
    positions = data.numbers(count, count, "i4")
    valid = (positions, data.bits(count), 0)
    yield Launch(kernels.first_index_out_of_bounds, "int32, half null", count, *valid, count)
    yield Launch(kernels.plain_indices, "int32, half null", count, *valid, data.out(count, "i8"))


@launches
def take_items(data: Data) -> Iterator[Launch]:
    for dtype, width in (("u1", 1), ("u4", 1), ("u8", 1), ("u8", 2)):
        count = data.slots(8 + 2 * width * int(dtype[1]))
        items, out = data.range(count * width, dtype), data.out(count * width, dtype)
        for order, positions in (
            ("at random", data.numbers(count, count, "i8")),
            ("in order", data.range(count, "i8")),
        ):
            label = f"{width} x {dtype}, {order}"
            yield Launch(kernels.take_items, label, count, positions, items, width, out)


@launches
def take_bits(data: Data) -> Iterator[Launch]:
    count = 8 * data.slots(66)
    positions, bits = data.numbers(count, count, "i8"), data.bits(count)
    out = data.out(count // 8, "u1")
    yield Launch(kernels.take_bits, "at random", count // 8, positions, bits, 0, out)


@launches
def take_binary(data: Data) -> Iterator[Launch]:
    for length in (12, 200):
        count = data.slots(16 + 2 * length)
        positions = data.numbers(count, count, "i8")
        offsets = data.range(count + 1, "i4", length)
        values, out = data.full(count * length, 97, "u1"), data.out(count * length, "u1")
        args = (positions, offsets, data.target.address(values), offsets, out)
        yield Launch(kernels.take_bytes, f"{length} bytes each", count, *args, at=[values])


@launches
def take_lists(data: Data) -> Iterator[Launch]:
    size = 5
    count = data.slots(16 + 8 * size)
    positions = data.numbers(count, count, "i8")
    offsets = data.range(count + 1, "i4", size)
    lengths, out = data.out(count, "i8"), data.out(count * size, "i8")
    yield Launch(kernels.take_lengths, "at random", count, positions, offsets, lengths)
    yield Launch(kernels.take_ranges, "lists of 5", count, positions, offsets, offsets, out)
    fixed = (positions, size, 0, out)
    yield Launch(lists.take_fixed_ranges, "lists of 5", len(out), *fixed)
    views = (offsets[:-1], data.full(count, size, "i4"), data.none, 0, count * size)
    yield Launch(lists.first_list_view_out_of_bounds, "int32", count, *views)
