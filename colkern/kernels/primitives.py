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


def extract_bits(word: Any, mask: Any) -> Any:
    """The bits of a uint64 that are set in `mask`, side by side from bit 0 on."""
    value, left, bits, place = int(word), int(mask), 0, 0
    while left:
        bits |= (value >> trailing_zeros(left) & 1) << place
        left &= left - 1
        place += 1
    return uint64(bits)


def compress_items(out: Any, place: Any, values: Any, first: Any, kept: Any) -> None:
    """`out[place:]` = those of the 64 `values` from `first` on whose bit is set in `kept`, in order.

    What else stands in the 64 items of `out` from `place` on may be anything afterwards: for bodies
    that write one word's values after the other's, each over what the one before has spilt.
    """
    left, to = int(kept), int(place)
    while left:
        out[to] = values[int(first) + trailing_zeros(left)]
        left &= left - 1
        to += 1


def load_word(data: Any, position: Any, word: Any) -> Any:
    """Word `word` of those that begin at byte `position` of `data` (uint8[]), as a uint64."""
    begin = int(position) + 8 * int(word)
    if begin + 8 > len(data):
        raise IndexError(f"word at byte {begin} of {len(data)}")
    return uint64(int.from_bytes(data[begin : begin + 8].tobytes(), "little"))


def load_item(like: Any, address: Any) -> Any:
    """The item at an address, of the type of the items of the array `like`."""
    size = like.dtype.itemsize
    return np.frombuffer((ctypes.c_uint8 * size).from_address(int(address)), like.dtype)[0]


def prefetch(address: Any) -> None:
    """Ask memory for the bytes at an address, which will be read soon; nothing else."""


def copy_bytes(out: Any, position: Any, address: Any, count: Any) -> None:
    """`out[position : position + count]` (uint8[]) = the `count` bytes at an address."""
    if count:
        source = (ctypes.c_uint8 * int(count)).from_address(int(address))
        out[int(position) : int(position) + int(count)] = source


def copy_bytes_loosely(out: Any, position: Any, address: Any, count: Any, room: Any) -> None:
    """As `copy_bytes`, but what follows the `count` bytes in `out` may hold anything afterwards.

    Up to byte `room` (at least `count`) both `out` and the source may be touched. For bodies that
    write one value after the other, each over what the one before has spilt: a copy of a fixed size
    is several times faster than one of as many bytes as there are.
    """
    copy_bytes(out, position, address, count)


PRIMITIVES = (
    popcount,
    trailing_zeros,
    extract_bits,
    compress_items,
    load_word,
    load_item,
    prefetch,
    copy_bytes,
    copy_bytes_loosely,
)
