"""Peers that do not keep to the protocol, byte by byte: a server goes on, a client gets a clean error."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import socket
import struct
import threading
from collections.abc import Iterator

import pytest
from dissociated.mutated_frames import Played, mutated, read_stream
from dissociated.split_streams import end_message, example_stream, split
from present import present

from colkern import RecordBatch, record_batch
from colkern.arrays import RecordBatchStream
from colkern.dissociated import Server, connect, parse_uri, serve
from colkern.errors import InvalidArrowError, StreamError

HELLO = b"colkern1" + bytes(16)


def frame(kind: int, data: bytes, tag: int = 0) -> bytes:
    return struct.pack("<QQB7x", len(data), tag, kind) + data


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    batch = record_batch({"n": [1, 2, 3]})
    go_on = threading.Event()

    def waiting() -> Iterator[RecordBatch]:
        yield batch
        go_on.wait(60)

    def source(identifier: bytes) -> RecordBatchStream:
        return RecordBatchStream(batch.schema, [batch] if identifier == b"short" else waiting())

    with serve(source, "shm:") as served:
        yield served
        go_on.set()


def said_to(server: Server, data: bytes) -> bytes:
    """All that a server answers to a client that says this and no more."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(10)
        client.connect(parse_uri(server.uri).address.replace("@", "\0"))
        answer = b""
        # A server that leaves something unread resets the connection behind its answer.
        with contextlib.suppress(ConnectionError):
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            while part := client.recv(1 << 16):
                answer += part
        return answer


def test_clients_that_do_not_keep_to_the_protocol(server: Server) -> None:
    uri = parse_uri(server.uri)
    assert uri.free_data is not None
    asked = frame(2, HELLO) + frame(1, b"", uri.want_data)
    for data, answer in {
        frame(2, b"colkern2" + bytes(16)): b"does not say hello",
        frame(2, HELLO[:20]): b"does not say hello",
        frame(3, b""): b"a heartbeat frame where a client sends a tagged one",
        frame(2, HELLO) + frame(1, b"", 5): b"expected want_data",
        frame(2, HELLO) + frame(1, bytes(8), uri.free_data): b"before the request",
        frame(2, HELLO) + frame(0, b""): b"a message frame where a client sends a tagged one",
        frame(0, b"x"): b"message frame of 1 bytes",
        frame(9, b""): b"no frame of the protocol",
        asked + frame(1, b"", uri.want_data): b"a second want_data",
        asked + frame(1, b"", uri.free_data): b"free_data message of 0 bytes",
        asked + frame(1, bytes(8), uri.free_data): b"was not announced",
        asked + frame(2, HELLO): b"a hello frame from a client",
        asked + frame(3, b"")[:5]: b"has gone within",
    }.items():
        assert answer in said_to(server, data), data


def test_server_goes_on_after_clients_that_say_anything(server: Server) -> None:
    rng = random.Random(7)
    uri = parse_uri(server.uri)
    want, free = present(uri.want_data), present(uri.free_data)
    valid = frame(2, HELLO) + frame(1, b"short", want) + frame(1, bytes(8), free)
    for _ in range(100):
        said_to(server, mutated(valid, rng))
    with connect(server.uri, "short") as reader:
        assert reader.read_all()[0].to_pylist() == [{"n": 1}, {"n": 2}, {"n": 3}]
    alive = [thread for thread in threading.enumerate() if thread.name == "colkern-accept"]
    assert alive


def test_stream_starts_with_its_schema() -> None:
    schema, *batches = split(example_stream())
    assert batches[0].body is not None
    first = frame(0, batches[0].untagged(0)) + frame(1, batches[0].body)
    with pytest.raises(
        InvalidArrowError, match="message 0: found a dictionary batch, expected a schema"
    ):
        read_stream(first)
    with pytest.raises(
        InvalidArrowError, match=r"message 1: found a schema, expected a record batch"
    ):
        read_stream(frame(0, schema.untagged(0)) + frame(0, schema.untagged(1)))


@pytest.mark.parametrize("number", [errno.ECONNRESET, errno.EHOSTUNREACH, errno.ENETDOWN])
def test_connection_that_is_lost(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def receive(self: Played, timeout: float | None) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Played, "receive", receive)
    with pytest.raises(StreamError, match="has gone before the metadata of message 0 came"):
        read_stream(b"")


def test_frames_that_clients_send_are_not_for_clients() -> None:
    schema = split(example_stream())[0]
    with pytest.raises(InvalidArrowError, match="a hello frame, which does not belong"):
        read_stream(frame(0, schema.untagged(0)) + frame(2, HELLO))


def test_locations_where_no_memory_is_shared() -> None:
    sink = example_stream(1)
    messages = split(sink)
    data = b"".join(frame(0, message.untagged(k)) for k, message in enumerate(messages))
    for k, message in enumerate(messages[1:], 1):
        assert message.body is not None
        data += frame(1, message.body, k)
    read_stream(data + frame(0, end_message(len(messages))))
    located = frame(0, messages[0].untagged(0)) + frame(0, messages[1].untagged(1))
    located += frame(1, struct.pack("<QQ", 0, 0), 1 << 56 | 1)
    with pytest.raises(InvalidArrowError, match=r"locations for|shares no memory"):
        read_stream(located)


@pytest.mark.parametrize("family", [socket.AF_UNIX, socket.AF_INET])
def test_server_that_takes_no_request_is_not_waited_for(family: socket.AddressFamily) -> None:
    with socket.socket(family) as listening:
        listening.bind("\0colkern-silent" if family == socket.AF_UNIX else ("127.0.0.1", 0))
        listening.listen()
        where = "unix://@colkern-silent"
        if family == socket.AF_INET:
            where = f"tcp://127.0.0.1:{listening.getsockname()[1]}"
        with pytest.raises(TimeoutError, match="takes nothing"):
            connect(f"{where}?want_data=1", bytes(1 << 23), timeout=0.2)
