"""Queues within a process: small frames are bounded, too."""

from __future__ import annotations

from colkern.dissociated import Bounds
from colkern.dissociated.transports.connection import FrameKind
from colkern.dissociated.transports.in_process import InProcess, InProcessConnection
from colkern.dissociated.uri import ServiceUri


def sides() -> tuple[InProcessConnection, InProcessConnection]:
    """The server's and the client's."""
    transport = InProcess()
    listener = transport.listen("here", bounds=Bounds(pending_bytes=1000), remote=False)
    client = transport.connect(ServiceUri("inproc", "here", 1), bounds=Bounds(), timeout=1)
    server = listener.accept()
    assert server is not None
    return server, client


def test_heartbeats_do_not_pile_up_where_nobody_reads() -> None:
    server, client = sides()
    sent = 0
    while server.try_send(FrameKind.HEARTBEAT, b""):
        sent += 1
        assert sent < 100_000
    for _ in range(sent):
        frame = client.receive(1)
        assert frame is not None
        assert frame.kind is FrameKind.HEARTBEAT
    assert server.try_send(FrameKind.HEARTBEAT, b"")


def test_bytes_of_small_frames_count() -> None:
    server, client = sides()
    assert client.try_send(FrameKind.TAGGED, bytes(800), 1)
    assert not client.try_send(FrameKind.TAGGED, bytes(800), 1)
    assert server.receive(1) is not None
    assert client.try_send(FrameKind.TAGGED, bytes(800), 1)


def test_frame_larger_than_the_bound_goes_alone() -> None:
    _, client = sides()
    assert client.try_send(FrameKind.TAGGED, bytes(8000), 1)
    assert not client.try_send(FrameKind.TAGGED, b"", 1)
