"""Bases of transports: of packed bodies, over sockets, and of shared memory."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from colkern.dissociated.bounds import Bounds
from colkern.dissociated.tags import BodyType
from colkern.dissociated.transports.framing import limits_of
from colkern.dissociated.transports.listening import SocketListener
from colkern.dissociated.transports.local_sockets import connected_locally, listen_locally
from colkern.dissociated.transports.sockets import SocketConnection, readable
from colkern.dissociated.uri import ServiceUri

_HANDLE_BYTES = 16


class Packed:
    """A transport whose sides have no memory in common."""

    body_type = BodyType.PACKED

    def announcer(self, connection: object, remote_handle: bytes | None) -> None:
        """None: bodies can only be packed."""

    def reach(self, connection: object, uri: ServiceUri, *, sealed_only: bool) -> None:
        """None: bodies can only be packed."""


class OverSockets:
    """A transport whose connections are sockets."""

    def wait(
        self, connections: Sequence[SocketConnection], timeout: float | None
    ) -> list[SocketConnection]:
        """Wait for several connections; see `Transport.wait`."""
        return readable(connections, timeout)


class OverLocalSockets(OverSockets):
    """A transport over Unix sockets."""

    takes_descriptors = False
    """Whether frames may come with descriptors."""

    def connect(
        self, uri: ServiceUri, *, bounds: Bounds, timeout: float | None
    ) -> SocketConnection:
        """Connect to a path, or an abstract address; see `Transport.connect`."""
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
