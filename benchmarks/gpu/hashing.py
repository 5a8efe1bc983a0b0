"""Hashes."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.case import gather, other, streaming
from benchmarks.gpu.data import Data
from colkern.kernels import hashing as kernels

STATE = 0x9E3779B97F4A7C15
MEAN = 16
INTEGERS = ("u1", "u4", "u8")
INFINITIES = {"u4": 0xFF << 23, "u8": 0x7FF << 52}


def hash_integers(d: Data, dtype: str) -> tuple[Any, ...]:
    bits = 8 * int(dtype[1])
    signs = (1 << bits - 1, (1 << 64) - (1 << bits))
    return d.n, d.words(dtype), *signs, d.none, 0, STATE, d.out("u8")


def hash_floats(d: Data, dtype: str) -> tuple[Any, ...]:
    numbers = d.floats(f"f{dtype[1]}").view(dtype)
    signs = (1 << 8 * int(dtype[1]) - 1, INFINITIES[dtype])
    return d.n, numbers, *signs, d.none, 0, STATE, d.out("u8")


def masks(d: Data) -> Any:
    return d.table(kernels.run_masks(), "u8")


def hash_fixed_bytes(d: Data, width: int) -> tuple[Any, ...]:
    values = d.words("u1", width * d.n)
    bytes_ = (d.address(values), width, values.nbytes, masks(d))
    return d.n, *bytes_, d.none, 0, STATE, d.out("u8")


def hash_strings(d: Data) -> tuple[Any, ...]:
    text = d.text(MEAN * d.n)
    strings = (d.offsets("i4", MEAN), d.address(text), text.nbytes, masks(d))
    return d.n, *strings, d.none, 0, STATE, d.out("u8")


def hash_views(d: Data, mean: int) -> tuple[Any, ...]:
    views = d.views(mean)
    args = (views.words, views.addresses, views.sizes, masks(d))
    return d.n, *args, d.none, 0, STATE, d.out("u8")


def hash_lists(d: Data) -> tuple[Any, ...]:
    hashes = d.words("u8", 4 * d.n)
    lists = (d.offsets("i4", 4), d.empty("i4"), 0, 0, hashes)
    return d.n, *lists, d.none, 0, STATE, d.out("u8")


def pick_hashes(d: Data) -> tuple[Any, ...]:
    offsets = d.range("i4")
    offsets >>= 1
    type_ids = d.repeated([0, 1], "u1")
    return d.n, type_ids, offsets, 1, d.words("u8", d.n // 2), d.out("u8")


def hash_indices(d: Data) -> tuple[Any, ...]:
    indices, hashes = d.numbers("u4", 1000), d.words("u8", 1000)
    return d.n, indices, hashes, d.none, 0, STATE, d.out("u8")


streaming(kernels.hash_integers, hash_integers, each=INTEGERS)
streaming(kernels.hash_floats, hash_floats, each=INFINITIES.keys())
streaming(kernels.hash_fixed_bytes, hash_fixed_bytes, each={"16 bytes": 16})
gather(kernels.hash_strings, hash_strings, label=f"{MEAN} bytes")
gather(kernels.hash_views, hash_views, each={"6 bytes": 6, "24 bytes": 24})
other(kernels.hash_lists, hash_lists, label="4 elements")
streaming(kernels.combine_hashes, lambda d: (d.n, d.words("u8"), d.words("u8")), rewrites=True)
streaming(kernels.hash_nulls, lambda d: (d.n, d.bits(), 0, STATE, d.out("u8")), label="half null")
other(kernels.pick_hashes, pick_hashes)
gather(kernels.hash_indices, hash_indices, label="of 1,000 values")
streaming(kernels.number_partitions, lambda d: (d.n, d.words("u8"), 1000, d.out("u8")))
