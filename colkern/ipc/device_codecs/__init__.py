"""Compressed buffers, decompressed where they are needed: in the memory of a device.

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

from colkern.cuda import nvcomp
from colkern.ipc.compression import Codec
from colkern.ipc.device_codecs.codec import DeviceCodec, ExaminedFrame, PlacedFrame
from colkern.ipc.device_codecs.lz4 import Lz4Codec
from colkern.ipc.device_codecs.zstd import ZstdCodec
from colkern.ipc.enums import CompressionType
from colkern.memory import Device

__all__ = ["DeviceCodec", "ExaminedFrame", "PlacedFrame", "device_codec_of"]


def device_codec_of(codec: Codec, device: Device, *, trusted: bool = False) -> DeviceCodec | None:
    """How to decompress on a device, or None. Zstandard only if `trusted`: nvCOMP may crash."""
    if codec.number == CompressionType.LZ4_FRAME:
        return Lz4Codec(device)
    if trusted and codec.number == CompressionType.ZSTD and nvcomp.is_installed():
        return ZstdCodec(device)
    return None
