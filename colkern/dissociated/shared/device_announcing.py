"""The server's side of device memory: which allocation each buffer is in, for processes that open it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple
from weakref import WeakValueDictionary

from colkern.cuda import memory
from colkern.cuda.device_library import Allocation, DeviceSharing
from colkern.cuda.placement import placed
from colkern.dissociated.body_locations import BodyLocations, Location
from colkern.dissociated.shared.blocks import Block, Blocks
from colkern.dissociated.shared.segment_frames import AllocationPlace, retired
from colkern.dissociated.shared.spaces import Places
from colkern.dissociated.transports.connection import Announcement, Connection, FrameKind
from colkern.errors import LimitExceededError
from colkern.memory import HOST, Buffer, Device
from colkern.operations.moving import uploaded

_KEPT_FREE = 1 << 28


class _Shared:
    """An allocation at a base in the space, which `gone` takes; announced buffers keep it."""

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
    """A buffer in memory that others can open, and its owner."""

    buffer: Buffer
    allocation: Allocation
    owner: object


class AllocationAnnouncer:
    """Announces buffers where they are on devices; others, and pools' memory, are copied there."""

    def __init__(self, connection: Connection, handle: bytes) -> None:
        self._connection = connection
        self._handle = handle
        self._sharing = memory.library().sharing
        self._places = Places()
        self._shared: WeakValueDictionary[tuple[int, int], _Shared] = WeakValueDictionary()
        # The garbage collector runs in any thread.
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
            # Bytes copied twice, to the device and on it, are placed once.
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
        """A buffer, or a copy of it, where others can open it; and whether it is a copy."""
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
            blocks = self._blocks[buffer.device] = Blocks(make, _KEPT_FREE)
        # No client has dropped blocks mapped: it unmaps them before it frees their buffers.
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
    """The same buffers, with those of host memory copied to the device of the others, or the current."""
    devices = [buffer.device for buffer in buffers if buffer.device != HOST]
    elsewhere = [buffer for buffer in buffers if buffer.device == HOST]
    if not elsewhere:
        return list(buffers)
    device = devices[0] if devices else memory.current_device()
    moved = iter(uploaded(elsewhere, device))
    return [next(moved) if buffer.device == HOST else buffer for buffer in buffers]
