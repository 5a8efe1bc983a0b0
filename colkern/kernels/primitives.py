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

from colkern.kernels.relations import is_less_float, is_less_integer


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


def store_item(like: Any, address: Any, value: Any) -> None:
    """The item at an address = `value`, which is of the type of the items of the array `like`."""
    size = like.dtype.itemsize
    np.frombuffer((ctypes.c_uint8 * size).from_address(int(address)), like.dtype)[0] = value


def word_at(address: Any) -> Any:
    """The 8 bytes at an address, which need not be aligned, as a uint64."""
    return uint64(int.from_bytes((ctypes.c_uint8 * 8).from_address(int(address)), "little"))


def add(left: Any, right: Any) -> Any:
    """The lowest 64 bits of the sum of two uint64: where `+` may wrap around."""
    return uint64((int(left) + int(right)) & 0xFFFF_FFFF_FFFF_FFFF)


def high_product(left: Any, right: Any) -> Any:
    """The highest 64 of the 128 bits of the product of two uint64."""
    return uint64(int(left) * int(right) >> 64)


def multiply(left: Any, right: Any) -> Any:
    """The lowest 64 bits of the product of two uint64; for hashes, where more bits are expected."""
    return uint64((int(left) * int(right)) & 0xFFFF_FFFF_FFFF_FFFF)


def fold(left: Any, right: Any) -> Any:
    """Both halves of the 128-bit product of two uint64 as one: combined by exclusive or."""
    product = int(left) * int(right)
    return uint64((product ^ (product >> 64)) & 0xFFFF_FFFF_FFFF_FFFF)


def character_starts(address: Any) -> Any:
    """Bit `k` (uint64) = whether byte `k` of the 32 at an address begins a character of UTF-8."""
    piece = (ctypes.c_uint8 * 32).from_address(int(address))
    return uint64(sum((byte & 0xC0 != 0x80) << k for k, byte in enumerate(piece)))


def equal_eight(left: Any, i: Any, right: Any, j: Any) -> Any:
    """Bit `k` (uint64) = whether left[i + k] equals right[j + k], for `k` up to 7; of one type."""
    return uint64(sum(int(left[i + uint64(k)] == right[j + uint64(k)]) << k for k in range(8)))


def equal_eight_to(left: Any, i: Any, value: Any) -> Any:
    """Bit `k` (uint64) = whether left[i + k] equals `value`, for `k` up to 7; of one type."""
    return uint64(sum(int(left[i + uint64(k)] == value) << k for k in range(8)))


def store_equal(out: Any, place: Any, left: Any, i: Any, right: Any, j: Any, flip: Any) -> None:
    """`out[place : place + 8]` (uint8[]) = `equal_eight` eight times over, for bodies of step 1.

    `flip` (0 or 255) turns each byte.
    """
    for k in range(8):
        step = uint64(8 * k)
        out[int(place) + k] = equal_eight(left, i + step, right, j + step) ^ flip


def store_equal_to(out: Any, place: Any, left: Any, i: Any, value: Any, flip: Any) -> None:
    """`out[place : place + 8]` (uint8[]) = `equal_eight_to` eight times over; as `store_equal`."""
    for k in range(8):
        out[int(place) + k] = equal_eight_to(left, i + uint64(8 * k), value) ^ flip


def store_less_integers(
    out: Any, place: Any, left: Any, i: Any, right: Any, j: Any, minus: Any, flip: Any
) -> None:
    """`out[place : place + 8]` (uint8[]) = for 64 pairs, whether one integer is less; for step 1.

    Bit `k` says so of left[i + k] and right[j + k], unsigned words whose sign bit is `minus`, or 0 if
    they have none. `flip` (0 or 255) turns each byte.
    """
    for k in range(64):
        less = is_less_integer(left[int(i) + k], right[int(j) + k], uint64(minus))
        _store_bit(out, int(place), k, less ^ (flip != 0))


def store_less_floats(
    out: Any, place: Any, left: Any, i: Any, right: Any, j: Any, relation: Any, flip: Any
) -> None:
    """As `store_less_integers`, of floats in a relation of `colkern.kernels.relations`."""
    for k in range(64):
        less = is_less_float(left[int(i) + k], right[int(j) + k], relation)
        _store_bit(out, int(place), k, less ^ (flip != 0))


def _store_bit(out: Any, place: int, k: int, bit: Any) -> None:
    """Bit `k` of the bytes from `place` on."""
    rest = int(out[place + k // 8]) & ~(1 << k % 8)
    out[place + k // 8] = rest | int(bit) << k % 8


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


def repeat_bytes(out: Any, position: Any, distance: Any, count: Any, room: Any) -> None:
    """`out[position + k] = out[position + k - distance]` (uint8[]) for `k` up to `count`, in order.

    A distance of less than `count` repeats the bytes of that distance. As `copy_bytes_loosely`, it may
    touch `out` up to byte `room`. In a `grouped` kernel, all of the group have to come here together.
    """
    for k in range(int(position), int(position) + int(count)):
        out[k] = out[k - int(distance)]


def fill_eight(out: Any, position: Any, value: Any, stride: Any) -> None:
    """`out[position + j] = value + j * stride` for j from 0 to 7; of integers, at once on a CPU."""
    for j in range(8):
        out[int(position) + j] = int(value) + j * int(stride)


def copy_eight(out: Any, position: Any, values: Any, source: Any) -> None:
    """`out[position : position + 8] = values[source : source + 8]`, of one type; at once on a CPU."""
    out[int(position) : int(position) + 8] = values[int(source) : int(source) + 8]


def copy_line(out: Any, position: Any, values: Any, source: Any) -> None:
    """`out[position : position + 64] = values[source : source + 64]` (uint8[]), past a CPU's caches.

    Through them where `out[position]` is at an address that is no multiple of 32.
    """
    out[int(position) : int(position) + 64] = values[int(source) : int(source) + 64]


PRIMITIVES = (
    popcount,
    trailing_zeros,
    extract_bits,
    compress_items,
    load_word,
    load_item,
    store_item,
    word_at,
    add,
    multiply,
    high_product,
    fold,
    character_starts,
    equal_eight,
    equal_eight_to,
    store_equal,
    store_equal_to,
    store_less_integers,
    store_less_floats,
    prefetch,
    copy_bytes,
    copy_bytes_loosely,
    repeat_bytes,
    fill_eight,
    copy_eight,
    copy_line,
)
