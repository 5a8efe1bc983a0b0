"""Clients that are not colkern's: what the specification lets them do, over plain sockets.

Dissociated IPC protocol: "Server Sequence", "Client Sequence".
"""

from __future__ import annotations

import sqlite3
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from dissociated.raw_client import (
    TAGGED,
    Frame,
    RawClient,
    bodies_in,
    failures_in,
    metadata_in,
    table_of,
)

import colkern.ipc
from colkern import RecordBatch, record_batch
from colkern.arrays import RecordBatchStream
from colkern.dissociated import Bounds, Server, connect, serve
from colkern.dissociated.transports import transport_of
from colkern.errors import StreamError

ROWS = 1 << 17
"""A megabyte a batch: more than the buffers of a socket take."""

COUNT = 8
CLIENT, ANOTHER_CLIENT = bytes(range(16)), bytes(16)

NEVER, SOON = 60.0, 0.02
"""Heartbeats: when one stream may go far ahead of the other one, which stands still."""


def batches(count: int = COUNT, rows: int = ROWS) -> list[RecordBatch]:
    return [record_batch({"n": np.arange(k * rows, (k + 1) * rows)}) for k in range(count)]


class Counted:
    """A source that is read once, and how many batches it has made."""

    def __init__(self, count: int) -> None:
        self.made = 0
        self._count = count

    def stream(self) -> RecordBatchStream:
        return RecordBatchStream(batches(1)[0].schema, self._batches())

    def _batches(self) -> Iterator[RecordBatch]:
        for batch in batches(self._count):
            self.made += 1
            yield batch


def both(
    server: Server, identifier: bytes = b"", hello: bytes = CLIENT
) -> tuple[RawClient, RawClient]:
    """A client's connections to the services of metadata and of bodies."""
    assert server.data_uri is not None
    return (
        RawClient(server.uri, hello, identifier),
        RawClient(server.data_uri, hello, identifier),
    )


def expected(count: int = COUNT, rows: int = ROWS) -> list[int]:
    return list(range(count * rows))


# Two connections


def as_list(path: Path) -> Any:
    return batches()


def as_path(path: Path) -> Any:
    colkern.ipc.write_file(path, batches())
    return path


def as_compressed_path(path: Path) -> Any:
    colkern.ipc.write_file(path, batches(), compression="lz4")
    return path


def as_generator(path: Path) -> Any:
    return (batch for batch in batches())


def as_callable(path: Path) -> Any:
    return lambda identifier: (batch for batch in batches())


def as_table(path: Path) -> Any:
    return pa.Table.from_batches([pa.record_batch(batch) for batch in batches()])


SOURCES = [as_list, as_path, as_compressed_path, as_generator, as_callable, as_table]


@pytest.mark.parametrize("first", ["metadata", "bodies"])
@pytest.mark.parametrize("source", SOURCES)
def test_a_client_may_drain_one_stream_before_it_reads_the_other(
    source: Callable[[Path], Any], first: str, tmp_path: Path
) -> None:
    data = source(tmp_path / "table.arrow")
    with serve(data, "unix:", data_uri="unix:", heartbeat=SOON) as server:
        metadata, bodies = both(server)
        order = (metadata, bodies) if first == "metadata" else (bodies, metadata)
        result = {client: list(client.frames()) for client in order}
    table = table_of(metadata_in(result[metadata]), bodies_in(result[bodies]))
    assert table["n"].to_pylist() == expected()


def test_bodies_come_after_the_connection_of_metadata_is_closed() -> None:
    """ "Client Sequence": behind the end of the stream, the metadata connection may be closed."""
    with serve(iter(batches()), "unix:", data_uri="unix:", heartbeat=SOON) as server:
        metadata, bodies = both(server)
        described = metadata_in(list(metadata.frames()))
        metadata.close()
        table = table_of(described, bodies_in(list(bodies.frames())))
    assert table["n"].to_pylist() == expected()


def test_what_is_kept_for_the_stream_behind_is_bounded() -> None:
    source = Counted(20)
    bounds = Bounds(pending_bytes=3 * ROWS * 8)
    with serve(source.stream(), "unix:", data_uri="unix:", bounds=bounds, heartbeat=SOON) as server:
        metadata, bodies = both(server)
        frames = [metadata.frame() for _ in range(4)]
        time.sleep(0.1)
        assert source.made <= 6
        data = [bodies.frame()]
        while len(data) < 20:
            data.append(bodies.frame())
        frames += list(metadata.frames())
    table = table_of(metadata_in(frames), bodies_in(data))  # type: ignore[arg-type]
    assert table["n"].to_pylist() == expected(20)


