"""The few operations that a target supplies in its own way, and what each of them means.

The functions here are the definition, and what runs when a body is run as plain Python (so also in
the CUDA simulator). `colkern.cpu.primitives` and `colkern.cuda.primitives` give the same names to the
compilers. Addresses are plain integers: whoever passes one answers for the memory behind it.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy import uint64


def popcount(word: Any) -> Any:
    """The number of set bits of a uint64."""
    return int(word).bit_count()


def trailing_zeros(word: Any) -> Any:
    """The number of zero bits below the lowest set bit of a uint64; 64 for zero."""
    value = int(word)
    return (value & -value).bit_length() - 1 if value else 64


def load_word(data: Any, position: Any, word: Any) -> Any:
    """Word `word` of those that begin at byte `position` of `data` (uint8[]), as a uint64."""
    begin = int(position) + 8 * int(word)
    return uint64(int.from_bytes(data[begin : begin + 8].tobytes(), "little"))


def load_item(like: Any, address: Any) -> Any:
    """The item at an address, of the type of the items of the array `like`."""
    size = like.dtype.itemsize
    return np.frombuffer((ctypes.c_uint8 * size).from_address(int(address)), like.dtype)[0]


def copy_bytes(out: Any, position: Any, address: Any, count: Any) -> None:
    """`out[position : position + count]` (uint8[]) = the `count` bytes at an address."""
    if count:
        source = (ctypes.c_uint8 * int(count)).from_address(int(address))
        out[int(position) : int(position) + int(count)] = source


def add(left: Any, right: Any) -> Any:
    """The lowest 64 bits of the sum of two uint64: where `+` may wrap around."""
    return uint64((int(left) + int(right)) & 0xFFFF_FFFF_FFFF_FFFF)


def multiply(left: Any, right: Any) -> Any:
    """The lowest 64 bits of the product of two uint64: where `*` may wrap around."""
    return uint64((int(left) * int(right)) & 0xFFFF_FFFF_FFFF_FFFF)


def high_product(left: Any, right: Any) -> Any:
    """The highest 64 of the 128 bits of the product of two uint64."""
    return uint64(int(left) * int(right) >> 64)


PRIMITIVES = (
    popcount,
    trailing_zeros,
    load_word,
    load_item,
    copy_bytes,
    add,
    multiply,
    high_product,
)
