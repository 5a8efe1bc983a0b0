"""The client's side of device memory: allocations of another process, mapped while they are in use.

Memory must not be freed by who has it while others have it mapped. So an allocation is unmapped before
its server is told that the last buffer in it is free.
"""

from __future__ import annotations

import os
from typing import NamedTuple
from weakref import WeakValueDictionary

from colkern.cuda import memory
from colkern.cuda.device_library import DeviceSharing
from colkern.cuda.foreign import InUse, is_told_of
from colkern.dissociated.body_locations import BodyLocations
from colkern.dissociated.leases import Frees, Lease
from colkern.dissociated.shared.segment_frames import AllocationPlace, parse_allocation_place
from colkern.dissociated.shared.spaces import Space
from colkern.dissociated.transports.connection import Frame
from colkern.errors import DeviceUnavailableError, InvalidArrowError
from colkern.memory import Buffer, Device


class _Opened:
    """An allocation that is mapped here."""

    __slots__ = ("__weakref__", "_process", "_sharing", "address", "ordinal")

    def __init__(self, sharing: DeviceSharing, place: AllocationPlace, ordinal: int) -> None:
        try:
            address, size, _ = sharing.open(place.handle, ordinal)
        except OSError as error:
            raise InvalidArrowError(
                f"device memory of the server cannot be opened: {error}; within one process, connect "
                f"to inproc:"
            ) from error
        # From here on it is closed, whatever happens.
        self._process = os.getpid()
        self._sharing = sharing
        self.address = address
        self.ordinal = ordinal
        if size < place.size:
            raise InvalidArrowError(f"an allocation of {size} bytes is announced with {place.size}")

    def __del__(self) -> None:
        if hasattr(self, "ordinal") and is_told_of(self._process):
            self._sharing.close(self.address, self.ordinal)


class _Known(NamedTuple):
    place: AllocationPlace
    ordinal: int


class ReachedAllocations:
    """The allocations that one server has announced."""

    def __init__(self, handle: bytes) -> None:
        memory.require_device()
        self._handle = handle
        self._library = memory.library()
        self._sharing = self._library.sharing
        self._space: Space[_Known] = Space()
        self._opened: WeakValueDictionary[AllocationPlace, _Opened] = WeakValueDictionary()

    def take(self, frame: Frame) -> None:
        place = parse_allocation_place(frame.data, self._handle)
        if not place.size:
            self._space.forget(place.base)
            return
        self._space.check_free(place.base, place.size)
        self._space.add(place.base, place.size, _Known(place, self._ordinal(place.uuid)))

    def buffers(self, body: BodyLocations, frees: Frees) -> list[Buffer]:
        """Buffers in the allocations; see `Reach.buffers`. They can be written to, and must not be."""
        with_bytes = [location for location in body.buffers if location.length]
        places = list(map(self._space.find, with_bytes))
        opened = [self._open(known) for known, _ in places]
        lease = Lease(body.addresses(), frees, InUse(opened, (each.ordinal for each in opened)))
        buffers = []
        for each, (_, start), location in zip(opened, places, with_bytes, strict=True):
            array = self._library.array_at(
                each.address + start, location.length, each.ordinal, lease
            )
            buffers.append(Buffer(array, Device("cuda", each.ordinal)))
        return buffers

    def _open(self, known: _Known) -> _Opened:
        opened = self._opened.get(known.place)
        if opened is None:
            opened = _Opened(self._sharing, known.place, known.ordinal)
            self._opened[known.place] = opened
        return opened

    def _ordinal(self, uuid: bytes) -> int:
        for ordinal in range(self._library.devices()):
            if self._sharing.uuid(ordinal) == uuid:
                return ordinal
        raise DeviceUnavailableError(
            f"the server's memory is on the GPU {uuid.hex()}, which this process does not see; "
            "set CUDA_VISIBLE_DEVICES so that it does"
        )
