"""LZ4 blocks, decompressed side by side: each stands for itself, in a range of bytes of its own.

A block is a row of sequences: a token with two lengths, literals, and a match, which repeats bytes that
stand before it. Whatever its bytes are, nothing outside its ranges is read or written.

LZ4 block format: https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md
"""

from __future__ import annotations

from numpy import uint8, uint64

from colkern.kernels.arguments import In, Out, Truth
from colkern.kernels.kernel import WARP, helper, kernel
from colkern.kernels.primitives import copy_bytes_loosely, repeat_bytes

BLOCK_WORDS = 4
"""The words of a block in the table that `decode_lz4_blocks` takes."""

PLAIN = 1 << 63
"""The bit in a block's size that says that its bytes are not compressed."""

_LONG = 15
"""A length in a token that goes on in the bytes behind it."""

_LEAST_MATCH = 4

# How a block ends: its last bytes are literals, and its last match begins some bytes before its end.
_LAST_LITERALS = 5
_LAST_MATCH = 12


@helper
def read_length(data: In[uint8], at: uint64, end: uint64, length: uint64) -> tuple[uint64, uint64]:
    """A length of a token, with the bytes from `at` up to `end` that it goes on in.

    Returns how many those are, one too many if they go on at the end, and the length.
    """
    taken = uint64(0)
    if length == _LONG:
        more = uint64(255)
        while more == 255 and at + taken < end:
            more = uint64(data[at + taken])
            length += more
            taken += uint64(1)
        taken += uint64(more == 255)
    return taken, length


@helper
def decode_lz4_block(
    data: In[uint8],
    base: uint64,
    begin: uint64,
    end: uint64,
    plain: Truth,
    out: Out[uint8],
    place: uint64,
    stop: uint64,
) -> uint64:
    """Decompress a block of `data` to the bytes of `out` from `place` on, before `stop`.

    Returns how many they are; the largest uint64 for a damaged block.
    """
    at, to = begin, place
    while at < end:
        token = uint64(0)
        count = end - at
        if not plain:
            token = uint64(data[at])
            at += uint64(1)
            taken, count = read_length(data, at, end, token >> uint64(4))
            at += taken
        if at > end or count > end - at or count > stop - to:
            return ~uint64(0)
        copy_bytes_loosely(out, to, base + at, count, min(end - at, stop - to))
        at += count
        to += count
        if at == end:
            # The last sequence has no match.
            return to - place
        if end - at < 3 + _LAST_LITERALS or stop - to < _LAST_MATCH:
            return ~uint64(0)
        distance = uint64(data[at]) | uint64(data[at + uint64(1)]) << uint64(8)
        at += uint64(2)
        taken, count = read_length(data, at, end, token & uint64(15))
        at += taken
        count += uint64(_LEAST_MATCH)
        if at > end or distance == 0 or distance > to - place:
            return ~uint64(0)
        if count > stop - to - uint64(_LAST_LITERALS):
            return ~uint64(0)
        repeat_bytes(out, to, distance, count, stop - to)
        to += count
    return ~uint64(0)


@kernel(grouped=True, most_lanes=WARP)
def decode_lz4_blocks(
    start, stop, step, blocks: In[uint64], data: In[uint8], base, out: Out[uint8]
) -> uint64:
    """Decompress blocks; returns the first of the range that does not have the stated bytes.

    A block is valid here only if the LZ4 library takes it, with the same result; the library also takes
    blocks that end in another way, and a match of bytes from 0 before. The four words of a block are
    where it begins in `data`, how many bytes it has there (and `PLAIN`, if they are not compressed),
    where it begins in `out`, and how many bytes it has there. They are in bounds, and no two blocks
    overlap in `out`. The bytes of a damaged block may be anything.
    """
    damaged = ~uint64(0)
    for i in range(start, stop, step):
        row = uint64(i) << uint64(2)
        begin = blocks[row]
        stored = blocks[row + uint64(1)]
        place = blocks[row + uint64(2)]
        size = blocks[row + uint64(3)]
        plain = stored & uint64(PLAIN) != 0
        end = begin + (stored & ~uint64(PLAIN))
        if decode_lz4_block(data, base, begin, end, plain, out, place, place + size) != size:
            damaged = min(damaged, uint64(i))
    return damaged
