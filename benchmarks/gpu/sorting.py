"""Sorting: the keys. CuPy puts them in order."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.case import gather, other, streaming
from benchmarks.gpu.data import Data
from colkern.kernels import keys
from colkern.kernels import sorting as kernels

MEAN = 12


def order_integers(d: Data, dtype: str) -> tuple[Any, ...]:
    return d.n, d.words(dtype), 1, 0, 1 << 8 * int(dtype[1]) - 1, 0, d.out("u8")


def order_floats(d: Data, dtype: str) -> tuple[Any, ...]:
    numbers = d.floats(f"f{dtype[1]}").view(dtype)
    bits = 8 * int(dtype[1])
    infinity = {"u4": 0xFF << 23, "u8": 0x7FF << 52}[dtype]
    return d.n, numbers, 1 << bits - 1, infinity, (1 << bits) - 1, 0, d.out("u8")


def count_valid(d: Data) -> tuple[Any, ...]:
    blocks = d.blocks(kernels.NULL_BLOCK)
    return blocks, d.bits(), 0, d.n, d.out("i8", blocks)


def split_nulls(d: Data) -> tuple[Any, ...]:
    *slots, counts = count_valid(d)
    starts = d.scan(d.computed(kernels.count_valid, *slots, counts))
    return *slots, starts, d.out("u8")


def order_strings(d: Data) -> tuple[Any, ...]:
    text = d.text(MEAN * d.n)
    strings = (d.offsets("i4", MEAN), d.address(text), text.nbytes - 8)
    return d.n, *strings, d.none.view("u8"), 0, d.out("u8")


streaming(kernels.order_integers, order_integers, each=("u1", "u4", "u8"))
streaming(kernels.order_floats, order_floats, each=("u4", "u8"))
streaming(kernels.count_valid, count_valid)
other(
    kernels.rank_positions, lambda d: (d.n, d.range("u8"), d.out("u8")), label="positions in order"
)
other(kernels.split_nulls, split_nulls, label="half null")
other(
    kernels.group_starts,
    lambda d: (d.n, d.range("u8"), d.range("u8"), d.out("i8")),
    label="as many groups as keys",
)
streaming(
    keys.append_keys,
    lambda d, dtype: (d.n, d.words(dtype), 0, 0, d.none, 0, 0, 20, (1 << 64) - 1, d.words("u8")),
    each=("u4", "u8"),
    rewrites=True,
)
streaming(
    keys.short_view_keys, lambda d: (d.n, d.numbers("i4", 5, 4 * d.n), d.none, 0, d.out("u8"))
)
gather(keys.order_strings, order_strings, label=f"{MEAN} bytes")
