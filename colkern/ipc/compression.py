"""Compressed buffers: LZ4 frames and Zstandard, each preceded by its uncompressed length.

The stated length is untrusted input. Before anything is allocated, it is checked against the most that
the codec can produce from the given bytes, and against a limit.

Columnar format 1.5: "Compression".
"""

from __future__ import annotations

import ctypes
import importlib
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from colkern.errors import InvalidArrowError, LimitExceededError, UnsupportedError
from colkern.forks import Lock
from colkern.ipc.enums import BodyCompressionMethod, CompressionType
from colkern.ipc.flatbuffer.tables import Record
from colkern.ipc.limits import decompression_error
from colkern.memory import EMPTY, Buffer, allocate_for_overwrite

_NOT_COMPRESSED = -1
_PREFIX = struct.Struct("<q")
PREFIX_BYTES = _PREFIX.size
"""The uncompressed length in front of each frame."""

# Each further byte of a match length in LZ4 adds 255 bytes at most.
_LZ4_BYTES_PER_BYTE = 255
# The smallest Zstandard block has four bytes (three of header, one to repeat) and yields 128 KiB.
_ZSTD_BYTES_PER_BLOCK = 1 << 17
_ZSTD_SMALLEST_BLOCK = 4

_LZ4, _ZSTD = "lz4.frame", "zstandard"
"""The modules of the codecs' libraries."""

_local = threading.local()


def codec_library(module: str) -> ModuleType:
    """The library of a codec: `lz4.frame` or `zstandard`; imported when a codec is first needed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise UnsupportedError(
            f"compressed buffers: the package {package} cannot be imported ({error}); "
            f"pip install {package}"
        ) from None


class Budget:
    """The number of bytes to which the buffers of a batch, or a dictionary, may still be decompressed."""

    __slots__ = ("_left", "_limit", "_lock")

    def __init__(self, limit: int, spent: int = 0) -> None:
        self._limit = limit
        self._left = limit - spent
        self._lock = Lock()

    @property
    def left(self) -> int:
        """The number of bytes that may still be spent."""
        return self._left

    @property
    def spent(self) -> int:
        """The number of bytes spent."""
        return self._limit - self._left

    def spend(self, count: int) -> None:
        """Subtract `count` bytes; raises `LimitExceededError` if fewer are left."""
        with self._lock:
            if count > self._left:
                raise decompression_error(self._limit)
            self._left -= count

    def give_back(self, count: int) -> None:
        """Put `count` bytes back."""
        with self._lock:
            self._left += count


class Decoder(Protocol):
    """A decoder of a frame, which gives its bytes in order."""

    def fill(self, out: NDArray[np.uint8]) -> int:
        """Decode the next bytes into `out`; returns their number, which is less at the frame's end."""

    def has_more(self) -> bool:
        """Whether further bytes follow; raises like `fill`."""


@dataclass(frozen=True, slots=True)
class Codec:
    """A method of compressing a buffer."""

    name: str
    number: int  #: Its `CompressionType` value.
    library: str  #: The module of its library.
    #: `(frame, size) -> Decoder`, for a frame of a stated `size`.
    open: Callable[[memoryview, int], Decoder]
    most: Callable[[int], int]  #: How many bytes a frame of so many bytes can hold at most.
    encode: Callable[[memoryview, int], bytes]  #: `(bytes, level) -> frame`.
    levels: range  #: The levels that it takes, and the one that it takes if none is asked for.
    level: int

    def compress(self, buffer: Buffer) -> list[bytes | memoryview]:
        """The chunks to write for a buffer: its length and a frame, or -1 and its own bytes."""
        # The buffer's own bytes, if a frame would not be smaller; they are not copied.
        if buffer.size == 0:
            return []
        data = buffer.array.data
        frame = self.encode(data, self.level)
        if len(frame) >= buffer.size:
            return [_PREFIX.pack(_NOT_COMPRESSED), data]
        return [_PREFIX.pack(buffer.size), frame]

    def decompress(self, buffer: Buffer, budget: Budget) -> Buffer:
        """The bytes of a compressed buffer, in new memory; a slice if they were not compressed."""
        if buffer.size == 0:
            return EMPTY
        data = memoryview(buffer.array)
        size = self._stated_size(data, buffer.size)
        if size == _NOT_COMPRESSED:
            return buffer[PREFIX_BYTES:]
        if size == 0:
            return EMPTY
        budget.spend(size)
        try:
            out = allocate_for_overwrite(size, np.uint8)
            frame = self.frame(data[PREFIX_BYTES:], size)
            frame.fill(out)
            frame.end()
        except MemoryError:
            raise LimitExceededError(f"no memory for a buffer of {size} bytes") from None
        return Buffer(out)

    def frame(self, data: memoryview, size: int) -> Frame:
        """A frame of a stated `size`, to be decompressed in parts."""
        return Frame(self.name, self.open(data, size), size)

    def is_plain(self, start: memoryview | bytes, stored: int) -> bool:
        """Whether the bytes after the length are not compressed; raises like `uncompressed_size`."""
        return stored > 0 and self._stated_size(start, stored) == _NOT_COMPRESSED

    def uncompressed_size(self, start: memoryview | bytes, stored: int) -> int:
        """The uncompressed size of a compressed buffer of `stored` bytes, by the length at its start."""
        if stored == 0:
            return 0
        size = self._stated_size(start, stored)
        return stored - PREFIX_BYTES if size == _NOT_COMPRESSED else size

    def _stated_size(self, start: memoryview | bytes, stored: int) -> int:
        """The length at the start, or `_NOT_COMPRESSED` if plain bytes follow it."""
        if stored < PREFIX_BYTES:
            raise InvalidArrowError(
                f"compressed buffer of {stored} bytes is too short for its length"
            )
        size: int = _PREFIX.unpack_from(start)[0]
        if size != _NOT_COMPRESSED and not 0 <= size <= self.most(stored - PREFIX_BYTES):
            raise InvalidArrowError(
                f"compressed buffer states {size} bytes; {self.name} cannot make them of "
                f"{stored - PREFIX_BYTES}"
            )
        return size

    @property
    def option(self) -> str:
        """The name for `codec_named`."""
        return next(name for name, number in _NAMES.items() if number == self.number)


