"""LZ4 frames with independent blocks, decompressed side by side by a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.ipc.device_codecs.codec import ExaminedFrame, PlacedFrame, require_places
from colkern.ipc.lz4_frames import Bytes, independent_blocks
from colkern.kernels.lz4 import decode_lz4_blocks
from colkern.memory import Device
from colkern.targets import Items, target_of

_BLOCK_BYTES = 1 << 18
"""The bytes of a block, as colkern and others write them."""

_SECONDS_PER_BYTE = 4.4e-7
"""The time for a compressed byte of a block: its sequences wait for each other."""


@dataclass(frozen=True, slots=True)
class Lz4Codec:
    """As `DeviceCodec`, for anybody's frames of independent blocks: others go one byte after the other."""

    device: Device

    def seconds(self, stored: int) -> float:
        """As `DeviceCodec.seconds`: measured on an NVIDIA H200 with blocks of 256 KiB."""
        return min(stored, _BLOCK_BYTES) * _SECONDS_PER_BYTE

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
    """The blocks of a frame by their places in the arrays of all frames."""
    assert placed.frame.blocks is not None
    return placed.frame.blocks + np.array([placed.begin, 0, placed.place, 0], np.uint64)
