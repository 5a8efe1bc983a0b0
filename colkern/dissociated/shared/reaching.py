"""The client's side of shared memory: segments mapped for reading, and buffers within them."""

from __future__ import annotations

import mmap
import os
from typing import NamedTuple

import numpy as np

from colkern.dissociated.body_locations import BodyLocations
from colkern.dissociated.leases import Frees, Lease
from colkern.dissociated.shared.segment_frames import parse_segment_place
from colkern.dissociated.shared.segments import mapped_by_client
from colkern.dissociated.shared.spaces import Space
from colkern.dissociated.transports.connection import Frame
from colkern.errors import InvalidArrowError
from colkern.memory import Buffer


class _Mapping(NamedTuple):
    """A segment here. It is unmapped when no buffer is in it, and the server has retired it."""

    address: int
    memory: mmap.mmap


class ReachedSegments:
    """The segments one server has announced; `sealed_only`: none that it could cut short."""

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
