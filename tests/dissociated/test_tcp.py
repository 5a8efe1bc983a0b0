"""TCP: clients that do not read, and machines that have gone without a word."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator

import pytest

from colkern.dissociated import Bounds
from colkern.dissociated.transports import tcp
from colkern.dissociated.transports.connection import FrameKind


@pytest.fixture
def sides() -> Iterator[tuple[tcp.TcpConnection, socket.socket]]:
    """The server's connection and the client's socket."""
    listener = tcp.Tcp().listen("127.0.0.1:0", bounds=Bounds(), remote=False)
    host, _, port = listener.address.rpartition(":")
    with socket.create_connection((host, int(port)), 5) as client:
        connection = listener.accept()
        assert isinstance(connection, tcp.TcpConnection)
        yield connection, client
        connection.close()
    listener.close()


def test_client_that_does_not_read_for_long_is_kept(
    sides: tuple[tcp.TcpConnection, socket.socket],
) -> None:
    with socket.socket(fileno=os.dup(sides[0].fileno())) as server:
        # With that option, the kernel cuts a client whose window was closed for so long.
        assert server.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 0
        assert server.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1


def test_machine_that_answers_nothing_is_left_at_a_heartbeat(
    sides: tuple[tcp.TcpConnection, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    connection, client = sides
    assert connection.try_send(FrameKind.HEARTBEAT, b"")
    assert len(client.recv(100)) == 24
    monkeypatch.setattr(tcp, "_MOST_UNANSWERED", 0)
    assert connection.try_send(FrameKind.HEARTBEAT, b"")
    assert client.recv(100) == b""
    assert connection.receive(5) is None
