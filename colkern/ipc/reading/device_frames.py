"""Compressed buffers of a body, decompressed on the device that they are brought to.

Columnar format 1.5: "Compression".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colkern.cpu.threads import map_items
from colkern.cuda.placement import placed
from colkern.cuda.staging import Piece, Upload
from colkern.errors import LimitExceededError
from colkern.ipc.device_codecs import DeviceCodec, ExaminedFrame, PlacedFrame
from colkern.ipc.reading.parts import Placed
from colkern.ipc.reading.sources import Body
from colkern.memory import Device


class _Chosen(NamedTuple):
    """A buffer whose frame the device is to decompress, and the bytes of that frame."""

    placed: Placed
    stored: NDArray[np.uint8]
    frame: ExaminedFrame


def decompress_there(
    upload: Upload, device: Device, body: Body, codec: DeviceCodec, parts: Sequence[Placed]
) -> list[Placed]:
    """Send compressed bytes as they are, and decompress them on the device; waits for the outcome.

    Args:
        upload: The block that the buffers have places in.
        device: The device.
        body: Where the compressed bytes are.
        codec: The codec of the device.
        parts: The buffers that do not stand in the body as they are to be.

    Returns:
        The buffers that are left for the host: those that the device does not know, or reports damaged.
    """
    chosen = _chosen(body, codec, parts)
    if not chosen:
        return list(parts)
    placement = placed([each.stored.size for each in chosen])
    try:
        staged = Upload(device, placement.size)
    except LimitExceededError:
        # The host needs no room on the device for compressed bytes.
        return list(parts)
    stored = [each.stored for each in chosen]
    staged.send_pieces(list(map(Piece.of, placement.starts, stored)))
    staged.end()
    staged.hold_current()
    frames = [
        PlacedFrame(each.frame, begin, each.placed.at)
        for each, begin in zip(chosen, placement.starts, strict=True)
    ]
    done = codec.decompress(frames, staged.block, upload.block)
    finished = {each.placed.part.wanted for each in chosen[:done]}
    return [each for each in parts if each.part.wanted not in finished]


def _chosen(body: Body, codec: DeviceCodec, parts: Sequence[Placed]) -> list[_Chosen]:
    """The buffers whose frames the device is able to decompress; read side by side."""

    def choose(each: Placed) -> _Chosen | None:
        stored = body.read(each.part.start, each.part.frame).array
        frame = codec.examined(stored.data, each.part.size)
        return None if frame is None else _Chosen(each, stored, frame)

    framed = [each for each in parts if each.part.frame]
    chosen = map_items(choose, framed, sum(each.part.frame for each in framed))
    return [each for each in chosen if each is not None]
