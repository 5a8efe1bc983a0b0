"""Device memory: `cuda:///path`, `cuda://@name`. Bodies are places on a GPU that both processes see.

Frames go over a Unix socket. Addresses are offsets in a space of the connection, in which each allocation
has a base. An allocation's base, size, device and CUDA IPC handle are sent before the first location in
it; no byte of a body is copied to the host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from colkern.dissociated.bounds import Bounds
from colkern.dissociated.transports.bases import OfSharedMemory
from colkern.dissociated.transports.listening import SocketListener
from colkern.dissociated.transports.sockets import SocketConnection
from colkern.dissociated.uri import ServiceUri

if TYPE_CHECKING:
    # For those who have a device.
    from colkern.dissociated.shared.device_announcing import AllocationAnnouncer
    from colkern.dissociated.shared.device_reaching import ReachedAllocations


class Cuda(OfSharedMemory):
    """The transport."""

    def listen(self, address: str, *, bounds: Bounds, remote: bool) -> SocketListener:
        """As for shared memory; raises `DeviceUnavailableError` if there is no device."""
        from colkern.cuda import memory

        memory.require_device()
        return super().listen(address, bounds=bounds, remote=remote)

    def announcer(
        self, connection: SocketConnection, remote_handle: bytes | None
    ) -> AllocationAnnouncer:
        """The announcer of a connection; see `Transport.announcer`."""
        from colkern.dissociated.shared.device_announcing import AllocationAnnouncer

        return AllocationAnnouncer(connection, remote_handle or b"")

    def reach(
        self, connection: SocketConnection, uri: ServiceUri, *, sealed_only: bool
    ) -> ReachedAllocations:
        """The allocations of a connection; raises `DeviceUnavailableError` if there is no device."""
        from colkern.dissociated.shared.device_reaching import ReachedAllocations

        return ReachedAllocations(uri.remote_handle or b"")
