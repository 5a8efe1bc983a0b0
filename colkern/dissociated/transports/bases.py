"""Bases of transports: of packed bodies, and over sockets."""

from __future__ import annotations

from collections.abc import Sequence

from colkern.dissociated.tags import BodyType
from colkern.dissociated.transports.sockets import SocketConnection, readable
from colkern.dissociated.uri import ServiceUri


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
        return readable(connections, timeout)