class Frame:
    """The bytes of a frame, in parts; their number must be the stated one."""

    def __init__(self, name: str, decoder: Decoder, size: int) -> None:
        self._name = name
        self._decoder = decoder
        self._size = size
        self._filled = 0

    def fill(self, out: NDArray[np.uint8]) -> None:
        """Fill `out` with the next bytes."""
        count = self._decoder.fill(out)
        self._filled += count
        if count < out.size:
            raise self._wrong_size(f"{self._filled} bytes")

    def end(self) -> None:
        """Raise `InvalidArrowError` if the frame has more bytes than it states."""
        if self._decoder.has_more():
            raise self._wrong_size("more")

    def _wrong_size(self, what: str) -> InvalidArrowError:
        return InvalidArrowError(
            f"{self._name} frame of {what} where {self._size} bytes are stated"
        )


@cache
def _lz4_library() -> ctypes.CDLL | None:
    """The C library in the package `lz4`, or linked with it; None if its functions are hidden."""
    # The package's own functions return new bytes, which takes four times as long as decompressing
    # into given memory.
    library = ctypes.CDLL(importlib.import_module("lz4.frame._frame").__file__)
    try:
        library.LZ4F_decompress.argtypes = [ctypes.c_void_p] * 6
        library.LZ4F_decompress.restype = ctypes.c_size_t
        library.LZ4F_createDecompressionContext.restype = ctypes.c_size_t
        library.LZ4F_isError.argtypes = library.LZ4F_getErrorName.argtypes = [ctypes.c_size_t]
        library.LZ4F_getErrorName.restype = ctypes.c_char_p
        library.LZ4F_freeDecompressionContext.argtypes = [ctypes.c_void_p]
    except AttributeError:
        return None
    return library


class _Lz4Context:
    """The state of the C library while it decompresses a frame."""

    _VERSION = 100

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self._handle = ctypes.c_void_p()
        status = library.LZ4F_createDecompressionContext(ctypes.byref(self._handle), self._VERSION)
        if library.LZ4F_isError(status):
            raise MemoryError("no memory for the state of an LZ4 frame")

    def __del__(self) -> None:
        self._library.LZ4F_freeDecompressionContext(self._handle)

    def step(self, place: int, most: int, at: int, left: int) -> tuple[int, int, bool]:
        """Decompress without the GIL; returns the bytes written and read, and whether the frame ended."""
        count, used = ctypes.c_size_t(most), ctypes.c_size_t(left)
        expected = self._library.LZ4F_decompress(
            self._handle, place, ctypes.byref(count), at, ctypes.byref(used), None
        )
        if self._library.LZ4F_isError(expected):
            raise RuntimeError(self._library.LZ4F_getErrorName(expected).decode())
        return count.value, used.value, expected == 0


class _PackagedLz4Context:
    """As `_Lz4Context`, with the package's own function, which returns new bytes."""

    # Pieces of this size stay in the cache.
    _PIECE = 1 << 18

    def __init__(self) -> None:
        lz4_frame = codec_library(_LZ4)
        self._decompress = lz4_frame.decompress_chunk
        self._state = lz4_frame.create_decompression_context()

    def step(self, place: int, most: int, at: int, left: int) -> tuple[int, int, bool]:
        """As `_Lz4Context.step`."""
        piece = ctypes.string_at(at, min(left, self._PIECE))
        part, used, ended = self._decompress(self._state, piece, max_length=min(most, self._PIECE))
        ctypes.memmove(place, part, len(part))
        return len(part), used, ended


def _new_lz4_context() -> _Lz4Context | _PackagedLz4Context:
    library = _lz4_library()
    return _PackagedLz4Context() if library is None else _Lz4Context(library)


