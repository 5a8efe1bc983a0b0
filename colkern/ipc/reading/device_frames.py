"""Compressed buffers of a body, decompressed on the device that they are brought to.

Columnar format 1.5: "Compression".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from colkern.closing import OnFailure
from colkern.cpu.threads import map_items
from colkern.cuda.memory import placed
from colkern.cuda.staging import Piece, Upload
from colkern.errors import LimitExceededError
from colkern.ipc.device_codecs import DeviceCodec, ExaminedFrame, PlacedFrame
from colkern.ipc.lz4_frames import Bytes
from colkern.ipc.reading.parts import Placed
from colkern.ipc.reading.sources import Body, OpenFile
from colkern.memory import Device


class Run(NamedTuple):
    """Bytes that are sent as they stand in the body: where to, how many, from where."""

    at: int
    size: int
    start: int


class _Frame:
    """The bytes of a frame in a body, of which those are read that are looked at."""

    def __init__(self, body: Body, start: int, size: int) -> None:
        self._body, self._start, self._size = body, start, size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice) -> memoryview:
        begin, end, _ = part.indices(self._size)
        return memoryview(self._body.read(self._start + begin, end - begin).array)


class _Chosen(NamedTuple):
    """A buffer whose frame the device is to decompress, the bytes of that frame, and what they are."""

    placed: Placed
    stored: Bytes
    frame: ExaminedFrame


def decompress_there(
    upload: Upload,
    device: Device,
    body: Body,
    send: Callable[[Upload, Body, Sequence[Run]], None],
    codec: DeviceCodec,
    parts: Sequence[Placed],
) -> list[Placed]:
    """Send compressed bytes as they are, decompress them there; gives the buffers left to the host."""
    # Those are of frames that the device does not know, or reports damaged. Bytes of a file are not read
    # before: they come straight into page-locked memory, or past the host's.
    chosen = _chosen(body, codec, parts)
    if not chosen:
        return list(parts)
    placement = placed([each.frame.stored for each in chosen])
    try:
        staged = Upload(device, placement.size)
    except LimitExceededError:
        # The host needs no room on the device for compressed bytes.
        return list(parts)
    frames = [
        PlacedFrame(each.frame, begin, each.placed.at)
        for each, begin in zip(chosen, placement.starts, strict=True)
    ]
    with OnFailure(staged.abandon):
        if isinstance(body.source, OpenFile):
            starts = [each.placed.part.start for each in chosen]
            sizes = [each.frame.stored for each in chosen]
            send(staged, body, list(map(Run, placement.starts, sizes, starts)))
        else:
            arrays = [np.frombuffer(each.stored[:], np.uint8) for each in chosen]
            staged.send_pieces(list(map(Piece.of, placement.starts, arrays)))
    staged.end()
    staged.hold_current()
    done = codec.decompress(frames, staged.block, upload.block)
    finished = {each.placed.part.wanted for each in chosen[:done]}
    return [each for each in parts if each.part.wanted not in finished]


def _chosen(body: Body, codec: DeviceCodec, parts: Sequence[Placed]) -> list[_Chosen]:
    """The buffers whose frames the device is able to decompress; read side by side."""

    def choose(each: Placed) -> _Chosen | None:
        where = each.part.start, each.part.frame
        is_file = isinstance(body.source, OpenFile)
        # Elsewhere a few bytes cost as much as many: one request, say.
        stored = _Frame(body, *where) if is_file else body.read(*where).array.data
        frame = codec.examined(stored, each.part.size)
        return None if frame is None else _Chosen(each, stored, frame)

    framed = [each for each in parts if each.part.frame]
    chosen = map_items(choose, framed, sum(each.part.frame for each in framed))
    return [each for each in chosen if each is not None]
