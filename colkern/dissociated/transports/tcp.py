"""TCP: `tcp://host:port`. Bodies are packed."""

from __future__ import annotations

import ipaddress
import math
import socket
from typing import Any

from colkern.closing import OnFailure
from colkern.dissociated.bounds import Bounds
from colkern.dissociated.transports.connection import FrameKind
from colkern.dissociated.transports.framing import REQUEST_LIMITS, limits_of
from colkern.dissociated.transports.sockets import (
    OverSockets,
    Packed,
    SocketConnection,
    SocketListener,
    limit_sending,
)
from colkern.dissociated.uri import ServiceUri

_QUIET_SECONDS = 10
_PROBES = 3
"""A machine that has gone without a word, while nothing is sent to it, is noticed by the kernel."""

_MOST_UNANSWERED = 7
"""So often a packet is sent again, with pauses that double, until the other machine has gone: a minute.

The kernel's own limit, `TCP_USER_TIMEOUT`, would also cut a client that answers but does not read.
"""


class TcpConnection(SocketConnection):
    """A server's connection to a client."""

    def try_send(self, kind: FrameKind, data: bytes, tag: int = 0) -> bool:
        """Send a small frame; if the other machine has gone, close the connection."""
        if self._is_unanswered():
            self.close()
            return True
        return super().try_send(kind, data, tag)

    def _is_unanswered(self) -> bool:
        try:
            info = self._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 4)
        except OSError:
            return False
        _, _, retransmits, window_probes = info
        return max(retransmits, window_probes) >= _MOST_UNANSWERED


def _accepted(accepted: socket.socket) -> TcpConnection:
    return TcpConnection(accepted, REQUEST_LIMITS)


class Tcp(OverSockets, Packed):
    """The TCP transport."""

    def listen(self, address: str, *, bounds: Bounds, remote: bool) -> SocketListener:
        return listen_at_port(address, remote=remote, make=_accepted)

    def connect(
        self, uri: ServiceUri, *, bounds: Bounds, timeout: float | None
    ) -> SocketConnection:
        return SocketConnection(connected_to(uri.address, timeout), limits_of(bounds))


def listen_at_port(address: str, *, remote: bool, **options: Any) -> SocketListener:
    """Listen at `host:port`, or at any free port if it is empty; see `Transport.listen`."""
    host, port = _host_and_port(address or "127.0.0.1:0")
    family, _, _, _, place = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    if not remote and not ipaddress.ip_address(str(place[0]).partition("%")[0]).is_loopback:
        raise ValueError(
            f"uri: other machines reach {host!r}; pass remote=True and a token to serve them"
        )
    listening = socket.socket(family)
    with OnFailure(listening.close):
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        bound = listening.getsockname()[1]
        return SocketListener(listening, _joined(host, bound), prepare=_prepare, **options)


def connected_to(address: str, timeout: float | None) -> socket.socket:
    """A socket that is connected to `host:port`; raises `OSError`."""
    connected = socket.create_connection(_host_and_port(address), timeout)
    _prepare(connected)
    limit_sending(connected, timeout)
    return connected


def _host_and_port(address: str) -> tuple[str, int]:
    host, colon, port = address.rstrip("/").rpartition(":")
    if not colon or not (port.isascii() and port.isdigit()) or int(port) > 0xFFFF:
        raise ValueError(f"uri: expected tcp://host:port, got tcp://{address}")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _joined(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _prepare(connected: socket.socket) -> None:
    options = {
        (socket.IPPROTO_TCP, socket.TCP_NODELAY): 1,
        (socket.SOL_SOCKET, socket.SO_KEEPALIVE): 1,
        (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE): _QUIET_SECONDS,
        (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL): math.ceil(_QUIET_SECONDS / _PROBES),
        (socket.IPPROTO_TCP, socket.TCP_KEEPCNT): _PROBES,
    }
    for (level, option), value in options.items():
        connected.setsockopt(level, option, value)