def test_what_is_kept_for_all_clients_together_is_bounded() -> None:
    sources = {"a": Counted(COUNT), "b": Counted(COUNT)}
    # One body is being sent, and the next one is not counted. The last byte lets the end be found.
    bounds = Bounds(pending_bytes=(COUNT - 2) * ROWS * 8 + 1)
    with serve(
        {name: source.stream() for name, source in sources.items()},
        "unix:",
        data_uri="unix:",
        bounds=bounds,
        heartbeat=SOON,
    ) as server:
        first = both(server, b"a")
        assert len(metadata_in(list(first[0].frames()))) == COUNT + 1
        metadata, bodies = both(server, b"b", ANOTHER_CLIENT)
        frames = [metadata.frame() for _ in range(2)]
        time.sleep(0.2)
        assert sources["b"].made <= 3
        for connection in first:
            connection.close()
        frames += list(metadata.frames())
        table = table_of(
            metadata_in(frames),  # type: ignore[arg-type]
            bodies_in(list(bodies.frames())),
        )
    assert table["n"].to_pylist() == expected()


def test_little_is_kept_for_a_client_that_reads_both_streams_as_they_come() -> None:
    # The server may have two batches under way and one for the lead of the metadata. The client takes
    # a body with each message of metadata that it waits for, and up to two before those have been sent.
    source = Counted(40)
    with (
        serve(source.stream(), "unix:", data_uri="unix:", heartbeat=NEVER) as server,
        connect(server.uri, data_uri=server.data_uri) as reader,
    ):
        next(reader)
        time.sleep(0.2)
        assert source.made <= 8
        assert sum(batch.num_rows for batch in reader) == 39 * ROWS


def test_a_source_is_opened_and_read_by_one_thread() -> None:
    """As with one service: a cursor of SQLite may be used by no other thread than its own."""
    threads = set()

    def rows() -> Iterator[RecordBatch]:
        cursor = sqlite3.connect(":memory:").cursor()
        try:
            for k in range(COUNT):
                threads.add(threading.get_ident())
                (row,) = cursor.execute("SELECT ?", [k]).fetchall()
                yield record_batch({"n": np.full(ROWS, row[0])})
        finally:
            threads.add(threading.get_ident())

    def source(identifier: bytes) -> RecordBatchStream:
        threads.add(threading.get_ident())
        return RecordBatchStream(batches(1)[0].schema, rows())

    with serve(source, "unix:", data_uri="unix:", heartbeat=SOON) as server:
        metadata, bodies = both(server)
        described = [metadata.frame() for _ in range(4)]
        data = list(bodies.frames())
        described += list(metadata.frames())
    table = table_of(metadata_in(described), bodies_in(data))  # type: ignore[arg-type]
    assert table["n"].unique().to_pylist() == list(range(COUNT))
    assert len(threads) == 1


def test_a_connection_that_has_gone_holds_up_nobody() -> None:
    bounds = Bounds(pending_bytes=ROWS * 8)
    with serve(
        iter(batches()), "unix:", data_uri="unix:", bounds=bounds, heartbeat=NEVER
    ) as server:
        metadata, bodies = both(server)
        bodies.close()
        assert sorted(metadata_in(list(metadata.frames()))) == list(range(COUNT + 1))


def test_a_stream_that_cannot_be_begun_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise StreamError(0, "no way to memory")

    bounds = Bounds(pending_bytes=ROWS * 8)
    with serve(
        iter(batches()), "unix:", data_uri="unix:", bounds=bounds, heartbeat=NEVER
    ) as server:
        monkeypatch.setattr(type(transport_of("unix")), "announcer", fails)
        metadata, bodies = both(server)
        (failure,) = failures_in(list(bodies.frames()))
        assert "no way to memory" in failure
        assert sorted(metadata_in(list(metadata.frames()))) == list(range(COUNT + 1))


def test_both_streams_are_told_that_there_is_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def refuse(self: threading.Thread) -> None:
        if self.name == "colkern-source":
            raise RuntimeError("can't start new thread")
        start(self)

    with serve(iter(batches()), "unix:", data_uri="unix:") as server:
        monkeypatch.setattr(threading.Thread, "start", refuse)
        for client in both(server):
            (failure,) = failures_in(list(client.frames()))
            assert "no thread for this client" in failure


