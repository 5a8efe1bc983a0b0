"""Zstandard frames from writers that are trusted, decompressed by nvCOMP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from colkern.cuda import memory, nvcomp
from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.ipc.device_codecs.codec import ExaminedFrame, PlacedFrame, require_places
from colkern.ipc.zstd_frames import require_one_frame
from colkern.memory import Device
from colkern.targets import Items, target_of

_LARGEST = (1 << 31) - 1
"""The bytes of a frame, and those that it makes, that nvCOMP takes at most."""


@dataclass(frozen=True, slots=True)
class ZstdCodec:
    """As `DeviceCodec` says, but only for frames whose writer is trusted.

    What a damaged frame makes nvCOMP do is undefined by its documentation, accesses out of bounds
    included, and what its Python package tells of such a frame is not documented. The host checks what
    it can without decompressing; nothing but decompressing tells whether the rest is right.

    nvCOMP decompresses each frame into an allocation of its own, of which the size is compared before
    it is copied. It is faster with many frames than with large ones. None of this has been measured,
    nor run on a GPU.

    Args:
        device: Where the bytes are.
    """

    device: Device

    def examined(self, frame: memoryview, size: int) -> ExaminedFrame | None:
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
            contents = nvcomp.decompressed("Zstd", stored, self.device)
            done = 0
            for (frame, _, place), content in zip(frames, contents, strict=False):
                if content.nbytes != frame.size:
                    break
                out[place : place + frame.size] = content
                done += 1
            # What is copied lives until it has been.
            memory.finish(self.device)
        return done

    def _aligned(self, stored: Items) -> Items:
        """The bytes of a frame at an address that nvCOMP takes; a copy if need be."""
        is_aligned = target_of(self.device).address(stored) % nvcomp.ALIGNMENT == 0
        return stored if is_aligned else stored.copy()
