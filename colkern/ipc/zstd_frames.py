"""Zstandard frames, looked at without decompressing them.

Zstandard Compression Format: RFC 8878.
"""

from __future__ import annotations

from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.ipc.compression import codec_library

_BLOCK_HEADER = 3
_RAW, _REPEATED, _COMPRESSED = range(3)
_LARGEST_BLOCK = 1 << 17


def require_one_frame(frame: memoryview, size: int) -> None:
    """Raise unless a frame states its size and has blocks up to its end; they are not looked into.

    Args:
        frame: The bytes of the frame, and no others.
        size: How many bytes it is to make.

    Raises:
        InvalidArrowError: If the frame is damaged.
        UnsupportedError: If it does not state its size, has a checksum, or needs a dictionary; or the
            package zstandard is missing.
    """
    zstandard = codec_library("zstandard")
    try:
        parameters = zstandard.get_frame_parameters(frame)
        at = zstandard.frame_header_size(frame)
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


def _end_of_blocks(frame: memoryview, at: int) -> int:
    """Where the blocks end that begin at a place, which may be past the end of the bytes."""
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
