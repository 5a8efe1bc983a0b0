"""The protocol of codecs that decompress buffers on a device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from colkern.ipc.lz4_frames import Bytes
from colkern.targets import Items


@dataclass(frozen=True, slots=True)
class ExaminedFrame:
    """A frame whose headers are right, and which a device can decompress."""

    stored: int
    size: int  #: How many bytes it makes, if it is not damaged further inside.
    #: Where its blocks are (uint64[blocks, 4]), as `independent_blocks` says; of an LZ4 frame.
    blocks: NDArray[np.uint64] | None = None


class PlacedFrame(NamedTuple):
    """A frame, and where its bytes are and go to."""

    frame: ExaminedFrame
    begin: int  #: Where its first byte is in the array of compressed bytes; anywhere.
    place: int  #: Where its first byte goes to in the array of decompressed bytes; anywhere.


class DeviceCodec(Protocol):
    """One way to decompress buffers on a device."""

    def seconds(self, stored: int) -> float:
        """The estimated time for frames, side by side, of which the largest has so many bytes."""

    def examined(self, frame: Bytes, size: int) -> ExaminedFrame | None:
        """The frame as the host examined it; None if it is damaged, or the host has to decompress it."""
        # Of the bytes behind a buffer's stated (and checked) size, no more is looked at than some for each
        # block.

    def decompress(self, frames: Sequence[PlacedFrame], staged: Items, out: Items) -> int:
        """Decompress examined frames on the current stream of the device, and wait for their outcome."""
        # `staged` has the compressed bytes of all, `out` gets what they are decompressed to, at places that
        # do not overlap: uint8[] on the device. Nothing but those places is written to, whatever is in the
        # frames. Gives the number of frames, from the first one on, that are whole. The next one is
        # damaged, or has blocks that no common compressor writes, which the host's decompressor knows.


def require_places(frames: Sequence[PlacedFrame], staged: Items, out: Items) -> None:
    """Raise `ValueError` unless the arrays have all the places of the frames."""
    for frame, begin, place in frames:
        if begin < 0 or begin + frame.stored > len(staged):
            raise ValueError(
                f"frames: {frame.stored} bytes from {begin} on, of {len(staged)} compressed bytes"
            )
        if place < 0 or place + frame.size > len(out):
            raise ValueError(f"frames: {frame.size} bytes to {place} of {len(out)}")
