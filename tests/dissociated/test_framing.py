"""Frames on sockets, byte by byte."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from colkern.dissociated.transports.connection import FrameKind
from colkern.dissociated.transports.framing import (
    REQUEST_LIMITS,
    FrameLimits,
    encode_header,
    parse_header,
)
from colkern.dissociated.transports.sockets import SocketConnection, readable
from colkern.errors import InvalidArrowError, LimitExceededError, StreamError

LIMITS = FrameLimits(tagged=1 << 20, message=1 << 20)


@pytest.fixture
def pair() -> Iterator[tuple[SocketConnection, socket.socket]]:
    ours, theirs = socket.socketpair()
    connection = SocketConnection(ours, LIMITS)
    yield connection, theirs
    connection.close()
    theirs.close()


def header(length: int, tag: int, kind: int, zeros: bytes = bytes(7)) -> bytes:
    return struct.pack("<QQB", length, tag, kind) + zeros


def test_header_is_length_tag_kind_and_seven_zeros() -> None:
    assert encode_header(FrameKind.TAGGED, 0x0102, 5) == header(5, 0x0102, 1)
    assert parse_header(header(5, 0x0102, 1), LIMITS) == (FrameKind.TAGGED, 0x0102, 5)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (header(0, 0, 8), "no frame of the protocol"),
        (header(0, 0, 0, b"\x01" + bytes(6)), "no frame of the protocol"),
        (header(0, 1, 0), "message frame with tag 0x1"),
        (header(0, 1, 3), "heartbeat frame with tag 0x1"),
    ],
)
def test_headers_of_no_frames(data: bytes, message: str) -> None:
    with pytest.raises(InvalidArrowError, match=message):
        parse_header(data, LIMITS)


def test_lengths_are_bounded() -> None:
    for kind, length in ((0, 1 << 20), (1, 1 << 20), (2, 1 << 16), (5, 1 << 16)):
        assert parse_header(header(length, 0, kind), LIMITS).length == length
        with pytest.raises(LimitExceededError, match=f"of {length + 1} bytes"):
            parse_header(header(length + 1, 0, kind), LIMITS)
    with pytest.raises(LimitExceededError, match="message frame of 1 bytes"):
        parse_header(header(1, 0, 0), REQUEST_LIMITS)


def test_chunks_arrive_as_one_aligned_body(
    pair: tuple[SocketConnection, socket.socket],
) -> None:
    connection, other = pair
    receiving = SocketConnection(other, LIMITS)
    chunks = [bytes([k % 256]) * (k % 7) for k in range(3000)]
    data = b"".join(chunks)
    for together in (chunks, iter(chunks)):
        sender = threading.Thread(
            target=connection.send, args=(FrameKind.TAGGED, len(data), together, 9)
        )
        sender.start()
        frame = receiving.receive(5)
        sender.join()
        assert frame is not None
        assert (frame.kind, frame.tag, frame.data.tobytes()) == (FrameKind.TAGGED, 9, data)
        assert frame.data.ctypes.data % 64 == 0


def test_body_larger_than_the_socket_takes_at_once(
    pair: tuple[SocketConnection, socket.socket],
) -> None:
    connection, other = pair
    receiving = SocketConnection(other, LIMITS)
    data = np.random.default_rng(0).integers(0, 256, 1 << 20, np.uint8)
    sender = threading.Thread(
        target=connection.send, args=(FrameKind.TAGGED, data.size, [data.data], 1)
    )
    sender.start()
    frame = receiving.receive(5)
    sender.join()
    assert frame is not None
    assert np.array_equal(frame.data, data)


def test_small_frames_do_not_wait(pair: tuple[SocketConnection, socket.socket]) -> None:
    connection, other = pair
    sent = 0
    while connection.try_send(FrameKind.TAGGED, bytes(1000), 5):
        sent += 1
    assert sent > 10
    receiving = SocketConnection(other, LIMITS)
    for _ in range(sent):
        frame = receiving.receive(5)
        assert frame is not None
        assert (frame.tag, frame.data.size) == (5, 1000)
    assert connection.try_send(FrameKind.TAGGED, b"last", 6)
    frame = receiving.receive(5)
    assert frame is not None
    assert frame.data.tobytes() == b"last"


def test_frame_that_was_sent_in_part_is_sent_to_its_end(
    pair: tuple[SocketConnection, socket.socket],
) -> None:
    connection, other = pair
    data = bytes(range(256)) * 4096
    assert connection.try_send(FrameKind.TAGGED, data, 7)
    # Nothing more is sent that would take the rest with it.
    frame = SocketConnection(other, LIMITS).receive(5)
    assert frame is not None
    assert frame.data.tobytes() == data


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("ends", [True, False])
def test_descriptor_of_half_a_frame_is_closed(ends: bool) -> None:
    ours, theirs = socket.socketpair()
    connection = SocketConnection(ours, LIMITS, takes_descriptors=True)
    before = descriptors()
    with theirs:
        socket.send_fds(theirs, [header(0, 0, 6)[:10]], [theirs.fileno()])
        if ends:
            theirs.shutdown(socket.SHUT_WR)
        with pytest.raises((TimeoutError, StreamError)):
            connection.receive(0.01)
        assert descriptors() == before
    connection.close()


@pytest.mark.parametrize("cut", [1, 23, 24, 30])
def test_connection_that_ends_within_a_frame(
    pair: tuple[SocketConnection, socket.socket], cut: int
) -> None:
    connection, other = pair
    other.sendall((header(8, 0, 0) + bytes(8))[:cut])
    other.close()
    with pytest.raises(StreamError, match="has gone within a"):
        connection.receive(5)


def test_connection_that_ends_between_frames(
    pair: tuple[SocketConnection, socket.socket],
) -> None:
    connection, other = pair
    other.sendall(header(0, 0, 3))
    other.close()
    frame = connection.receive(5)
    assert frame is not None
    assert frame.kind is FrameKind.HEARTBEAT
    assert connection.receive(5) is None


def test_time_outs(pair: tuple[SocketConnection, socket.socket]) -> None:
    connection, other = pair
    with pytest.raises(TimeoutError):
        connection.receive(0.01)
    assert readable([connection], 0.01) == []
    other.sendall(header(0, 0, 3))
    assert readable([connection], 5) == [connection]


@pytest.mark.parametrize("takes_descriptors", [False, True])
def test_silence_within_a_frame_counts_from_its_last_byte(takes_descriptors: bool) -> None:
    ours, theirs = socket.socketpair()
    connection = SocketConnection(ours, LIMITS, takes_descriptors=takes_descriptors)
    with theirs:
        theirs.sendall(header(2, 0, 0) + b"a")
        late = threading.Timer(0.28, theirs.sendall, [b"b"])
        late.start()
        with pytest.raises(TimeoutError):
            connection.receive(0.15)
        late.join()
    connection.close()


def test_connection_that_is_closed_here_is_not_waited_for(
    pair: tuple[SocketConnection, socket.socket],
) -> None:
    connection, other = pair
    others = SocketConnection(other, LIMITS)
    connection.close()
    assert readable([connection, others], 5) == [connection]
    assert connection.receive(5) is None


def test_process_survives_writing_to_who_has_gone() -> None:
    ours, theirs = socket.socketpair()
    connection = SocketConnection(ours, LIMITS)
    theirs.close()
    child = os.fork()
    if not child:
        # As commands do whose output goes to others.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        own = SocketConnection(socket.socket(fileno=os.dup(ours.fileno())), LIMITS)
        own.try_send(FrameKind.HEARTBEAT, b"")
        with contextlib.suppress(OSError):
            own.send(FrameKind.HEARTBEAT, 0, [])
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    connection.close()


def test_closing_wakes_who_waits(pair: tuple[SocketConnection, socket.socket]) -> None:
    connection, _ = pair
    threading.Timer(0.05, connection.close).start()
    assert connection.receive(5) is None
