"""Shared host memory: the server's announcements of buffers, and the client's mappings."""

from __future__ import annotations

import mmap
import os
import weakref
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from colkern.cuda.memory import placed
from colkern.dissociated.leases import Frees, Lease
from colkern.dissociated.messages import BodyLocations, Location
from colkern.dissociated.shared.blocks import Block, Blocks
from colkern.dissociated.shared.segments import SEGMENTS, Segment, mapped_by_client
from colkern.dissociated.shared.spaces import Places, SegmentPlace, Space, parse_segment_place
from colkern.dissociated.transports.connection import Announcement, Connection, Frame, FrameKind
from colkern.errors import InvalidArrowError
from colkern.ipc.writing.fetching import on_host
from colkern.memory import HOST, Buffer


class SegmentAnnouncer:
    """Announces buffers that are in segments, and copies all others into blocks of its own."""

    def __init__(self, connection: Connection, handle: bytes) -> None:
        self._connection = connection
        self._handle = handle
        self._blocks = Blocks(Segment.anonymous)
        # Segments live as long as their arrays, and as announced buffers that are not freed yet.
        self._bases: dict[weakref.ref[Segment], int] = {}
        self._gone: deque[weakref.ref[Segment]] = deque()
        self._places = Places()

    def announce(self, buffers: Sequence[Buffer]) -> Announcement:
        """Announce buffers; those outside all segments are copied once. See `Announcer.announce`."""
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
        """Tell the client which segments are gone, so that it can unmap them."""
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


class _Mapping(NamedTuple):
    """A mapped segment. It is unmapped when no buffer is in it, and the server has retired it."""

    address: int
    memory: mmap.mmap


class ReachedSegments:
    """The segments that a server has announced; `sealed_only` refuses those that it could truncate."""

    def __init__(self, handle: bytes, *, sealed_only: bool) -> None:
        self._handle = handle
        self._sealed_only = sealed_only
        self._space: Space[_Mapping] = Space()

    def take(self, frame: Frame) -> None:
        descriptor = frame.descriptor
        try:
            base, size, handle = parse_segment_place(frame.data)
            if handle != self._handle:
                raise InvalidArrowError("a segment that is not of the URI's remote_handle")
            if not size:
                self._space.forget(base)
                if descriptor is not None:
                    raise InvalidArrowError("a segment that is gone comes with a descriptor")
                return
            if descriptor is None:
                raise InvalidArrowError("a segment without a descriptor")
            self._space.check_free(base, size)
        except BaseException:
            if descriptor is not None:
                os.close(descriptor)
            raise
        memory = mapped_by_client(descriptor, size, sealed_only=self._sealed_only)
        address = int(np.frombuffer(memory, np.uint8).ctypes.data)
        self._space.add(base, size, _Mapping(address, memory))

    def buffers(self, body: BodyLocations, frees: Frees) -> list[Buffer]:
        """Buffers in the segments, read-only; see `Reach.buffers`."""
        with_bytes = [location for location in body.buffers if location.length]
        places = list(map(self._space.find, with_bytes))
        lease = Lease(body.addresses(), frees, [mapping.memory for mapping, _ in places])
        return [
            Buffer.from_address(mapping.address + start, location.length, lease)
            for (mapping, start), location in zip(places, with_bytes, strict=True)
        ]
