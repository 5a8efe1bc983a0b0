"""Compressed buffers that are decompressed in the memory of a device, where they are needed.

The host reads each frame's headers, the device decompresses all frames of a message at once. Frames that
a device cannot decompress, or reports as damaged, are left to `Codec.decompress` on the host, which
raises the same errors as for arrays in host memory::

    codec = device_codec_of(codec_of(record["compression"]), device)
    if codec is not None:
        frame = codec.examined(frame_bytes, size)      # for each buffer; None: decompress on the host
        # … the bytes of those frames to `staged`, at `begin`; their buffers are at `place` of `out` …
        done = codec.decompress([PlacedFrame(frame, begin, place), …], staged, out)
        # … the frames from `done` on: decompress on the host

Columnar format 1.5: "Compression".
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from colkern.cuda import memory, nvcomp
from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.ipc.compression import Codec, codec_library
from colkern.ipc.enums import CompressionType
from colkern.kernels.lz4 import BLOCK_WORDS, PLAIN, decode_lz4_blocks
from colkern.memory import Device
from colkern.targets import Items, target_of

# LZ4 frames, parsed without decompressing them to find their blocks: the host reads the few bytes around
# each block; the blocks are then decompressed in parallel, on any device. Everything in a frame is checked
# against the bytes present, except that each block but the last one is full: the decompressor checks that.
#
# LZ4 frame format: https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md

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


@dataclass(frozen=True, slots=True)
class ExaminedFrame:
    """A frame that the host has checked, as far as its headers, and that a device can decompress."""

    stored: int
    size: int  #: How many bytes it makes, if it is not damaged further inside.
    #: The places of its blocks (uint64[blocks, 4]), as from `independent_blocks`; for LZ4 frames.
    blocks: NDArray[np.uint64] | None = None


class PlacedFrame(NamedTuple):
    """A frame, with the places of its bytes before and after decompression."""

    frame: ExaminedFrame
    begin: int  #: Where its first byte is in the array of compressed bytes; anywhere.
    place: int  #: Where its first byte goes to in the array of decompressed bytes; anywhere.


class DeviceCodec(Protocol):
    """A method of decompressing buffers on a device."""

    def seconds(self, stored: int) -> float:
        """The estimated time for frames decompressed in parallel, the largest of `stored` bytes."""

    def examined(self, frame: Bytes, size: int) -> ExaminedFrame | None:
        """The frame, examined by the host; None if it is damaged or the host must decompress it."""
        # Of the bytes after a buffer's stated (and checked) size, only a few for each block are
        # read.

    def decompress(self, frames: Sequence[PlacedFrame], staged: Items, out: Items) -> int:
        """Decompress examined frames on the device's current stream, and wait for the result."""
        # `staged` has the compressed bytes of all frames; `out` gets the decompressed ones, at
        # places that do not overlap. Both are uint8[] on the device. Only those places are written
        # to, whatever the frames contain. Returns the number of leading frames that are whole. The
        # next frame is damaged, or has blocks that no common compressor writes, and which the host
        # can decompress.


def require_places(frames: Sequence[PlacedFrame], staged: Items, out: Items) -> None:
    """Raise `ValueError` unless the arrays contain all the places of the frames."""
    for frame, begin, place in frames:
        if begin < 0 or begin + frame.stored > len(staged):
            raise ValueError(
                f"frames: {frame.stored} bytes from {begin} on, of {len(staged)} compressed bytes"
            )
        if place < 0 or place + frame.size > len(out):
            raise ValueError(f"frames: {frame.size} bytes to {place} of {len(out)}")


_BLOCK_BYTES = 1 << 18
"""The bytes of a block, as colkern and others write them."""

_LZ4_SECONDS_PER_BYTE = 4.4e-7
"""The time for a compressed byte of a block, whose sequences depend on each other."""


@dataclass(frozen=True, slots=True)
class Lz4Codec:
    """A `DeviceCodec` for LZ4 frames with independent blocks; other frames must be decoded in sequence."""

    device: Device

    def seconds(self, stored: int) -> float:
        """As `DeviceCodec.seconds`: measured on an NVIDIA H200 with blocks of 256 KiB."""
        return min(stored, _BLOCK_BYTES) * _LZ4_SECONDS_PER_BYTE

    def examined(self, frame: Bytes, size: int) -> ExaminedFrame | None:
        """As `DeviceCodec.examined`."""
        try:
            blocks = independent_blocks(frame, size)
        except (InvalidArrowError, UnsupportedError):
            return None
        return ExaminedFrame(len(frame), size, blocks)

    def decompress(self, frames: Sequence[PlacedFrame], staged: Items, out: Items) -> int:
        """As `DeviceCodec.decompress`; waits once, for a few numbers."""
        require_places(frames, staged, out)
        if not frames:
            return 0
        tables = [_placed_blocks(placed) for placed in frames]
        table = np.concatenate(tables)
        target = target_of(self.device)
        damaged = target.reduce(
            decode_lz4_blocks,
            len(table),
            target.table(table.ravel(), np.uint64),
            staged,
            target.address(staged),
            out,
            work=int(table[:, 3].mean()),
        )
        ends = np.cumsum([len(blocks) for blocks in tables])
        return int(np.searchsorted(ends, np.uint64(damaged), side="right"))


