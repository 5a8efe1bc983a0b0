"""Shared memory: `shm:///path`, `shm://@name`. Bodies are places of buffers; frames go over a Unix socket.

Addresses are offsets in a space of the connection, in which each segment has a base. A segment's base,
size and descriptor are sent before the first location in it, so it works wherever the socket can be
reached: also from another container, and for files that are not there by any name.
"""

from __future__ import annotations

import secrets

from colkern.dissociated.bounds import Bounds
from colkern.dissociated.shared.announcing import SegmentAnnouncer
from colkern.dissociated.shared.reaching import ReachedSegments
from colkern.dissociated.tags import BodyType
from colkern.dissociated.transports.bases import OverSockets
from colkern.dissociated.transports.framing import limits_of
from colkern.dissociated.transports.listening import SocketListener
from colkern.dissociated.transports.local_sockets import connected_locally, listen_locally
from colkern.dissociated.transports.sockets import SocketConnection
from colkern.dissociated.uri import ServiceUri

_HANDLE_BYTES = 16


class SharedMemoryTransport(OverSockets):
    """The transport."""

    body_type = BodyType.LOCATIONS

    def listen(self, address: str, *, bounds: Bounds, remote: bool) -> SocketListener:
        """Listen at a path, or at a new abstract address if it is empty; see `Transport.listen`."""
        handle = secrets.token_bytes(_HANDLE_BYTES)
        return listen_locally(address, remote_handle=handle)

    def connect(
        self, uri: ServiceUri, *, bounds: Bounds, timeout: float | None
    ) -> SocketConnection:
        """Connect to a path; see `Transport.connect`."""
        connected = connected_locally(uri.address, timeout)
        return SocketConnection(connected, limits_of(bounds), takes_descriptors=True)

    def announcer(
        self, connection: SocketConnection, remote_handle: bytes | None
    ) -> SegmentAnnouncer:
        """How buffers are announced; see `Transport.announcer`."""
        return SegmentAnnouncer(connection, remote_handle or b"")

    def reach(
        self, connection: SocketConnection, uri: ServiceUri, *, sealed_only: bool
    ) -> ReachedSegments:
        """How segments are reached; see `Transport.reach`."""
        return ReachedSegments(uri.remote_handle or b"", sealed_only=sealed_only)
