"""Unix sockets: `unix:///path`, `unix://@name`. Bodies are packed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from colkern.dissociated.bounds import Bounds
from colkern.dissociated.tags import BodyType
from colkern.dissociated.transports.framing import limits_of
from colkern.dissociated.transports.listening import SocketListener
from colkern.dissociated.transports.local_sockets import connected_locally, listen_locally
from colkern.dissociated.transports.sockets import SocketConnection, readable
from colkern.dissociated.uri import ServiceUri


class Unix:
    """The transport."""

    body_type = BodyType.PACKED

    def listen(self, address: str, *, bounds: Bounds, remote: bool) -> SocketListener:
        """Listen at a path, or at a new abstract address if it is empty; see `Transport.listen`."""
        return listen_locally(address)

    def connect(
        self, uri: ServiceUri, *, bounds: Bounds, timeout: float | None
    ) -> SocketConnection:
        """Connect to a path; see `Transport.connect`."""
        return SocketConnection(connected_locally(uri.address, timeout), limits_of(bounds))

    def wait(
        self, connections: Sequence[SocketConnection], timeout: float | None
    ) -> list[SocketConnection]:
        """Wait for several connections; see `Transport.wait`."""
        return readable(connections, timeout)

    def announcer(self, connection: Any, remote_handle: bytes | None) -> None:
        """Memory is not shared here; `shm:` shares it."""

    def reach(self, connection: Any, uri: ServiceUri, *, sealed_only: bool) -> None:
        """Memory is not shared here; `shm:` shares it."""
