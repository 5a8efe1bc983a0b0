"""LZ4 blocks of as many bytes as a writer makes them, with sequences of as many as text has."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.case import other
from benchmarks.gpu.data import Data
from colkern.kernels import lz4 as kernels

SEQUENCE = 32
"""The bytes that a sequence stands for: a slot's."""

MOST_SEQUENCES = 4096
"""Of a block."""

LITERALS = bytes(range(1, 17))

# A token for 16 literals and a match of 16 bytes, and where that is.
APART = bytes([15 << 4 | 16 - 4, 16 - 15]) + LITERALS + (16).to_bytes(2, "little")
REPEATED = bytes([15 << 4 | 16 - 4, 16 - 15]) + LITERALS + (1).to_bytes(2, "little")
LAST = bytes([15 << 4, SEQUENCE - 15]) + 2 * LITERALS
"""A sequence of literals, which has no match."""


def blocks(d: Data, sequence: bytes) -> tuple[Any, ...]:
    count = min(d.n, MOST_SEQUENCES)
    block = sequence * (count - 1) + LAST
    return launched(d, block, len(block), SEQUENCE * count)


def zeros(d: Data) -> tuple[Any, ...]:
    """Blocks of a literal and a match that repeats it."""
    size = SEQUENCE * min(d.n, MOST_SEQUENCES)
    more = size - 1 - 4 - 15 - SEQUENCE
    block = b"\x1f\x07\x01\x00" + b"\xff" * (more // 255) + bytes([more % 255]) + LAST
    return launched(d, block, len(block), size)


def plain(d: Data) -> tuple[Any, ...]:
    size = SEQUENCE * min(d.n, MOST_SEQUENCES)
    return launched(d, LITERALS, size | kernels.PLAIN, size)


def launched(d: Data, block: bytes, stored: int, size: int) -> tuple[Any, ...]:
    """The launch over blocks which all are the same."""
    count = d.n * SEQUENCE // size
    step = stored & ~kernels.PLAIN
    table = [[k * step, stored, k * size, size] for k in range(count)]
    data = d.repeated(list(block), "u1", count * step)
    rows = d.table([word for row in table for word in row], "u8")
    return count, rows, data, d.address(data), d.out("u1", count * size)


KINDS = {"matches of other bytes": APART, "matches of one byte": REPEATED}

other(kernels.decode_lz4_blocks, blocks, each=KINDS)
other(kernels.decode_lz4_blocks, zeros, label="zeros")
other(kernels.decode_lz4_blocks, plain, label="not compressed")
