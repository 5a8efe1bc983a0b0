"""LZ4 frames, looked at without decompressing them: where their blocks are.

What is around the blocks is a matter of some bytes for each, which the host reads; the blocks are then
decompressed side by side, wherever they are. Nothing in a frame is believed that is not checked against
the bytes that are there; only that each block but the last one is full is left to who decompresses it.

LZ4 frame format: https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.kernels.lz4 import BLOCK_WORDS, PLAIN

_MAGIC = 0x184D2204
_WORD = struct.Struct("<I")
_SIZE = struct.Struct("<Q")

_VERSION = 1
_INDEPENDENT, _BLOCK_CHECKSUMS, _CONTENT_SIZE, _CONTENT_CHECKSUM, _DICTIONARY = 32, 16, 8, 4, 1
_FLAGS_RESERVED, _SIZES_RESERVED = 0b10, 0b1000_1111

_BLOCK_BYTES = {4: 1 << 16, 5: 1 << 18, 6: 1 << 20, 7: 1 << 22}

_IS_PLAIN = 1 << 31


class Bytes(Protocol):
    """Bytes in host memory, as a memoryview has them, or in a file: read where they are looked at."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice) -> memoryview: ...


class _Header(NamedTuple):
    """The header of a frame."""

    block_bytes: int  #: How many bytes a block makes at most.
    content_bytes: int | None  #: How many bytes the frame makes, or None.
    end: int  #: Where the first block begins.


def independent_blocks(frame: Bytes, size: int) -> NDArray[np.uint64]:
    """The blocks of one whole frame that can be decompressed side by side: uint64[blocks, 4]."""
    # As `colkern.kernels.lz4.decode_lz4_blocks` takes them: where a block begins in the frame, its bytes
    # there, where it begins in what the frame makes, and how many bytes it has to make. `UnsupportedError`
    # if it is not of independent, full blocks without checksums.
    header = _header(frame)
    if header.content_bytes not in (None, size):
        raise InvalidArrowError(
            f"LZ4 frame of {header.content_bytes} bytes where {size} bytes are stated"
        )
    blocks = list(_blocks(frame, header, size))
    return np.array(blocks, np.uint64).reshape(-1, BLOCK_WORDS)


def _header(frame: Bytes) -> _Header:
    """The header of a frame; raises as `independent_blocks` does."""
    if _word(frame, 0) != _MAGIC:
        raise InvalidArrowError("LZ4 frame does not begin as one")
    flags, sizes = _bytes(frame, 4, 2)
    if flags >> 6 != _VERSION or flags & _FLAGS_RESERVED or sizes & _SIZES_RESERVED:
        raise InvalidArrowError(f"damaged LZ4 frame: header bytes {flags:#04x}, {sizes:#04x}")
    if sizes >> 4 not in _BLOCK_BYTES:
        raise InvalidArrowError(f"damaged LZ4 frame: block size {sizes >> 4}")
    end = 6 + (8 if flags & _CONTENT_SIZE else 0) + (4 if flags & _DICTIONARY else 0)
    if _bytes(frame, end, 1)[0] != header_checksum(_bytes(frame, 4, end - 4)):
        raise InvalidArrowError("damaged LZ4 frame: checksum of the header")
    if not flags & _INDEPENDENT:
        raise UnsupportedError("LZ4 frame whose blocks need those before them")
    if flags & (_BLOCK_CHECKSUMS | _CONTENT_CHECKSUM):
        raise UnsupportedError("LZ4 frame with checksums of its content")
    if flags & _DICTIONARY:
        raise UnsupportedError("LZ4 frame with a dictionary")
    content_bytes = _SIZE.unpack(_bytes(frame, 6, 8))[0] if flags & _CONTENT_SIZE else None
    return _Header(_BLOCK_BYTES[sizes >> 4], content_bytes, end + 1)


def _blocks(frame: Bytes, header: _Header, size: int) -> Iterator[tuple[int, int, int, int]]:
    """The blocks of a frame, as the rows of `independent_blocks`."""
    at = header.end
    for place in range(0, size, header.block_bytes):
        expected = min(header.block_bytes, size - place)
        word = _word(frame, at)
        at += _WORD.size
        stored = word & ~_IS_PLAIN
        if stored == 0:
            raise InvalidArrowError(f"LZ4 frame ends {size - place} bytes before the stated {size}")
        if stored > header.block_bytes:
            raise InvalidArrowError(f"damaged LZ4 frame: block of {stored} bytes")
        if word & _IS_PLAIN and stored != expected:
            raise UnsupportedError("LZ4 frame with blocks that are not full")
        _require(frame, at + stored)
        yield at, stored | PLAIN if word & _IS_PLAIN else stored, place, expected
        at += stored
    if _word(frame, at) != 0:
        raise UnsupportedError("LZ4 frame of more blocks than full ones would be")
    if at + _WORD.size != len(frame):
        raise UnsupportedError("LZ4 frame with bytes behind its end")


def _word(frame: Bytes, at: int) -> int:
    word: int = _WORD.unpack(_bytes(frame, at, _WORD.size))[0]
    return word


def _bytes(frame: Bytes, at: int, count: int) -> memoryview:
    """Bytes of a frame, all of which must be there."""
    _require(frame, at + count)
    return frame[at : at + count]


def _require(frame: Bytes, end: int) -> None:
    if end > len(frame):
        raise InvalidArrowError(f"LZ4 frame of {len(frame)} bytes ends too early")


# The constants of xxHash32; https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
_PRIMES = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1)


def header_checksum(descriptor: memoryview | bytes) -> int:
    """The second byte of the xxHash32 of a frame's descriptor, which has fewer than 16 bytes."""
    mixed = _PRIMES[4] + len(descriptor)
    words = len(descriptor) // 4
    for (word,) in _WORD.iter_unpack(descriptor[: 4 * words]):
        mixed = _rotated(mixed + word * _PRIMES[2], 17) * _PRIMES[3]
    for byte in descriptor[4 * words :]:
        mixed = _rotated(mixed + byte * _PRIMES[4], 11) * _PRIMES[0]
    mixed &= 0xFFFF_FFFF
    mixed = (mixed ^ mixed >> 15) * _PRIMES[1] & 0xFFFF_FFFF
    mixed = (mixed ^ mixed >> 13) * _PRIMES[2] & 0xFFFF_FFFF
    return (mixed ^ mixed >> 16) >> 8 & 0xFF


def _rotated(number: int, bits: int) -> int:
    """The lowest 32 bits of a number, rotated to the left."""
    word = number & 0xFFFF_FFFF
    return word << bits | word >> 32 - bits
