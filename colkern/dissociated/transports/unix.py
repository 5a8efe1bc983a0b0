"""Unix sockets: `unix:///path`. Bodies are packed."""

from __future__ import annotations

import secrets
import socket
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from colkern.dissociated.bounds import Bounds
from colkern.dissociated.tags import BodyType
from colkern.dissociated.transports.framing import limits_of
from colkern.dissociated.transports.listening import SocketListener, listen_at_path
from colkern.dissociated.transports.sockets import SocketConnection, readable
from colkern.dissociated.uri import ServiceUri


class Unix:
    """The transport."""

    body_type = BodyType.PACKED

    def listen(self, address: str, *, bounds: Bounds, remote: bool) -> SocketListener:
        """Listen at a path, or at a new one if it is empty; see `Transport.listen`."""
        return listen_at_path(address or new_path())

    def connect(
        self, uri: ServiceUri, *, bounds: Bounds, timeout: float | None
    ) -> SocketConnection:
        """Connect to a path; see `Transport.connect`."""
        return SocketConnection(connected_to(uri.address, timeout), limits_of(bounds))

    def wait(
        self, connections: Sequence[SocketConnection], timeout: float | None
    ) -> list[SocketConnection]:
        """Wait for several connections; see `Transport.wait`."""
        return readable(connections, timeout)

    def announcer(self, connection: Any, remote_handle: bytes | None) -> None:
        """Memory is not shared here; `shm:` shares it."""

    def reach(self, connection: Any, uri: ServiceUri, *, sealed_only: bool) -> None:
        """Memory is not shared here; `shm:` shares it."""


def new_path() -> str:
    """A path that nobody has, for a socket."""
    return str(Path(tempfile.gettempdir(), f"colkern-{secrets.token_hex(8)}.socket"))


def connected_to(path: str, timeout: float | None) -> socket.socket:
    """A socket that is connected to a path; raises `OSError`."""
    connected = socket.socket(socket.AF_UNIX)
    try:
        connected.settimeout(timeout)
        connected.connect(path)
    except BaseException:
        connected.close()
        raise
    return connected
