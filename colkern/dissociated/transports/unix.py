"""Unix sockets: `unix:///path`, `unix://@name`. Bodies are packed."""

from __future__ import annotations

from colkern.dissociated.bounds import Bounds
from colkern.dissociated.transports.bases import OverSockets, Packed
from colkern.dissociated.transports.framing import limits_of
from colkern.dissociated.transports.listening import SocketListener
from colkern.dissociated.transports.local_sockets import connected_locally, listen_locally
from colkern.dissociated.transports.sockets import SocketConnection
from colkern.dissociated.uri import ServiceUri


class Unix(OverSockets, Packed):
    """The transport."""

    def listen(self, address: str, *, bounds: Bounds, remote: bool) -> SocketListener:
        """Listen at a path, or at a new abstract address if it is empty; see `Transport.listen`."""
        return listen_locally(address)

    def connect(
        self, uri: ServiceUri, *, bounds: Bounds, timeout: float | None
    ) -> SocketConnection:
        """Connect to a path; see `Transport.connect`."""
        return SocketConnection(connected_locally(uri.address, timeout), limits_of(bounds))
