"""Shared memory: `shm:///path`, `shm://@name`. Bodies are places of buffers; frames go over a Unix socket.

Addresses are offsets in a space of the connection, in which each segment has a base. A segment's base,
size and descriptor are sent before the first location in it, so it works wherever the socket can be
reached: also from another container, and for files that are not there by any name.
"""

from __future__ import annotations

from colkern.dissociated.shared.announcing import SegmentAnnouncer
from colkern.dissociated.shared.reaching import ReachedSegments
from colkern.dissociated.transports.bases import OfSharedMemory
from colkern.dissociated.transports.sockets import SocketConnection
from colkern.dissociated.uri import ServiceUri


class SharedMemoryTransport(OfSharedMemory):
    """The transport."""

    takes_descriptors = True

    def announcer(
        self, connection: SocketConnection, remote_handle: bytes | None
    ) -> SegmentAnnouncer:
        """The announcer of a connection; see `Transport.announcer`."""
        return SegmentAnnouncer(connection, remote_handle or b"")

    def reach(
        self, connection: SocketConnection, uri: ServiceUri, *, sealed_only: bool
    ) -> ReachedSegments:
        """The segments of a connection; see `Transport.reach`."""
        return ReachedSegments(uri.remote_handle or b"", sealed_only=sealed_only)
