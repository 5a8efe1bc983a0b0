"""Transports over Unix sockets: of packed bodies, and of bodies that are places in shared memory.

Addresses of shared memory are offsets in a space of the connection, in which each segment or allocation has
a base. Base, size, and descriptor or CUDA IPC handle are sent before the first location in it. So it works
wherever the socket can be reached: also from another container, and for files that are not there by any
name. No byte of a body in device memory is copied to the host.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from colkern.dissociated.bounds import Bounds
from colkern.dissociated.shared.announcing import SegmentAnnouncer
from colkern.dissociated.shared.reaching import ReachedSegments
from colkern.dissociated.tags import BodyType
from colkern.dissociated.transports.bases import OverSockets, Packed
from colkern.dissociated.transports.framing import limits_of
from colkern.dissociated.transports.listening import SocketListener
from colkern.dissociated.transports.local_sockets import connected_locally, listen_locally
from colkern.dissociated.transports.sockets import SocketConnection
from colkern.dissociated.uri import ServiceUri

if TYPE_CHECKING:
    # For those who have a device.
    from colkern.dissociated.shared.device_announcing import AllocationAnnouncer
    from colkern.dissociated.shared.device_reaching import ReachedAllocations

_HANDLE_BYTES = 16


class OverLocalSockets(OverSockets):
    """A transport over Unix sockets."""

    takes_descriptors = False
    """Whether frames may come with descriptors."""

    def connect(
        self, uri: ServiceUri, *, bounds: Bounds, timeout: float | None
    ) -> SocketConnection:
        connected = connected_locally(uri.address, timeout)
        return SocketConnection(
            connected, limits_of(bounds), takes_descriptors=self.takes_descriptors
        )


class OfSharedMemory(OverLocalSockets):
    """A transport that announces memory, over a Unix socket; its services are told apart by a handle."""

    body_type = BodyType.LOCATIONS

    def listen(self, address: str, *, bounds: Bounds, remote: bool) -> SocketListener:
        """Listen at a path, or at a new abstract address if it is empty; see `Transport.listen`."""
        handle = secrets.token_bytes(_HANDLE_BYTES)
        return listen_locally(address, remote_handle=handle)


class Unix(OverLocalSockets, Packed):
    """`unix:///path`, `unix://@name`: bodies are packed."""

    def listen(self, address: str, *, bounds: Bounds, remote: bool) -> SocketListener:
        """Listen at a path, or at a new abstract address if it is empty; see `Transport.listen`."""
        return listen_locally(address)


class SharedMemoryTransport(OfSharedMemory):
    """`shm:///path`, `shm://@name`: bodies are places in memory that both processes map."""

    takes_descriptors = True

    def announcer(
        self, connection: SocketConnection, remote_handle: bytes | None
    ) -> SegmentAnnouncer:
        return SegmentAnnouncer(connection, remote_handle or b"")

    def reach(
        self, connection: SocketConnection, uri: ServiceUri, *, sealed_only: bool
    ) -> ReachedSegments:
        return ReachedSegments(uri.remote_handle or b"", sealed_only=sealed_only)


class Cuda(OfSharedMemory):
    """`cuda:///path`, `cuda://@name`: bodies are places on a GPU that both processes see."""

    def listen(self, address: str, *, bounds: Bounds, remote: bool) -> SocketListener:
        """As for shared memory; raises `DeviceUnavailableError` if there is no device."""
        from colkern.cuda import memory

        memory.require_device()
        return super().listen(address, bounds=bounds, remote=remote)

    def announcer(
        self, connection: SocketConnection, remote_handle: bytes | None
    ) -> AllocationAnnouncer:
        from colkern.dissociated.shared.device_announcing import AllocationAnnouncer

        return AllocationAnnouncer(connection, remote_handle or b"")

    def reach(
        self, connection: SocketConnection, uri: ServiceUri, *, sealed_only: bool
    ) -> ReachedAllocations:
        """The allocations of a connection; raises `DeviceUnavailableError` if there is no device."""
        from colkern.dissociated.shared.device_reaching import ReachedAllocations

        return ReachedAllocations(uri.remote_handle or b"")