class _Lz4Decoder:
    def __init__(self, frame: memoryview, size: int) -> None:
        codec_library(_LZ4)
        # A context that has reached the end of a frame can be used for the next one.
        self._context = _local.__dict__.pop("lz4", None) or _new_lz4_context()
        self._frame = np.asarray(frame)
        self._at = self._frame.ctypes.data
        self._left = len(frame)
        self._size = size
        self._ended = False

    def fill(self, out: NDArray[np.uint8]) -> int:
        """Decompress directly into `out`."""
        filled, place = 0, out.ctypes.data
        while filled < out.size and not self._ended:
            filled += self._next(place + filled, out.size - filled)
        return filled

    def has_more(self) -> bool:
        """Whether bytes come before the frame's end."""
        byte = ctypes.c_uint8()
        while not self._ended:
            if self._next(ctypes.addressof(byte), 1):
                return True
        # As in Arrow C++, there is only one frame.
        if self._left:
            raise InvalidArrowError(f"{self._left} bytes behind the end of the LZ4 frame")
        _local.lz4 = self._context
        return False

    def _next(self, place: int, most: int) -> int:
        """Write at most `most` of the next bytes to an address; returns their number."""
        try:
            count, used, self._ended = self._context.step(place, most, self._at, self._left)
        except RuntimeError as error:
            raise InvalidArrowError(f"damaged LZ4 frame: {error}") from None
        self._at += used
        self._left -= used
        if not (count or used or self._ended):
            raise InvalidArrowError(f"LZ4 frame does not end with the stated {self._size} bytes")
        return int(count)


class _ZstdDecoder:
    def __init__(self, frame: memoryview, size: int) -> None:
        zstandard = codec_library(_ZSTD)
        self._damage = zstandard.ZstdError
        decompressor = getattr(_local, "zstd", None)
        if decompressor is None:
            # A decompressor can be used by only one thread at a time.
            decompressor = _local.zstd = zstandard.ZstdDecompressor()
        # As in Arrow C++, several frames in a row are one buffer.
        self._reader = decompressor.stream_reader(frame, read_across_frames=True)

    def fill(self, out: NDArray[np.uint8]) -> int:
        """Decompress directly into `out`."""
        filled = 0
        try:
            while filled < out.size and (count := self._reader.readinto(out[filled:].data)):
                filled += count
        except self._damage as error:
            raise InvalidArrowError(f"damaged Zstandard frame: {error}") from None
        return filled

    def has_more(self) -> bool:
        """Whether bytes come before the frame's end."""
        try:
            return bool(self._reader.read(1))
        except self._damage as error:
            raise InvalidArrowError(f"damaged Zstandard frame: {error}") from None


def _to_lz4(data: memoryview, level: int) -> bytes:
    lz4_frame = codec_library(_LZ4)
    # Blocks are independent, so that a reader may decode them in parallel. Smaller ones would lose
    # a fifth of what compression saves for text.
    frame: bytes = lz4_frame.compress(
        data, compression_level=level, block_size=lz4_frame.BLOCKSIZE_MAX256KB, block_linked=False
    )
    return frame


def _to_zstd(data: memoryview, level: int) -> bytes:
    zstandard = codec_library(_ZSTD)
    compressors = _local.__dict__.setdefault("compressors", {})
    if level not in compressors:
        # A compressor can be used by only one thread at a time.
        compressors[level] = zstandard.ZstdCompressor(level=level)
    frame: bytes = compressors[level].compress(data)
    return frame


_CODECS = {
    codec.number: codec
    for codec in (
        Codec(
            "LZ4",
            CompressionType.LZ4_FRAME,
            _LZ4,
            _Lz4Decoder,
            lambda size: size * _LZ4_BYTES_PER_BYTE,
            _to_lz4,
            range(-65537, 17),
            level=0,
        ),
        Codec(
            "Zstandard",
            CompressionType.ZSTD,
            _ZSTD,
            _ZstdDecoder,
            lambda size: (size // _ZSTD_SMALLEST_BLOCK + 1) * _ZSTD_BYTES_PER_BLOCK,
            _to_zstd,
            range(-131072, 23),
            level=1,
        ),
    )
}

_NAMES = {"lz4": CompressionType.LZ4_FRAME, "zstd": CompressionType.ZSTD}


def codec_named(name: str | None, level: int | None) -> Codec | None:
    """The codec to write with: "lz4" (LZ4 frames), "zstd", or None for plain buffers."""
    if name is None:
        if level is not None:
            raise ValueError("compression_level: pass a compression too")
        return None
    if name not in _NAMES:
        raise ValueError(f"compression: expected 'lz4', 'zstd' or None, got {name!r}")
    codec = _CODECS[_NAMES[name]]
    codec_library(codec.library)
    if level is None:
        return codec
    if level not in codec.levels:
        least, most = codec.levels[0], codec.levels[-1]
        raise ValueError(f"compression_level: {codec.name} takes {least} to {most}, got {level}")
    return replace(codec, level=level)


def codec_of(compression: Record | None) -> Codec | None:
    """The codec of a batch, from its `BodyCompression` table; None if buffers are not compressed."""
    if compression is None:
        return None
    if compression["method"] != BodyCompressionMethod.BUFFER:
        raise UnsupportedError(f"unknown body compression method {compression['method']}")
    codec = _CODECS.get(compression["codec"])
    if codec is None:
        raise UnsupportedError(f"unknown compression codec number {compression['codec']}")
    return codec
