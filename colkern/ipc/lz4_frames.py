"""LZ4 frames, parsed without decompressing them to find their blocks.

The host reads the few bytes around each block; the blocks are then decompressed in parallel, on any
device. Everything in a frame is checked against the bytes present, except that each block but the last
one is full: the decompressor checks that.

LZ4 frame format: https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.ipc.compression import codec_library
from colkern.kernels.lz4 import BLOCK_WORDS, PLAIN

_WORD = struct.Struct("<I")

_SHORTEST_HEADER, _LONGEST_HEADER = 7, 19
_FLAGS, _CONTENT_SIZE, _DICTIONARY = 4, 8, 1
"""The place of the flags in a header, and two of them."""

_IS_PLAIN = 1 << 31


class Bytes(Protocol):
    """Bytes in host memory, as in a memoryview, or in a file, where they are read when accessed."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice) -> memoryview: ...


class _Header(NamedTuple):
    """The header of a frame."""

    block_bytes: int  #: How many bytes a block makes at most.
    content_bytes: int | None  #: How many bytes the frame makes, or None.
    end: int  #: Where the first block begins.


def independent_blocks(frame: Bytes, size: int) -> NDArray[np.uint64]:
    """The blocks of a whole frame that can be decompressed in parallel: uint64[blocks, 4]."""
    # A row is what `colkern.kernels.lz4.decode_lz4_blocks` takes: the block's place in the frame,
    # its bytes there, its place in the output, and its bytes there. Raises `UnsupportedError`
    # unless the frame has independent, full blocks without checksums.
    header = _header(frame)
    if header.content_bytes not in (None, size):
        raise InvalidArrowError(
            f"LZ4 frame of {header.content_bytes} bytes where {size} bytes are stated"
        )
    blocks = list(_blocks(frame, header, size))
    return np.array(blocks, np.uint64).reshape(-1, BLOCK_WORDS)


def _header(frame: Bytes) -> _Header:
    """The header of a frame; raises like `independent_blocks`."""
    start = frame[:_LONGEST_HEADER]
    try:
        header = codec_library("lz4.frame").get_frame_info(start)
    except RuntimeError as error:
        raise InvalidArrowError(f"damaged LZ4 frame: {error}") from None
    if header["skippable"]:
        raise InvalidArrowError("LZ4 frame does not begin as one")
    if header["block_linked"]:
        raise UnsupportedError("LZ4 frame whose blocks need those before them")
    if header["block_checksum"] or header["content_checksum"]:
        raise UnsupportedError("LZ4 frame with checksums of its content")
    flags = start[_FLAGS]
    if flags & _DICTIONARY:
        raise UnsupportedError("LZ4 frame with a dictionary")
    if flags & _CONTENT_SIZE:
        return _Header(header["block_size"], header["content_size"], _SHORTEST_HEADER + 8)
    return _Header(header["block_size"], None, _SHORTEST_HEADER)


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
    _require(frame, at + _WORD.size)
    word: int = _WORD.unpack(frame[at : at + _WORD.size])[0]
    return word


def _require(frame: Bytes, end: int) -> None:
    if end > len(frame):
        raise InvalidArrowError(f"LZ4 frame of {len(frame)} bytes ends too early")
