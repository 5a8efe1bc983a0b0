"""Shares device memory with other processes: allocations of buffers, and their mappings by clients.

The owner of memory must not free it while others have it mapped. So a client unmaps an allocation
before it tells the server that the last buffer in it is free.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple
from weakref import WeakValueDictionary

from colkern.cuda import memory
from colkern.cuda.device_library import Allocation, DeviceSharing
from colkern.cuda.memory import InUse, can_release, placed
from colkern.dissociated.leases import Frees, Lease
from colkern.dissociated.messages import BodyLocations, Location
from colkern.dissociated.shared.blocks import Block, Blocks
from colkern.dissociated.shared.spaces import (
    AllocationPlace,
    Places,
    Space,
    parse_allocation_place,
    retired,
)
from colkern.dissociated.transports.connection import Announcement, Connection, Frame, FrameKind
from colkern.errors import DeviceUnavailableError, InvalidArrowError, LimitExceededError
from colkern.memory import HOST, Buffer, Device
from colkern.operations.moving import uploaded


class _Shared:
    """An allocation with a base in the space, which `gone` gets; announced buffers keep it alive."""

    __slots__ = ("__weakref__", "_gone", "allocation", "base")

    def __init__(self, allocation: Allocation, base: int, gone: deque[int]) -> None:
        self.allocation = allocation
        self.base = base
        self._gone = gone

    def __del__(self) -> None:
        self._gone.append(self.base)


class _OwnMemory:
    """Device memory that was allocated to be shared."""

    def __init__(self, sharing: DeviceSharing, ordinal: int, size: int) -> None:
        try:
            self.bytes = sharing.allocate(size, ordinal)
        except MemoryError as error:
            raise LimitExceededError(f"device memory: {error}") from error
        self.size = size


class _Reachable(NamedTuple):
    """A buffer in memory that other processes can open, and its owner."""

    buffer: Buffer
    allocation: Allocation
    owner: object


class AllocationAnnouncer:
    """Announces buffers on devices; buffers elsewhere, or in memory pools, are copied there first."""

    def __init__(self, connection: Connection, handle: bytes) -> None:
        self._connection = connection
        self._handle = handle
        self._sharing = memory.library().sharing
        self._places = Places()
        self._shared: WeakValueDictionary[tuple[int, int], _Shared] = WeakValueDictionary()
        # The garbage collector may run in any thread.
        self._gone: deque[int] = deque()
        self._blocks: dict[Device, Blocks[_OwnMemory]] = {}

    def announce(self, buffers: Sequence[Buffer]) -> Announcement:
        """Announce buffers once all work on them has ended; see `Announcer.announce`."""
        self._retire()
        with_bytes = {number: buffer for number, buffer in enumerate(buffers) if buffer.size}
        on_device = dict(zip(with_bytes, _on_device(list(with_bytes.values())), strict=True))
        copied = sum(buffer.size for buffer in with_bytes.values() if buffer.device == HOST)
        locations = [Location(0, 0)] * len(buffers)
        owners: list[object] = []
        for number, buffer in on_device.items():
            reachable, is_copy = self._reachable(buffer)
            # A buffer that is copied twice, to the device and within it, counts once.
            copied += buffer.size if is_copy and with_bytes[number].device != HOST else 0
            shared = self._share(reachable, buffer.device)
            start = reachable.buffer.address - reachable.allocation.address
            locations[number] = Location(shared.base + start, buffer.size)
            owners.append((shared, reachable.owner))
        for device in {buffer.device for buffer in on_device.values()}:
            self._sharing.finish_device(device.ordinal)
        body = BodyLocations.of(locations)
        return Announcement(body, owners, body.total, copied)

    def _reachable(self, buffer: Buffer) -> tuple[_Reachable, bool]:
        """A buffer, or a copy of it, that others can open; and whether it is a copy."""
        allocation = self._sharing.allocation_at(buffer.address, buffer.device.ordinal)
        if allocation is not None:
            return _Reachable(buffer, allocation, buffer), False
        block = self._block(buffer)
        copy = Buffer(block.segment.bytes[block.start : block.start + buffer.size], buffer.device)
        with memory.current(buffer.device):
            copy.array[:] = buffer.array
        allocation = self._sharing.allocation_at(copy.address, buffer.device.ordinal)
        if allocation is None:
            raise LimitExceededError(f"{buffer.device}: its memory cannot be shared by CUDA IPC")
        return _Reachable(copy, allocation, block), True

    def _block(self, buffer: Buffer) -> Block[_OwnMemory]:
        blocks = self._blocks.get(buffer.device)
        if blocks is None:
            make = partial(_OwnMemory, self._sharing, buffer.device.ordinal)
            blocks = self._blocks[buffer.device] = Blocks(make)
        # No client still has dropped blocks mapped: it unmaps them before it frees their buffers.
        blocks.drop()
        return blocks.take(placed([buffer.size]).size)

    def _share(self, reachable: _Reachable, device: Device) -> _Shared:
        allocation = reachable.allocation
        key = device.ordinal, allocation.identity
        shared = self._shared.get(key)
        if shared is None:
            shared = _Shared(allocation, self._places.take(allocation.size), self._gone)
            self._shared[key] = shared
            uuid = self._sharing.uuid(device.ordinal)
            handle = self._sharing.handle(allocation, device.ordinal)
            place = AllocationPlace(shared.base, allocation.size, uuid, handle)
            self._send(place.encode(self._handle))
        return shared

    def _retire(self) -> None:
        while self._gone:
            self._send(retired(self._gone.popleft(), self._handle))

    def _send(self, data: bytes) -> None:
        self._connection.send(FrameKind.SEGMENT, len(data), [data])


def _on_device(buffers: Sequence[Buffer]) -> list[Buffer]:
    """The buffers, with those in host memory copied to the device of the others, or the current one."""
    devices = [buffer.device for buffer in buffers if buffer.device != HOST]
    elsewhere = [buffer for buffer in buffers if buffer.device == HOST]
    if not elsewhere:
        return list(buffers)
    device = devices[0] if devices else memory.current_device()
    moved = iter(uploaded(elsewhere, device))
    return [next(moved) if buffer.device == HOST else buffer for buffer in buffers]


class _Opened:
    """An allocation of another process that is mapped here."""

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
        if hasattr(self, "ordinal") and can_release(self._process):
            self._sharing.close(self.address, self.ordinal)


class _Known(NamedTuple):
    place: AllocationPlace
    ordinal: int


class ReachedAllocations:
    """The allocations that a server has announced."""

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
        """Buffers in the allocations; see `Reach.buffers`. They are writable, but must not be changed."""
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
