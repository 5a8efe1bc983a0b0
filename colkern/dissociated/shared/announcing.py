"""The server's side of shared memory: where buffers are, for those who map the same segments."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Sequence

from colkern.cuda.placement import placed
from colkern.dissociated.body_locations import BodyLocations, Location
from colkern.dissociated.shared.blocks import Block, Blocks
from colkern.dissociated.shared.segment_frames import SegmentPlace
from colkern.dissociated.shared.segments import SEGMENTS, Segment
from colkern.dissociated.shared.spaces import Places
from colkern.dissociated.transports.connection import Announcement, Connection, FrameKind
from colkern.ipc.writing.fetching import on_host
from colkern.memory import HOST, Buffer

_KEPT_FREE = 1 << 28


class SegmentAnnouncer:
    """Announces buffers in segments where they are, and places all others in blocks of its own."""

    def __init__(self, connection: Connection, handle: bytes) -> None:
        self._connection = connection
        self._handle = handle
        self._blocks = Blocks(Segment.anonymous, _KEPT_FREE)
        # Segments live as long as their arrays, and as buffers that the client has not freed.
        self._bases: dict[weakref.ref[Segment], int] = {}
        self._gone: deque[weakref.ref[Segment]] = deque()
        self._places = Places()

    def announce(self, buffers: Sequence[Buffer]) -> Announcement:
        """Announce buffers; those outside of all segments are copied once. See `Announcer.announce`."""
        self._blocks.drop()
        self._retire()
        segments = {
            number: _segment_of(buffer) for number, buffer in enumerate(buffers) if buffer.size
        }
        elsewhere = [number for number, segment in segments.items() if segment is None]
        locations = [Location(0, 0)] * len(buffers)
        owners: dict[int, object] = {}
        counted = 0
        for number, segment in segments.items():
            if segment is not None:
                buffer = buffers[number]
                locations[number] = self._location(segment, buffer.address, buffer.size)
                owners[number] = buffer
                counted += 0 if segment.is_file else buffer.size
        copied = sum(buffers[number].size for number in elsewhere)
        if elsewhere:
            block, starts = self._placed([buffers[number] for number in elsewhere])
            for number, start in zip(elsewhere, starts, strict=True):
                address = block.segment.address + start
                locations[number] = self._location(block.segment, address, buffers[number].size)
                owners[number] = block
        return Announcement(
            BodyLocations.of(locations),
            [owners[number] for number in sorted(owners)],
            counted + copied,
            copied,
        )

    def _placed(self, buffers: Sequence[Buffer]) -> tuple[Block[Segment], Sequence[int]]:
        placement = placed([buffer.size for buffer in buffers])
        block = self._blocks.take(placement.size)
        starts = [block.start + start for start in placement.starts]
        room = block.segment.bytes(read_only=False)
        for start, buffer in zip(starts, on_host(buffers), strict=True):
            room[start : start + buffer.size] = buffer.array
        return block, starts

    def _location(self, segment: Segment, address: int, size: int) -> Location:
        known = weakref.ref(segment, self._gone.append)
        base = self._bases.get(known)
        if base is None:
            base = self._bases[known] = self._places.take(segment.size)
            self._send(SegmentPlace(base, segment.size, self._handle), segment.descriptor)
        return Location(base + address - segment.address, size)

    def _retire(self) -> None:
        """Tell the client of segments that have gone: it need not keep them mapped."""
        while self._gone:
            base = self._bases.pop(self._gone.popleft())
            self._send(SegmentPlace(base, 0, self._handle), None)

    def _send(self, place: SegmentPlace, descriptor: int | None) -> None:
        data = place.encode()
        self._connection.send(FrameKind.SEGMENT, len(data), [data], descriptor=descriptor)


def _segment_of(buffer: Buffer) -> Segment | None:
    if buffer.device != HOST:
        return None
    return SEGMENTS.holding(buffer.address, buffer.size)
