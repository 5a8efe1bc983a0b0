"""Compressed buffers, decompressed where they are needed: in the memory of a device.

The host looks at each frame's headers, the device decompresses all frames of a message at once. What a
device cannot do is left to `Codec.decompress` on the host, which also has the last word on frames that
the device found damaged: it says what is wrong with them, as it does for arrays in host memory.

    codec = device_codec_of(codec_of(record["compression"]), device)
    if codec is not None:
        frame = codec.examined(frame_bytes, size)      # for each buffer; None: decompress on the host
        # … the bytes of those frames to `staged`, at `begin`; their buffers are at `place` of `out` …
        done = codec.decompress([PlacedFrame(frame, begin, place), …], staged, out)
        # … the frames from `done` on: decompress on the host

Columnar format 1.5: "Compression".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.ipc.compression import Codec
from colkern.ipc.flatbuf.CompressionType import CompressionType
from colkern.ipc.lz4_frames import independent_blocks
from colkern.kernels import lz4
from colkern.memory import Device
from colkern.operations.targets import target_of


@dataclass(frozen=True, slots=True)
class ExaminedFrame:
    """A frame whose headers are right, and which a device can decompress.

    Args:
        stored: How many bytes the frame has.
        size: How many bytes it makes, if it is not damaged further inside.
        blocks: Where its blocks are (uint64[blocks, 4]), as `independent_blocks` says; of an LZ4 frame.
    """

    stored: int
    size: int
    blocks: NDArray[np.uint64] | None = None


class PlacedFrame(NamedTuple):
    """A frame, and where its bytes are and go to.

    Args:
        frame: What `DeviceCodec.examined` said of it.
        begin: Where its first byte is in the array of compressed bytes; anywhere.
        place: Where its first byte goes to in the array of decompressed bytes; anywhere.
    """

    frame: ExaminedFrame
    begin: int
    place: int


class DeviceCodec(Protocol):
    """One way to decompress buffers on a device."""

    def examined(self, frame: memoryview, size: int) -> ExaminedFrame | None:
        """What the host finds out about a frame; None if it has to be decompressed on the host.

        None is also said of damaged frames: decompressing them tells what is wrong.

        Args:
            frame: The bytes behind a buffer's stated size, in host memory; a mapped file will do, of
                which no more is touched than some bytes for each block.
            size: The stated size; `Codec.uncompressed_size` has checked it.
        """

    def decompress(self, frames: Sequence[PlacedFrame], staged: Any, out: Any) -> int:
        """Decompress frames on the current stream of the device, and wait for their outcome.

        Nothing but the places of these frames is written to, whatever is in them.

        Args:
            frames: The frames, which `examined` has accepted with the same bytes as are in `staged`.
            staged: The compressed bytes of all of them: uint8[] on the device.
            out: What they are decompressed to: uint8[] on the device.

        Returns:
            How many of the frames, from the first one on, have made all their bytes. Of the others'
            there is no saying what they are; the one that follows is damaged, or has blocks that no
            common compressor makes, which the host's decompressor knows.

        Raises:
            ValueError: If a frame has a place outside of the arrays.
            LimitExceededError: If the device is out of memory.
        """


def device_codec_of(codec: Codec, device: Device) -> DeviceCodec | None:
    """The way to decompress a codec's buffers on a device; None if there is none but on the host.

    LZ4 frames are decompressed by a kernel.
    """
    if codec.number == CompressionType.LZ4_FRAME:
        return Lz4DeviceCodec(device)
    return None


@dataclass(frozen=True, slots=True)
class Lz4DeviceCodec:
    """LZ4 frames with independent blocks, which are decompressed side by side by a kernel.

    Those are what colkern writes. Blocks that need the ones before them would be decompressed one after
    the other, which a device is slow at; checksums are a matter of one byte after the other as well.

    Args:
        device: Where the bytes are.
    """

    device: Device

    def examined(self, frame: memoryview, size: int) -> ExaminedFrame | None:
        """As `DeviceCodec.examined`."""
        try:
            blocks = independent_blocks(frame, size)
        except (InvalidArrowError, UnsupportedError):
            return None
        return ExaminedFrame(len(frame), size, blocks)

    def decompress(self, frames: Sequence[PlacedFrame], staged: Any, out: Any) -> int:
        """As `DeviceCodec.decompress`."""
        _require_places(frames, staged, out)
        if not frames:
            return 0
        tables = [_placed_blocks(placed) for placed in frames]
        table = np.concatenate(tables)
        target = target_of(self.device)
        damaged = target.reduce(
            lz4.decode_lz4_blocks,
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
    """The blocks of a frame by their places in the arrays of all frames."""
    assert placed.frame.blocks is not None
    shift = np.array([placed.begin, 0, placed.place, 0], np.uint64)
    return placed.frame.blocks + shift


def _require_places(frames: Sequence[PlacedFrame], staged: Any, out: Any) -> None:
    """Raise `ValueError` unless the arrays have all the places of the frames."""
    for frame, begin, place in frames:
        if begin < 0 or begin + frame.stored > len(staged):
            raise ValueError(
                f"frames: {frame.stored} bytes from {begin} on, of {len(staged)} compressed bytes"
            )
        if place < 0 or place + frame.size > len(out):
            raise ValueError(f"frames: {frame.size} bytes to {place} of {len(out)}")
