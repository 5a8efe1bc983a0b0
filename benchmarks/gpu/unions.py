"""Unions of two children: dense ones show each of a child's values once, in order."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.case import gather, other, streaming
from benchmarks.gpu.data import Data
from colkern.kernels import unions as kernels

MEAN = 12


def slots(d: Data) -> tuple[Any, ...]:
    """Type ids, the child of each, and offsets."""
    offsets = d.range("i4")
    offsets >>= 1
    child_of = d.table([0, 1, *[-1] * 126], "i8")
    return d.repeated([0, 1], "i1"), child_of, offsets


def strings(d: Data) -> tuple[Any, Any]:
    """Offsets of both children, and their addresses."""
    offsets = [d.offsets("i4", MEAN, d.n // 2) for _ in range(2)]
    return offsets, d.addresses(*offsets)


def gather_union(d: Data, dtype: str) -> tuple[Any, ...]:
    values = d.addresses(*(d.words(dtype, d.n // 2) for _ in range(2)))
    return d.n, *slots(d), values, 1, d.out(dtype)


def gather_union_bits(d: Data) -> tuple[Any, ...]:
    bits = d.addresses(*(d.bits(d.n // 2) for _ in range(2)))
    return d.n // 8, *slots(d), bits, d.table([0, 0], "u8"), d.n, d.out("u1", d.n // 8)


def gather_union_lengths(d: Data) -> tuple[Any, ...]:
    offsets, addresses = strings(d)
    return d.n, *slots(d), addresses, offsets[0], d.out("i8")


def gather_union_bytes(d: Data) -> tuple[Any, ...]:
    offsets, addresses = strings(d)
    union = slots(d)
    lengths = (d.n, *union, addresses, offsets[0], d.out("i8"))
    starts = d.scan(d.computed(kernels.gather_union_lengths, *lengths), "i4")
    bases = d.addresses(*(d.text(MEAN * d.n // 2) for _ in range(2)))
    sizes = d.table([MEAN * d.n // 2] * 2, "i8")
    return d.n, *union, addresses, bases, sizes, starts, d.out("u1", MEAN * d.n)


def rebase_slots(d: Data) -> tuple[Any, ...]:
    return d.n, *slots(d), d.table([0, d.n // 2], "i8"), d.out("i8")


def places_in_child(d: Data) -> tuple[Any, ...]:
    type_ids, _, offsets = slots(d)
    return d.n, type_ids, 1, offsets, d.out("i8")


def split_pairs(d: Data) -> tuple[Any, ...]:
    pairs = d.repeated([0, 5, 1, 7], "i8", 2 * d.n)
    return d.n // 4, pairs, d.table([8, 8], "i8"), d.n, d.out("i4", d.n + d.n // 4)


other(kernels.split_pairs, split_pairs)
other(kernels.gather_union, gather_union, each=("u4", "u8"))
streaming(
    kernels.first_slot_out_of_bounds,
    lambda d: (d.n, *slots(d)[::2], d.table([d.n // 2] * 128, "i8")),
)
other(
    kernels.first_descending_slot,
    lambda d: (d.n - 1, d.range("u8"), d.range("i4")),
)
other(kernels.number_slots, lambda d: (d.n, d.range("u8"), d.out("i4")))
streaming(kernels.rebase_slots, rebase_slots)
other(kernels.gather_union_bits, gather_union_bits)
streaming(kernels.places_in_child, places_in_child)
other(kernels.gather_union_lengths, gather_union_lengths)
gather(kernels.gather_union_bytes, gather_union_bytes)
