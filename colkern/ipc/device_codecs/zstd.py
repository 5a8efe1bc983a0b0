"""Zstandard frames from writers that are trusted, decompressed by nvCOMP: RFC 8878."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from colkern.cuda import memory, nvcomp
from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.ipc.compression import codec_library
from colkern.ipc.device_codecs.codec import ExaminedFrame, PlacedFrame, require_places
from colkern.ipc.lz4_frames import Bytes
from colkern.memory import Device
from colkern.targets import Items, target_of

_LARGEST = (1 << 31) - 1
"""The bytes of a frame, and those that it makes, that nvCOMP takes at most."""

_SECONDS_PER_BYTE = 1e-8
"""The time for a compressed byte of a frame."""

_LARGEST_HEADER = 18
_BLOCK_HEADER = 3
_RAW, _REPEATED, _COMPRESSED = range(3)
_LARGEST_BLOCK = 1 << 17


@dataclass(frozen=True, slots=True)
class ZstdCodec:
    """As `DeviceCodec` says, but only for frames whose writer is trusted.

    What a damaged frame makes nvCOMP do is undefined by its documentation, accesses out of bounds
    included, and what its Python package tells of such a frame is not documented. The host checks what
    it can without decompressing; nothing but decompressing tells whether the rest is right.

    nvCOMP decompresses each frame into its place, and is faster with many frames than with large ones.
    None of this has been measured, nor run on a GPU; nor is the estimated time from a measurement.
    """

    device: Device

    def seconds(self, stored: int) -> float:
        """As `DeviceCodec.seconds`."""
        return stored * _SECONDS_PER_BYTE

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
            made = nvcomp.decompress("Zstd", stored, places, self.device)
        pairs = zip(frames, made, strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0].frame.size == pair[1], pairs))

    def _aligned(self, stored: Items) -> Items:
        """The bytes of a frame at an address that nvCOMP takes; a copy if need be."""
        is_aligned = target_of(self.device).address(stored) % nvcomp.ALIGNMENT == 0
        return stored if is_aligned else stored.copy()


def require_one_frame(frame: Bytes, size: int) -> None:
    """Raise unless a frame states its size and blocks to its end; `UnsupportedError` for others."""
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
