"""Clients that are not colkern's: what the specification lets them do, over plain sockets.

Dissociated IPC protocol: "Server Sequence", "Client Sequence".
"""

from __future__ import annotations

import struct
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
from colkern.dissociated import Bounds, Server, serve

ROWS = 1 << 17
"""A megabyte a batch: more than the buffers of a socket take."""

COUNT = 8
CLIENT = bytes(range(16))


def batches(count: int = COUNT, rows: int = ROWS) -> list[RecordBatch]:
    return [record_batch({"n": np.arange(k * rows, (k + 1) * rows)}) for k in range(count)]


def both(server: Server, identifier: bytes = b"") -> tuple[RawClient, RawClient]:
    """A client's connections to the services of metadata and of bodies."""
    assert server.data_uri is not None
    return (
        RawClient(server.uri, CLIENT, identifier),
        RawClient(server.data_uri, CLIENT, identifier),
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
    with serve(source(tmp_path / "table.arrow"), "unix:", data_uri="unix:") as server:
        metadata, bodies = both(server)
        order = (metadata, bodies) if first == "metadata" else (bodies, metadata)
        found = {client: list(client.frames()) for client in order}
    table = table_of(metadata_in(found[metadata]), bodies_in(found[bodies]))
    assert table["n"].to_pylist() == expected()


def test_bodies_come_after_the_connection_of_metadata_is_closed() -> None:
    """ "Client Sequence": behind the end of the stream, the metadata connection may be closed."""
    with serve(iter(batches()), "unix:", data_uri="unix:") as server:
        metadata, bodies = both(server)
        described = metadata_in(list(metadata.frames()))
        metadata.close()
        table = table_of(described, bodies_in(list(bodies.frames())))
    assert table["n"].to_pylist() == expected()


def test_what_is_kept_for_the_stream_behind_is_bounded() -> None:
    made = 0

    def source() -> Iterator[RecordBatch]:
        nonlocal made
        for batch in batches(20):
            made += 1
            yield batch

    stream = RecordBatchStream(batches(1)[0].schema, source())
    bounds = Bounds(pending_bytes=3 * ROWS * 8)
    with serve(stream, "unix:", data_uri="unix:", bounds=bounds) as server:
        metadata, bodies = both(server)
        frames = [metadata.frame() for _ in range(4)]
        time.sleep(0.1)
        assert made <= 6
        data = [bodies.frame()]
        while len(data) < 20:
            data.append(bodies.frame())
        frames += list(metadata.frames())
    table = table_of(metadata_in(frames), bodies_in(data))  # type: ignore[arg-type]
    assert table["n"].to_pylist() == expected(20)


def test_a_connection_that_has_gone_holds_up_nobody() -> None:
    bounds = Bounds(pending_bytes=ROWS * 8)
    with serve(iter(batches()), "unix:", data_uri="unix:", bounds=bounds) as server:
        metadata, bodies = both(server)
        bodies.close()
        assert sorted(metadata_in(list(metadata.frames()))) == list(range(COUNT + 1))


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
    found = []
    for frame in frames:
        if frame.kind == TAGGED:
            assert frame.tag >> 56 == 1
            _, count, *pairs = struct.unpack(f"<{len(frame.data) // 8}Q", frame.data)
            assert len(pairs) == 2 * count
            found += [
                address for address, length in zip(pairs[::2], pairs[1::2], strict=True) if length
            ]
    return found


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