def _placed_blocks(placed: PlacedFrame) -> NDArray[np.uint64]:
    """The blocks of a frame, with their places in the arrays for all frames."""
    assert placed.frame.blocks is not None
    return placed.frame.blocks + np.array([placed.begin, 0, placed.place, 0], np.uint64)


_LARGEST = (1 << 31) - 1
"""The bytes of a frame, and those that it makes, that nvCOMP takes at most."""

_ZSTD_SECONDS_PER_BYTE = 1e-8
"""The time for a compressed byte of a frame."""

_LARGEST_HEADER = 18
_BLOCK_HEADER = 3
_RAW, _REPEATED, _COMPRESSED = range(3)
_LARGEST_BLOCK = 1 << 17


@dataclass(frozen=True, slots=True)
class ZstdCodec:
    """A `DeviceCodec` for Zstandard frames, but only those whose writer is trusted.

    By nvCOMP's documentation, its behaviour for a damaged frame is undefined, and may include accesses
    out of bounds; what its Python package reports for one is not documented. The host checks as much as
    it can without decompressing; the rest can only be checked by decompressing.

    nvCOMP decompresses each frame into its place, and is faster with many frames than with large ones.
    None of this has been run or measured on a GPU, and the estimated time is not from a measurement.
    """

    device: Device

    def seconds(self, stored: int) -> float:
        """As `DeviceCodec.seconds`."""
        return stored * _ZSTD_SECONDS_PER_BYTE

    def examined(self, frame: Bytes, size: int) -> ExaminedFrame | None:
        """As `DeviceCodec.examined`."""
        if max(len(frame), size) > _LARGEST:
            return None
        try:
            require_one_frame(frame, size)
        except (InvalidArrowError, UnsupportedError):
            return None
        return ExaminedFrame(len(frame), size)

    def decompress(self, frames: Sequence[PlacedFrame], staged: Items, out: Items) -> int:
        """As `DeviceCodec.decompress`; none, if nvCOMP refuses them."""
        require_places(frames, staged, out)
        if not frames:
            return 0
        with memory.current(self.device):
            stored = [self._aligned(staged[at.begin :][: at.frame.stored]) for at in frames]
            places = [out[at.place :][: at.frame.size] for at in frames]
            sizes = nvcomp.decompress("Zstd", stored, places, self.device)
        pairs = zip(frames, sizes, strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0].frame.size == pair[1], pairs))

    def _aligned(self, stored: Items) -> Items:
        """The bytes of a frame at an address that nvCOMP accepts; copied if need be."""
        is_aligned = target_of(self.device).address(stored) % nvcomp.ALIGNMENT == 0
        return stored if is_aligned else stored.copy()


def require_one_frame(frame: Bytes, size: int) -> None:
    """Raise unless a frame is one whose stated size and blocks reach exactly to its end."""
    zstandard = codec_library("zstandard")
    header = frame[:_LARGEST_HEADER]
    try:
        parameters = zstandard.get_frame_parameters(header)
        at = zstandard.frame_header_size(header)
    except zstandard.ZstdError as error:
        raise InvalidArrowError(f"damaged Zstandard frame: {error}") from None
    if parameters.content_size == zstandard.CONTENTSIZE_UNKNOWN:
        raise UnsupportedError("Zstandard frame that does not state its size")
    if parameters.content_size != size:
        raise InvalidArrowError(
            f"Zstandard frame of {parameters.content_size} bytes where {size} are stated"
        )
    if parameters.has_checksum:
        raise UnsupportedError("Zstandard frame with a checksum of its content")
    if parameters.dict_id:
        raise UnsupportedError("Zstandard frame with a dictionary")
    if _end_of_blocks(frame, at) != len(frame):
        raise InvalidArrowError(f"Zstandard frame that is not of {len(frame)} bytes")


def _end_of_blocks(frame: Bytes, at: int) -> int:
    """The end of the blocks that begin at `at`, which may be past the end of the bytes."""
    is_last = False
    while not is_last and at + _BLOCK_HEADER <= len(frame):
        header = int.from_bytes(frame[at : at + _BLOCK_HEADER], "little")
        is_last, kind, block = bool(header & 1), header >> 1 & 3, header >> 3
        if kind > _COMPRESSED or block > _LARGEST_BLOCK:
            raise InvalidArrowError(f"damaged Zstandard frame: block header {header:#08x}")
        at += _BLOCK_HEADER + (1 if kind == _REPEATED else block)
    if not is_last:
        raise InvalidArrowError(f"Zstandard frame of {len(frame)} bytes ends too early")
    return at


def device_codec_of(codec: Codec, device: Device, *, trusted: bool = False) -> DeviceCodec | None:
    """The codec for a device, or None. Zstandard only if `trusted`: nvCOMP may crash on bad frames."""
    if codec.number == CompressionType.LZ4_FRAME:
        return Lz4Codec(device)
    if trusted and codec.number == CompressionType.ZSTD and nvcomp.is_installed():
        return ZstdCodec(device)
    return None
