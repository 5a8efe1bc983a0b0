"""Unix sockets: `unix:///path`, `unix://@name`. Bodies are packed."""

from __future__ import annotations

from colkern.dissociated.bounds import Bounds
from colkern.dissociated.transports.bases import OverLocalSockets, Packed
from colkern.dissociated.transports.listening import SocketListener
from colkern.dissociated.transports.local_sockets import listen_locally


class Unix(OverLocalSockets, Packed):
    """The transport."""

    def listen(self, address: str, *, bounds: Bounds, remote: bool) -> SocketListener:
        """Listen at a path, or at a new abstract address if it is empty; see `Transport.listen`."""
        return listen_locally(address)
