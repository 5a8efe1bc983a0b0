"""A client by hand, over a plain socket: what servers send, frame by frame; pyarrow puts it together."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa

from colkern.dissociated import parse_uri

MESSAGE, TAGGED, HELLO, HEARTBEAT, FAILURE = 0, 1, 2, 3, 5
SECONDS = 20


class Frame(NamedTuple):
    kind: int
    tag: int
    data: bytes


class RawClient:
    """One connection.

    Args:
        uri: What the server says it is.
        hello: The 16 bytes that stand for the client; None for one that says no hello.
        identifier: What it asks for.
    """

    def __init__(self, uri: str, hello: bytes | None = None, identifier: bytes = b"") -> None:
        self.uri = parse_uri(uri)
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._socket.settimeout(SECONDS)
        self._socket.connect(self.uri.address.replace("@", "\0"))
        if hello is not None:
            self.send(HELLO, b"colkern1" + hello)
        self.send(TAGGED, identifier, self.uri.want_data)

    def send(self, kind: int, data: bytes, tag: int = 0) -> None:
        self._socket.sendall(struct.pack("<QQB7x", len(data), tag, kind) + data)

    def free(self, *addresses: int) -> None:
        assert self.uri.free_data is not None
        self.send(TAGGED, struct.pack(f"<{len(addresses)}Q", *addresses), self.uri.free_data)

    def frame(self) -> Frame | None:
        """The next frame that is no heartbeat; None at the end."""
        end = time.monotonic() + SECONDS
        while header := self._exactly(24):
            assert time.monotonic() < end, "nothing but heartbeats has come"
            length, tag, kind = struct.unpack("<QQB7x", header)
            if kind != HEARTBEAT:
                return Frame(kind, tag, self._exactly(length))
        return None

    def frames(self) -> Iterator[Frame]:
        """All frames up to the end, or to the end of the metadata."""
        while (frame := self.frame()) is not None:
            yield frame
            if frame.kind == MESSAGE and frame.data[0] == 0:
                return

    def close(self) -> None:
        self._socket.close()

    def _exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = self._socket.recv(min(size - len(data), 1 << 20))
            if not part:
                assert not data, "the server has gone within a frame"
                return b""
            data += part
        return bytes(data)


def metadata_in(frames: list[Frame]) -> dict[int, bytes]:
    """The IPC metadata of each untagged message, by sequence number."""
    results = {}
    for frame in frames:
        if frame.kind == MESSAGE and frame.data[0] == 1:
            (sequence,) = struct.unpack_from("<I", frame.data, 1)
            results[sequence] = frame.data[5:]
    return results


def bodies_in(frames: list[Frame]) -> dict[int, bytes]:
    """The packed body of each tagged message, by the low four bytes of its tag."""
    tagged = [frame for frame in frames if frame.kind == TAGGED]
    assert all(frame.tag >> 56 == 0 for frame in tagged)
    return {frame.tag & 0xFFFFFFFF: frame.data for frame in tagged}


def failures_in(frames: list[Frame]) -> list[str]:
    return [frame.data.decode() for frame in frames if frame.kind == FAILURE]


def table_of(metadata: dict[int, bytes], bodies: dict[int, bytes]) -> pa.Table:
    """The stream, as an IPC stream that pyarrow reads."""
    assert sorted(metadata) == list(range(len(metadata)))
    stream = b""
    for sequence in sorted(metadata):
        data = metadata[sequence] + bytes(-len(metadata[sequence]) % 8)
        stream += struct.pack("<Ii", 0xFFFFFFFF, len(data)) + data + bodies.get(sequence, b"")
    return pa.ipc.open_stream(stream).read_all()
