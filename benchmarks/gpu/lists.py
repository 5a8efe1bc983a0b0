"""Lists of four elements on average; one in five is empty."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.case import other, streaming
from benchmarks.gpu.data import Data
from colkern.kernels import lists as kernels

MEAN = 4
BLOCK = 1 << kernels.BLOCK_BITS
NULLS = {"no nulls": False, "half null": True}


def shape(d: Data, null: bool = False) -> tuple[Any, ...]:
    """Offsets, no sizes, and the validity."""
    return d.offsets("i4", MEAN), d.empty("i4"), d.bits() if null else d.none, 0


def view_shape(d: Data) -> tuple[Any, ...]:
    """Where lists begin, their sizes, and the validity."""
    offsets = d.offsets("i4", MEAN)
    sizes = d.computed(kernels.list_sizes, d.n, offsets, d.out("i4"))
    return offsets[:-1], sizes, d.none, 0


def place_in_lists(d: Data) -> tuple[Any, ...]:
    offsets = d.range("i4", MEAN, count=d.n + 1)
    return d.n, offsets, d.empty("i4"), d.none, 0, MEAN - 1, d.out("i8")


def first_list_of_another_length(d: Data) -> tuple[Any, ...]:
    offsets = d.range("i4", MEAN, count=d.n + 1)
    return d.blocks(BLOCK), offsets, d.empty("i4"), d.none, 0, d.n, MEAN


def first_list_out_of_row(d: Data) -> tuple[Any, ...]:
    lists = view_shape(d)
    starts = d.scan(lists[1], "i4")
    return d.n, *lists, 0, starts


def list_views_in_row(d: Data) -> tuple[Any, ...]:
    offsets, sizes, _, _ = view_shape(d)
    return d.n, offsets, sizes, 0, d.out("i4", d.n + 1)


def count_elements(d: Data, null: bool) -> tuple[Any, ...]:
    """Nulls and empty lists take one place each."""
    return d.blocks(BLOCK), *shape(d, null), d.n, int(null), int(null), d.out("i8", d.blocks(BLOCK))


def element_starts(d: Data, null: bool) -> tuple[Any, ...]:
    *lists, counts = count_elements(d, null)
    starts = d.scan(d.computed(kernels.count_elements, *lists, counts))
    return *lists, starts, d.out("i4", d.n + 1)


def find_stand_ins(d: Data) -> tuple[Any, ...]:
    args = element_starts(d, True)
    starts = d.computed(kernels.element_starts, *args)
    return d.n // 64, *args[1:5], starts, d.out("u8", d.n // 64)


def bits_of_elements(d: Data) -> tuple[Any, ...]:
    args = find_stand_ins(d)
    stand_ins = d.computed(kernels.find_stand_ins, *args).view("u1")
    starts = args[-2]
    words = -(-d.last(starts) // 64)
    return words, starts, stand_ins, d.out("u8", words)


def begun(d: Data) -> tuple[Any, ...]:
    """Where lists begin, the latest such place, and where their elements go."""
    offsets = d.offsets("i4", MEAN)
    return offsets[:-1], MEAN * d.n - 1, offsets


def elements_of_lists(d: Data) -> tuple[Any, ...]:
    return MEAN * d.n, *begun(d), d.out("i8", MEAN * d.n)


def copy_lists(d: Data, dtype: str) -> tuple[Any, ...]:
    count = MEAN * d.n
    return count, *begun(d), 1, d.words(dtype, count), d.out(dtype, count)


def copy_list_bits(d: Data) -> tuple[Any, ...]:
    words = MEAN * d.n // 64
    return words, *begun(d), d.bits(MEAN * d.n), 0, d.out("u8", words)


def repeat_values(d: Data, dtype: str) -> tuple[Any, ...]:
    count = MEAN * d.n
    return count, d.offsets("i4", MEAN), 1, d.words(dtype), d.out(dtype, count)


def repeat_list_bits(d: Data) -> tuple[Any, ...]:
    words = MEAN * d.n // 64
    return words, d.offsets("i4", MEAN), d.bits(), 0, d.out("u8", words)


streaming(kernels.first_list_view_out_of_bounds, lambda d: (d.n, *view_shape(d), MEAN * d.n))
streaming(kernels.list_sizes, lambda d: (d.n, d.offsets("i4", MEAN), d.out("i4")))
streaming(kernels.list_lengths, lambda d, null: (d.n, *shape(d, null), d.out("i4")), each=NULLS)
streaming(kernels.list_begins, lambda d, null: (d.n, *shape(d, null), d.out("i4")), each=NULLS)
# Without nulls, and without places for empty lists, only the ends of a block are read.
streaming(kernels.count_elements, count_elements, each={"half null": True})
streaming(kernels.element_starts, element_starts, each=NULLS)
streaming(kernels.first_list_of_another_length, first_list_of_another_length)
streaming(kernels.first_list_out_of_row, first_list_out_of_row)
streaming(kernels.list_views_in_row, list_views_in_row)
streaming(kernels.place_in_lists, place_in_lists)
other(
    kernels.list_of_each,
    lambda d: (MEAN * d.n, d.offsets("i4", MEAN), d.out("i8", MEAN * d.n)),
)
other(kernels.elements_of_lists, elements_of_lists)
other(kernels.copy_lists, copy_lists, each=("u4", "u8"))
other(kernels.copy_list_bits, copy_list_bits)
other(kernels.repeat_values, repeat_values, each=("u4", "u8"))
other(kernels.repeat_list_bits, repeat_list_bits)
streaming(kernels.find_stand_ins, find_stand_ins)
other(kernels.bits_of_elements, bits_of_elements)