def test_a_file_is_the_same_for_both_streams_whatever_takes_its_place(tmp_path: Path) -> None:
    path = tmp_path / "table.arrow"
    colkern.ipc.write_file(path, batches())
    with serve(path, "unix:", data_uri="unix:") as server:
        metadata, bodies = both(server)
        frames = [bodies.frame()]
        colkern.ipc.write_file(tmp_path / "other.arrow", batches(2, 5))
        (tmp_path / "other.arrow").replace(path)
        table = table_of(
            metadata_in(list(metadata.frames())),
            bodies_in([*frames, *bodies.frames()]),  # type: ignore[list-item]
        )
    assert table["n"].to_pylist() == expected()


def test_both_streams_are_told_what_the_source_raises() -> None:
    def fails() -> Iterator[RecordBatch]:
        yield from batches(1)
        raise ZeroDivisionError("the second batch")

    stream = RecordBatchStream(batches(1)[0].schema, fails())
    with serve(stream, "unix:", data_uri="unix:") as server:
        for client in both(server):
            assert failures_in(list(client.frames())) == ["ZeroDivisionError: the second batch"]


# Without a hello, which is not the protocol's


def test_one_service_serves_a_client_without_a_hello() -> None:
    with serve(batches(2, 5), "unix:") as server:
        frames = list(RawClient(server.uri).frames())
    assert table_of(metadata_in(frames), bodies_in(frames))["n"].to_pylist() == expected(2, 5)


def test_two_servers_serve_a_client_without_a_hello() -> None:
    with (
        serve(batches(2, 5), "unix:", streams="metadata") as one,
        serve(batches(2, 5), "unix:", streams="bodies") as other,
    ):
        metadata, bodies = RawClient(one.uri), RawClient(other.uri)
        described = metadata_in(list(metadata.frames()))
        table = table_of(described, bodies_in(list(bodies.frames())))
    assert table["n"].to_pylist() == expected(2, 5)


def test_identifier_of_a_client_without_a_hello() -> None:
    with serve({"a": batches(1, 5), "b": batches(2, 5)}, "unix:") as server:
        frames = list(RawClient(server.uri, identifier=b"b").frames())
        assert sorted(metadata_in(frames)) == [0, 1, 2]


def test_two_services_and_a_token_need_a_hello() -> None:
    with serve(batches(1, 5), "unix:", data_uri="unix:") as server:
        (failure,) = failures_in(list(RawClient(server.uri).frames()))
        assert "says hello first" in failure
    with serve(batches(1, 5), "unix:", token="secret") as server:
        (failure,) = failures_in(list(RawClient(server.uri).frames()))
        assert "token is not the server's" in failure


# Late frees


def locations_in(frames: list[Frame]) -> list[int]:
    """The addresses in bodies of locations."""
    results = []
    for frame in frames:
        if frame.kind == TAGGED:
            assert frame.tag >> 56 == 1
            _, count, *pairs = struct.unpack(f"<{len(frame.data) // 8}Q", frame.data)
            assert len(pairs) == 2 * count
            results += [
                address for address, length in zip(pairs[::2], pairs[1::2], strict=True) if length
            ]
    return results


@pytest.mark.parametrize(
    ("freed", "message"),
    [((12345,), "was not announced"), ((0, 0), "it was freed before"), ((), "of 0 bytes")],
)
def test_what_is_wrong_with_a_late_free_is_told(freed: tuple[int, ...], message: str) -> None:
    """ "Data Stream Sequence": behind the last body, the server waits for what frees."""
    with serve(batches(2, 5), "shm:") as server:
        client = RawClient(server.uri)
        addresses = locations_in(list(client.frames()))
        assert len(addresses) == 2
        client.free(*(addresses[each] if each < 2 else each for each in freed))
        (failure,) = failures_in(list(client.frames()))
    assert message in failure


def test_the_stream_ends_when_all_is_freed() -> None:
    """ "Data Stream Sequence": with nothing left to be freed, the work of the stream is done."""
    with serve(batches(2, 5), "shm:") as server:
        client = RawClient(server.uri)
        client.free(*locations_in(list(client.frames())))
        assert client.frame() is None
        assert server.outstanding_bytes == 0
