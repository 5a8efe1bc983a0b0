"""The few operations that a target supplies in its own way, and what each of them means.

The functions here are the definition, and what runs when a body is run as plain Python (so also in
the CUDA simulator). `colkern.cpu.primitives` and `colkern.cuda.primitives` give the same names to the
compilers; CUDA compiles the definition of those that `colkern.cuda.primitives` does not have. Addresses are
plain integers: the caller answers for the memory behind them.

What the CPU's ways gain over plain bodies is in `benchmarks/results/primitives.json`, which
`python -m benchmarks.primitives` writes.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy import float64, int64, uint8, uint64

from colkern.kernels.arguments import In, Out, T
from colkern.kernels.relations import (
    eight_equal,
    eight_equal_to,
    eight_less_floats,
    eight_less_integers,
)


def popcount(word: uint64) -> int:
    """The number of set bits of a uint64."""
    return int(word).bit_count()


def trailing_zeros(word: uint64) -> int:
    """The number of zero bits below the lowest set bit of a uint64; 64 for zero."""
    value = int(word)
    return (value & -value).bit_length() - 1 if value else 64


def leading_zeros(word: uint64) -> int:
    """The number of zero bits above the highest set bit of a uint64; 64 for zero."""
    return 64 - int(word).bit_length()


def extract_bits(word: uint64, mask: uint64) -> uint64:
    """The bits of a word that are set in `mask`, side by side from bit 0 on."""
    bits = uint64(0)
    place = uint64(0)
    while mask != 0:
        bits |= ((word >> uint64(trailing_zeros(mask))) & uint64(1)) << place
        mask &= mask - uint64(1)
        place += uint64(1)
    return bits


def compress_items(out: Out[T], place: uint64, values: In[T], first: uint64, kept: uint64) -> None:
    """`out[place:]` = those of the 64 `values` from `first` on whose bit is set in `kept`, in order.

    The 64 items of `out` from `place` on may hold anything behind them afterwards: for bodies that write
    one word's values after the other's, each over what the one before has spilt.
    """
    while kept != 0:
        out[place] = values[first + uint64(trailing_zeros(kept))]
        kept &= kept - uint64(1)
        place += uint64(1)


def most_one_by_one(values: In[T]) -> uint64:
    """The most of 64 items that are faster copied one by one than by `compress_items`: about so many."""
    return uint64(5)


def load_word(data: In[uint8], position: uint64, word: uint64) -> uint64:
    """Word `word` of those that begin at byte `position` of `data` (uint8[]), as a uint64."""
    begin = int(position) + 8 * int(word)
    if begin + 8 > len(data):
        raise IndexError(f"word at byte {begin} of {len(data)}")
    return uint64(int.from_bytes(data[begin : begin + 8].tobytes(), "little"))


def load_item(like: In[T], address: uint64) -> T:
    """The item at an address, of the type of the items of the array `like`."""
    return _items_at(like, address)[0]


def store_item(like: In[T], address: uint64, value: T) -> None:
    """The item at an address = `value`, which is of the type of the items of the array `like`."""
    _items_at(like, address)[0] = value


def _items_at(like: In[T], address: uint64) -> Out[T]:
    memory: Any = (ctypes.c_uint8 * like.dtype.itemsize).from_address(int(address))
    return np.frombuffer(memory, like.dtype)


def word_at(address: uint64) -> uint64:
    """The 8 bytes at an address, which need not be aligned, as a uint64."""
    return uint64(int.from_bytes((ctypes.c_uint8 * 8).from_address(int(address)), "little"))


def add(left: uint64, right: uint64) -> uint64:
    """The lowest 64 bits of the sum of two uint64: where `+` may wrap around."""
    return uint64((int(left) + int(right)) & 0xFFFF_FFFF_FFFF_FFFF)


def high_product(left: uint64, right: uint64) -> uint64:
    """The highest 64 of the 128 bits of the product of two uint64."""
    return uint64(int(left) * int(right) >> 64)


def multiply(left: uint64, right: uint64) -> uint64:
    """The lowest 64 bits of the product of two uint64; for hashes, where more bits are expected."""
    return uint64((int(left) * int(right)) & 0xFFFF_FFFF_FFFF_FFFF)


def fold(left: uint64, right: uint64) -> uint64:
    """Both halves of the 128-bit product of two uint64 as one: combined by exclusive or."""
    product = int(left) * int(right)
    return uint64((product ^ (product >> 64)) & 0xFFFF_FFFF_FFFF_FFFF)


def character_starts(address: uint64) -> uint64:
    """Bit `k` (uint64) = whether byte `k` of the 32 at an address begins a character of UTF-8."""
    piece = (ctypes.c_uint8 * 32).from_address(int(address))
    return uint64(sum((byte & 0xC0 != 0x80) << k for k, byte in enumerate(piece)))


def store_equal(
    out: Out[uint8], place: uint64, left: In[T], i: uint64, right: In[T], j: uint64, flip: uint64
) -> None:
    """`out[place : place + 8]` = for 64 pairs, whether they are equal; for bodies of step 1.

    Bit `k` is that of left[i + k] and right[j + k]. `flip` (0 or 255) turns each byte.
    """
    for b in range(uint64(0), uint64(64), uint64(8)):
        bits = eight_equal(left, i + uint64(b), right, j + uint64(b))
        out[place + (uint64(b) >> uint64(3))] = uint8(bits ^ flip)


def store_equal_to(
    out: Out[uint8], place: uint64, left: In[T], i: uint64, value: Any, flip: uint64
) -> None:
    """As `store_equal`, with one value on the right."""
    for b in range(uint64(0), uint64(64), uint64(8)):
        bits = eight_equal_to(left, i + uint64(b), value)
        out[place + (uint64(b) >> uint64(3))] = uint8(bits ^ flip)


def store_less_integers(
    out: Out[uint8],
    place: uint64,
    left: In[T],
    i: uint64,
    right: In[T],
    j: uint64,
    minus: uint64,
    flip: uint64,
) -> None:
    """As `store_equal`, whether one integer is less: words with the sign bit `minus`, or 0."""
    for b in range(uint64(0), uint64(64), uint64(8)):
        bits = eight_less_integers(left, i + uint64(b), right, j + uint64(b), minus)
        out[place + (uint64(b) >> uint64(3))] = uint8(bits ^ flip)


def store_less_floats(
    out: Out[uint8],
    place: uint64,
    left: In[T],
    i: uint64,
    right: In[T],
    j: uint64,
    relation: uint64,
    flip: uint64,
) -> None:
    """As `store_equal`, whether two floats are in a relation of `colkern.kernels.relations`."""
    for b in range(uint64(0), uint64(64), uint64(8)):
        bits = eight_less_floats(left, i + uint64(b), right, j + uint64(b), relation)
        out[place + (uint64(b) >> uint64(3))] = uint8(bits ^ flip)


def prefetch(address: uint64) -> None:
    """Ask memory for the bytes at an address, which will be read soon; nothing else."""


def copy_bytes(out: Out[uint8], position: uint64, address: uint64, count: uint64) -> None:
    """`out[position : position + count]` (uint8[]) = the `count` bytes at an address."""
    if count:
        source = (ctypes.c_uint8 * int(count)).from_address(int(address))
        out[int(position) : int(position) + int(count)] = source


def copy_bytes_loosely(
    out: Out[uint8], position: uint64, address: uint64, count: uint64, room: uint64
) -> None:
    """As `copy_bytes`, but what follows the `count` bytes in `out` may hold anything afterwards.

    Up to byte `room` (at least `count`) both `out` and the source may be touched. For bodies that
    write one value after the other, each over what the one before has spilt: a copy of a fixed size
    is several times faster than one of as many bytes as there are.
    """
    copy_bytes(out, position, address, count)


def repeat_bytes(
    out: Out[uint8], position: uint64, distance: uint64, count: uint64, room: uint64
) -> None:
    """`out[position + k] = out[position + k - distance]` (uint8[]) for `k` up to `count`, in order.

    A distance of less than `count` repeats the bytes of that distance. As `copy_bytes_loosely`, it may
    touch `out` up to byte `room`. In a `grouped` kernel, all of the group have to come here together.
    """
    for k in range(int(position), int(position) + int(count)):
        out[k] = out[k - int(distance)]


def lane() -> uint64:
    """The number of this thread among the `lanes` that have an item of a `grouped` kernel; 0 on a CPU."""
    return uint64(0)


def lanes() -> uint64:
    """The threads that have an item of a `grouped` kernel together: a power of two; 1 on a CPU."""
    return uint64(1)


def of_lane(value: uint64, away: uint64) -> uint64:
    """The `value` of the lane whose number differs in the bit `away`, of a group within a warp.

    All of the group have to come here together.
    """
    return value


def fill_eight(out: Out[T], position: uint64, value: Any, stride: Any) -> None:
    """`out[position + j] = value + j * stride` for j from 0 to 7; of integers, at once on a CPU."""
    for j in range(uint64(0), uint64(8)):
        out[position + uint64(j)] = value
        value += stride


def copy_eight(out: Out[T], position: uint64, values: In[T], source: uint64) -> None:
    """`out[position : position + 8] = values[source : source + 8]`; at once on a CPU."""
    for j in range(uint64(0), uint64(8)):
        out[position + uint64(j)] = values[source + uint64(j)]


# Row functions: every integer, also an address, is an int64.


def get_byte(address: int64) -> int64:
    """The byte at an address, from 0 to 255."""
    return int64(ctypes.c_uint8.from_address(int(address)).value)


def set_byte(address: int64, value: int64) -> None:
    """The byte at an address = the lowest 8 bits of `value`."""
    ctypes.c_uint8.from_address(int(address)).value = int(value) & 255


def get_word(address: int64) -> int64:
    """The int64 at an address that is a multiple of 8."""
    return int64(ctypes.c_int64.from_address(int(address)).value)


def set_word(address: int64, value: int64) -> None:
    """The int64 at an address that is a multiple of 8 = `value`."""
    ctypes.c_int64.from_address(int(address)).value = int(value)


def get_unaligned(address: int64) -> int64:
    """The 8 bytes at any address, as an int64."""
    return int64(ctypes.c_int64.from_address(int(address)).value)


def set_unaligned(address: int64, value: int64) -> None:
    """The 8 bytes at any address = `value`."""
    ctypes.c_int64.from_address(int(address)).value = int(value)


def copy_piece(target: int64, source: int64) -> None:
    """The 32 bytes at an address = those at another, by words in order where they overlap."""
    for k in range(int64(0), int64(32), int64(8)):
        set_unaligned(target + k, get_unaligned(source + k))


_ONES = 0x0101010101010101
_LOW_BITS = 0x7F7F7F7F7F7F7F7F


def range_places(address: int64, first: int64, count: int64) -> int64:
    """Bit `k` = whether byte `k` of the 32 at an address is one of `count` (up to 128) from `first` on."""
    firsts = wrapped(first * _ONES)
    places = int64(0)
    for k in range(int64(0), int64(32), int64(8)):
        word = get_unaligned(address + k)
        # Byte by byte, the distance from the first one: below 128, and then below `count`.
        distance = wrapped((word | ~_LOW_BITS) - (firsts & _LOW_BITS))
        distance ^= (word ^ ~firsts) & ~_LOW_BITS
        past = distance | wrapped((distance & _LOW_BITS) + wrapped((128 - count) * _ONES))
        # The bit of each byte is multiplied to its place among eight.
        inside = shifted_right(~past, int64(7)) & _ONES
        places |= shifted_right(wrapped(inside * 0x0102040810204080), int64(56)) << k
    return places


def turn_piece(target: int64, source: int64, first: int64, either: int64) -> None:
    """The 32 bytes at an address = those at another, with ASCII letters in the other case.

    These are the 26 from `first` on; those that are after the bits of `either` are set, of the same bytes.
    """
    for k in range(int64(0), int64(32), int64(8)):
        word = get_unaligned(source + k)
        low = (word | wrapped(either * _ONES)) & _LOW_BITS
        reached = wrapped(low + (128 - first) * _ONES)
        passed = wrapped(low + (102 - first) * _ONES)
        letters = reached & ~passed & ~word & ~_LOW_BITS
        set_unaligned(target + k, word ^ shifted_right(letters, int64(2)))


def bits_of_float(value: float64) -> int64:
    """The bits of a float64."""
    return int64(np.float64(value).view(np.int64))


def float_of_bits(bits: int64) -> float64:
    """The float64 of 64 bits."""
    return float64(np.int64(bits).view(np.float64))


def wrapped(value: int64) -> int64:
    """The lowest 64 bits of an integer, as an int64: for a `+`, `-`, `*` or `<<` that may wrap around."""
    return _signed(int(value))


def _signed(value: int) -> int64:
    return int64(((value + (1 << 63)) & 0xFFFF_FFFF_FFFF_FFFF) - (1 << 63))


def shifted_right(value: int64, places: int64) -> int64:
    """`value >> places` of the 64 bits without a sign; `places` is from 0 to 63."""
    return _signed((int(value) & 0xFFFF_FFFF_FFFF_FFFF) >> int(places))


def sum_overflows(left: int64, right: int64) -> bool:
    """Whether `left + right` is no int64."""
    return not -(1 << 63) <= int(left) + int(right) < 1 << 63


def difference_overflows(left: int64, right: int64) -> bool:
    """Whether `left - right` is no int64."""
    return not -(1 << 63) <= int(left) - int(right) < 1 << 63


def product_overflows(left: int64, right: int64) -> bool:
    """Whether `left * right` is no int64."""
    return not -(1 << 63) <= int(left) * int(right) < 1 << 63


PRIMITIVES = (
    popcount,
    trailing_zeros,
    leading_zeros,
    extract_bits,
    compress_items,
    most_one_by_one,
    load_word,
    load_item,
    store_item,
    word_at,
    add,
    multiply,
    high_product,
    fold,
    character_starts,
    store_equal,
    store_equal_to,
    store_less_integers,
    store_less_floats,
    prefetch,
    copy_bytes,
    copy_bytes_loosely,
    repeat_bytes,
    lane,
    lanes,
    of_lane,
    fill_eight,
    copy_eight,
    get_byte,
    set_byte,
    get_word,
    set_word,
    get_unaligned,
    set_unaligned,
    copy_piece,
    range_places,
    turn_piece,
    bits_of_float,
    float_of_bits,
    wrapped,
    shifted_right,
    sum_overflows,
    difference_overflows,
    product_overflows,
)
