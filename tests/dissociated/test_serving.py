"""`serve` and `connect`: sources, identifiers, clients, errors, bounds, time-outs."""

from __future__ import annotations

import contextlib
import errno
import gc
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pytest
from dissociated.children import wait_until

import colkern.ipc
from colkern import RecordBatch, record_batch
from colkern.arrays import RecordBatchStream
from colkern.dissociated import Bounds, Server, ServiceReader, connect, parse_uri, serve
from colkern.dissociated.connecting import ConnectOptions, open_stream
from colkern.dissociated.messages import BodyType
from colkern.dissociated.sending import StreamOptions
from colkern.dissociated.serving import Terms, start_server
from colkern.dissociated.sources import Catalogue
from colkern.dissociated.transports.local import connected_locally
from colkern.dissociated.transports.sockets import SocketListener
from colkern.errors import InvalidArrowError, LimitExceededError, StreamError
from colkern.ipc import WriteOptions

TRANSPORTS = ["inproc:", "unix:", "tcp:127.0.0.1:0", "shm:"]
WITH_LOCATIONS = ["inproc:", "shm:"]


def batches(count: int = 3, rows: int = 4) -> list[RecordBatch]:
    return [
        record_batch({"n": [k * rows + i for i in range(rows)], "s": [f"{k}"] * rows})
        for k in range(count)
    ]


def one_batch(go_on: threading.Event) -> RecordBatchStream:
    """A batch from a source that then waits."""

    def source() -> Iterator[RecordBatch]:
        yield from batches(1)
        go_on.wait(10)

    return RecordBatchStream(batches()[0].schema, source())


@pytest.fixture(autouse=True, scope="module")
def warmed() -> None:
    """The first batch of a process waits for modules and compilers, longer than some time-outs here."""
    with serve(batches(1), "inproc:", bodies="packed") as server, connect(server.uri) as reader:
        reader.read_all()


# Sources


def sources(tmp_path: Path) -> dict[str, Any]:
    pl = pytest.importorskip("polars")
    data = batches()
    table = pa.Table.from_batches([pa.record_batch(batch) for batch in data])
    path = tmp_path / "table.arrow"
    colkern.ipc.write_file(path, data)
    return {
        "list": data,
        "path": path,
        "text path": str(path),
        "stream": RecordBatchStream(data[0].schema, iter(data)),
        "generator": (batch for batch in data),
        "pyarrow table": table,
        "pyarrow reader": table.to_reader(),
        "polars": pl.DataFrame(table),
        "reader": colkern.ipc.open(path),
    }


def test_sources(tmp_path: Path) -> None:
    expected = [row for batch in batches() for row in batch.to_pylist()]
    for name, source in sources(tmp_path).items():
        with serve(source, "inproc:") as server, connect(server.uri) as reader:
            assert [row for batch in reader for row in batch.to_pylist()] == expected, name


def test_identifiers_name_sources() -> None:
    with serve({"a": batches(1), b"b": batches(2)}, "inproc:") as server:
        assert len(connect(server.uri, b"a").read_all()) == 1
        assert len(connect(server.uri, "b").read_all()) == 2
        with pytest.raises(StreamError, match="nothing is served as b'c'"):
            connect(server.uri, "c")


def test_callable_gets_the_identifier() -> None:
    with serve(lambda identifier: batches(int(identifier)), "inproc:") as server:
        assert len(connect(server.uri, b"4").read_all()) == 4


def test_iterator_is_given_once() -> None:
    with serve(iter(batches()), "inproc:") as server:
        assert len(connect(server.uri).read_all()) == 3
        with pytest.raises(StreamError, match="gives its batches once"):
            connect(server.uri)


def test_stream_without_batches() -> None:
    schema = batches()[0].schema
    with serve(RecordBatchStream(schema, []), "shm:") as server, connect(server.uri) as reader:
        assert reader.schema == schema
        assert reader.read_all() == []


def test_reader_exports_a_capsule_stream() -> None:
    with serve(batches(), "shm:") as server, connect(server.uri) as reader:
        table = pa.RecordBatchReader.from_stream(reader).read_all()
    assert table.column("n").to_pylist() == list(range(12))


def test_columns() -> None:
    with serve(batches(), "shm:") as server, connect(server.uri, columns=["s"]) as reader:
        assert reader.read_all()[2].to_pylist() == [{"s": "2"}] * 4


# Clients


@pytest.mark.parametrize("uri", TRANSPORTS)
def test_eight_clients_at_once(uri: str) -> None:
    data = batches(20, rows=500)
    with serve(data, uri) as server, ThreadPoolExecutor(8) as pool:
        start = threading.Barrier(8)

        def read(_: int) -> bool:
            start.wait()
            with connect(server.uri) as reader:
                return reader.read_all() == data

        assert list(pool.map(read, range(8))) == [True] * 8
        gc.collect()
        wait_until(lambda: server.num_streams == 0)
        assert server.outstanding_bytes == 0


@pytest.mark.parametrize("uri", TRANSPORTS)
def test_client_leaves_in_the_middle(uri: str) -> None:
    def endless() -> Iterator[RecordBatch]:
        while True:
            yield from batches(1, rows=1000)

    with serve(RecordBatchStream(batches()[0].schema, endless()), uri) as server:
        with connect(server.uri) as reader:
            first = next(reader)
        assert first.num_rows == 1000
        del first
        gc.collect()
        wait_until(lambda: server.num_streams == 0)


@pytest.mark.parametrize("bodies", ["packed", "locations"])
def test_streams_of_two_servers(bodies: Literal["packed", "locations"]) -> None:
    data = batches()
    uri = "shm:" if bodies == "locations" else "unix:"
    with (
        serve(data, uri, streams="metadata", bodies=bodies) as one,
        serve(data, uri, streams="bodies", bodies=bodies) as other,
        connect(one.uri, data_uri=other.uri) as reader,
    ):
        assert reader.read_all() == data
        assert other.data_uri is None


def test_metadata_over_tcp_and_bodies_in_shared_memory() -> None:
    data = batches()
    with (
        serve(data, "tcp:127.0.0.1:0", data_uri="shm:") as server,
        connect(server.uri, data_uri=server.data_uri) as reader,
    ):
        assert reader.read_all() == data
        assert reader.traffic.copied_bytes == 0


def test_server_of_bodies_that_has_fewer_of_them_is_not_waited_for() -> None:
    with (
        serve(batches(3), "shm:", streams="metadata", heartbeat=60) as one,
        serve(batches(2), "shm:", streams="bodies", heartbeat=60) as other,
        connect(one.uri, data_uri=other.uri, timeout=20) as reader,
    ):
        kept = [next(reader), next(reader)]
        gone = "the server has gone before the body of message 3 came"
        with pytest.raises(StreamError, match=gone):
            next(reader)
        assert kept == batches(2)


# Sequence numbers


@pytest.mark.parametrize("uri", TRANSPORTS)
def test_sequence_numbers_wrap_around(uri: str) -> None:
    data = batches(8)
    body_type = BodyType.LOCATIONS if uri in WITH_LOCATIONS else BodyType.PACKED
    start = 2**32 - 4
    options = StreamOptions(body_type, WriteOptions(), first_sequence=start)
    terms = Terms(b"", timeout=10.0, heartbeat=1.0, max_connections=1)
    with start_server(Catalogue(data), [uri], "both", options, terms) as server:
        messages = open_stream(server.uri, None, b"", ConnectOptions(first_sequence=start))
        assert ServiceReader(messages).read_all() == data


# Errors


@pytest.mark.parametrize("uri", TRANSPORTS)
def test_error_of_the_source_reaches_the_client(uri: str) -> None:
    def fails() -> Iterator[RecordBatch]:
        yield from batches(2)
        raise ZeroDivisionError("the third batch")

    with serve(RecordBatchStream(batches()[0].schema, fails()), uri) as server:
        reader = connect(server.uri)
        assert [next(reader).num_rows, next(reader).num_rows] == [4, 4]
        for _ in range(2):
            with pytest.raises(StreamError, match="ZeroDivisionError: the third batch"):
                next(reader)


def test_file_that_is_not_there() -> None:
    with (
        serve("/nowhere/at/all.arrow", "inproc:") as server,
        pytest.raises(StreamError, match=r"FileNotFoundError.*/nowhere"),
    ):
        connect(server.uri)


@pytest.mark.parametrize("uri", TRANSPORTS)
def test_error_that_cannot_be_spelled_is_told(uri: str) -> None:
    class Unspeakable(Exception):
        def __str__(self) -> str:
            raise ZeroDivisionError

    def source(identifier: bytes) -> list[RecordBatch]:
        raise ValueError("\udcff") if identifier == b"surrogate" else Unspeakable

    with serve(source, uri) as server:
        with pytest.raises(StreamError, match=r"ValueError: .udcff"):
            connect(server.uri, "surrogate", timeout=5)
        with pytest.raises(StreamError, match="reports: Unspeakable"):
            connect(server.uri, timeout=5)


def test_no_such_service(tmp_path: Path) -> None:
    for uri in ("inproc://none", f"unix://{tmp_path}/none", "tcp://127.0.0.1:1"):
        with pytest.raises(OSError, match=r"refused|no such|No such"):
            connect(f"{uri}?want_data=1", timeout=5)


def test_wrong_use() -> None:
    with pytest.raises(ValueError, match="scheme 'http'"):
        serve(batches(), "http://localhost")
    with pytest.raises(ValueError, match="tcp shares no memory"):
        serve(batches(), "tcp:127.0.0.1:0", bodies="locations")
    with pytest.raises(ValueError, match="compression: bodies of locations"):
        serve(batches(), "shm:", compression="lz4")
    with pytest.raises(ValueError, match="expected tcp://host:port"):
        serve(batches(), "tcp://localhost")


def test_wrong_want_data() -> None:
    with serve(batches(), "tcp:127.0.0.1:0") as server:
        uri = server.uri.replace("want_data=", "want_data=1")[: len(server.uri)]
        with pytest.raises(StreamError, match="expected want_data"):
            connect(uri)


# Who may connect


@pytest.mark.parametrize("uri", TRANSPORTS)
def test_token(uri: str) -> None:
    with serve(batches(), uri, token="secret") as server:
        assert len(connect(server.uri, token=b"secret").read_all()) == 3
        for wrong in ("", "secre", "secret2"):
            with pytest.raises(StreamError, match="the client's token is not the server's"):
                connect(server.uri, token=wrong)


def test_tcp_is_for_this_machine_unless_told() -> None:
    for host in ("0.0.0.0", "[::]"):
        with pytest.raises(ValueError, match="other machines reach"):
            serve(batches(), f"tcp://{host}:0")
    with pytest.raises(ValueError, match="token: a service for other machines needs one"):
        serve(batches(), "tcp://0.0.0.0:0", remote=True)
    with serve(batches(), "tcp://0.0.0.0:0", remote=True, token="secret") as server:
        uri = server.uri.replace("0.0.0.0", "127.0.0.1")
        assert len(connect(uri, token="secret").read_all()) == 3


def test_unix_sockets_are_for_this_user(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with serve(batches(), f"unix://{path}"):
        assert path.stat().st_mode & 0o777 == 0o600
        with pytest.raises(OSError, match="in use"):
            serve(batches(), f"unix://{path}")
    assert not path.exists()


def test_addresses_that_are_chosen_are_no_files() -> None:
    with serve(batches(), "unix:") as server:
        assert parse_uri(server.uri).address.startswith("@colkern-")
        assert len(connect(server.uri).read_all()) == 3


def test_socket_is_removed_when_its_server_is_not_closed(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    code = f"from colkern.dissociated import serve; serve([], 'unix://{path}')"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    assert not path.exists()


def test_abandoned_socket_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    with serve(batches(), f"shm://{path}") as server:
        assert len(connect(server.uri).read_all()) == 3


def test_client_waits_until_a_server_has_taken_those_before_it(tmp_path: Path) -> None:
    path = str(tmp_path / "socket")
    with socket.socket(socket.AF_UNIX) as listening, contextlib.ExitStack() as connected:
        listening.bind(path)
        listening.listen(0)
        connected.enter_context(connected_locally(path, 5))
        with pytest.raises(TimeoutError, match="takes no more clients"):
            connected_locally(path, 0.05)
        threading.Timer(0.05, lambda: listening.accept()[0].close()).start()
        connected.enter_context(connected_locally(path, 5))


# Bounds


@pytest.mark.parametrize("uri", WITH_LOCATIONS)
def test_server_waits_for_frees(uri: str) -> None:
    count = 0

    def source() -> Iterator[RecordBatch]:
        nonlocal count
        for batch in batches(20, rows=1000):
            count += 1
            yield batch

    stream = RecordBatchStream(batches()[0].schema, source())
    with serve(stream, uri, bounds=Bounds(outstanding_bytes=30_000)) as server:
        with connect(server.uri) as reader:
            kept = [next(reader)]
            wait_until(lambda: server.outstanding_bytes > 15_000)
            time.sleep(0.05)
            assert count < 5
            assert server.outstanding_bytes <= 30_000
            del kept[:]
            assert sum(batch.num_rows for batch in reader) == 19_000
        wait_until(lambda: server.num_streams == 0)


def test_client_that_keeps_what_the_server_waits_for_is_told() -> None:
    bounds = Bounds(outstanding_bytes=30_000)
    with (
        serve(batches(20, rows=1000), "shm:", bounds=bounds, heartbeat=0.05) as server,
        connect(server.uri, timeout=0.8) as reader,
        pytest.raises(LimitExceededError, match="let go of batches"),
    ):
        reader.read_all()


@pytest.mark.parametrize("uri", ["inproc:", "unix:"])
def test_packed_bodies_wait_where_nobody_reads(uri: str) -> None:
    count = 0

    def source() -> Iterator[RecordBatch]:
        nonlocal count
        for batch in batches(1, rows=100_000) * 40:
            count += 1
            yield batch

    stream = RecordBatchStream(batches()[0].schema, source())
    bounds = Bounds(pending_bytes=1 << 20)
    with (
        serve(stream, uri, bounds=bounds, bodies="packed") as server,
        connect(server.uri) as reader,
    ):
        time.sleep(0.1)
        assert count < 10
        assert sum(batch.num_rows for batch in reader) == 4_000_000


# Time


@pytest.mark.parametrize("uri", TRANSPORTS)
def test_slow_source_is_no_dead_server(uri: str) -> None:
    def slow() -> Iterator[RecordBatch]:
        yield from batches(1)
        time.sleep(1.2)
        yield from batches(1)

    stream = RecordBatchStream(batches()[0].schema, slow())
    with (
        serve(stream, uri, heartbeat=0.05) as server,
        connect(server.uri, timeout=0.8) as reader,
    ):
        assert len(reader.read_all()) == 2


@pytest.mark.parametrize("uri", TRANSPORTS)
def test_silent_server_is_noticed_within_the_time_out(uri: str) -> None:
    go_on = threading.Event()

    with (
        serve(one_batch(go_on), uri, heartbeat=60) as server,
        connect(server.uri, timeout=0.2) as reader,
    ):
        next(reader)
        with pytest.raises(
            StreamError, match=r"nothing has come for 0.2 s; the metadata of message 2"
        ):
            next(reader)
        go_on.set()


@pytest.mark.parametrize("uri", ["inproc:", "unix:"])
@pytest.mark.parametrize("silent", ["metadata", "bodies"])
def test_one_of_two_servers_is_silent_and_the_other_alive(uri: str, silent: str) -> None:
    go_on = threading.Event()
    went_on = []

    def stuck() -> Iterator[RecordBatch]:
        yield from batches(1)
        went_on.append(go_on.wait(60))

    def served(streams: Any) -> Server:
        heartbeat = 60 if streams == silent else 0.02
        stream = RecordBatchStream(batches()[0].schema, stuck())
        return serve(stream, uri, streams=streams, bodies="packed", heartbeat=heartbeat)

    with (
        served("metadata") as one,
        served("bodies") as other,
        connect(one.uri, data_uri=other.uri, timeout=0.2) as reader,
    ):
        next(reader)
        with pytest.raises(
            StreamError,
            match=f"nothing has come for 0.2 s from the server of {silent}; the metadata of message 2",
        ):
            next(reader)
        # The server that is alive has not kept the reader waiting for the silent one.
        assert not went_on
        go_on.set()


@pytest.mark.parametrize("data_uri", [False, True])
@pytest.mark.parametrize("uri", TRANSPORTS)
def test_reader_is_closed_by_another_thread(uri: str, data_uri: bool) -> None:
    go_on = threading.Event()

    with (
        serve(one_batch(go_on), uri, data_uri=uri if data_uri else None) as server,
        connect(server.uri, data_uri=server.data_uri, timeout=10) as reader,
    ):
        next(reader)
        threading.Timer(0.05, reader.close).start()
        with pytest.raises(StreamError, match="the reader was closed while it waited"):
            next(reader)
        go_on.set()


@pytest.mark.parametrize("uri", TRANSPORTS)
def test_closed_server_is_noticed(uri: str) -> None:
    go_on = threading.Event()

    def close() -> None:
        server.close()
        go_on.set()

    server = serve(one_batch(go_on), uri)
    with connect(server.uri, timeout=10) as reader:
        next(reader)
        threading.Timer(0.05, close).start()
        with pytest.raises(StreamError, match="the server has gone before"):
            next(reader)


def test_client_that_does_not_ask_is_sent_away() -> None:
    with serve(batches(), "tcp:127.0.0.1:0", timeout=0.05) as server:
        host, _, port = parse_uri(server.uri).address.rpartition(":")
        with socket.create_connection((host, int(port)), 5) as silent:
            received = b""
            while part := silent.recv(4096):
                received += part
    assert b"has not asked for data in time" in received


def test_client_that_asks_byte_by_byte_is_sent_away() -> None:
    hello = struct.pack("<QQB7x", 1000, 0, 2) + bytes(1000)
    with serve(batches(), "tcp:127.0.0.1:0", timeout=0.1, heartbeat=0.02) as server:
        host, _, port = parse_uri(server.uri).address.rpartition(":")
        with socket.create_connection((host, int(port)), 5) as slow:
            message = 0
            with contextlib.suppress(ConnectionError):
                for message in range(len(hello)):
                    slow.sendall(hello[message : message + 1])
                    time.sleep(0.01)
    assert message < len(hello) - 1


def test_client_that_asks_at_one_of_two_services() -> None:
    with (
        serve(batches(), "unix:", data_uri="unix:", timeout=0.05) as server,
        pytest.raises(StreamError, match="has not asked for data in time"),
    ):
        connect(server.uri)


def test_closing_does_not_wait_for_clients_that_ask_at_one_of_two_services() -> None:
    # Longer than a test may take.
    server = serve(batches(), "unix:", data_uri="unix:", timeout=3600)
    asked = threading.Event()
    refused: list[StreamError] = []

    def ask() -> None:
        asked.set()
        try:
            connect(server.uri, timeout=3600)
        except StreamError as error:
            refused.append(error)

    clients = [threading.Thread(target=ask) for _ in range(3)]
    for client in clients:
        client.start()
    asked.wait()
    time.sleep(0.05)
    server.close()
    for client in clients:
        client.join()
    assert len(refused) == 3


# How many clients


@pytest.mark.parametrize("uri", TRANSPORTS)
def test_the_one_connection_too_many_is_refused(uri: str) -> None:
    go_on = threading.Event()

    with serve(lambda _: one_batch(go_on), uri, max_connections=2) as server:
        with connect(server.uri), connect(server.uri) as second:
            for _ in range(3):
                with pytest.raises(StreamError, match=r"2 connections.*max_connections"):
                    connect(server.uri)
            assert next(second).num_rows == 4
        go_on.set()
        wait_until(lambda: server.num_connections == 0)
        connect(server.uri).close()
    with pytest.raises(ValueError, match="max_connections: expected at least 1, got 0"):
        serve(batches(), uri, max_connections=0)


def test_server_goes_on_when_there_are_no_more_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start
    failures = ["colkern-receive"] * 2

    def refuse(self: threading.Thread) -> None:
        if self.name in failures:
            failures.remove(self.name)
            raise RuntimeError("can't start new thread")
        start(self)

    with serve(batches(), "unix:") as server:
        monkeypatch.setattr(threading.Thread, "start", refuse)
        for _ in range(2):
            with pytest.raises(StreamError, match=r"no thread for this client.*try again later"):
                connect(server.uri)
        assert len(connect(server.uri).read_all()) == 3
        wait_until(lambda: server.num_connections == 0)


def test_server_goes_on_when_a_client_cannot_be_accepted() -> None:
    failures = [errno.EPROTO, errno.EMFILE, errno.ECONNABORTED]

    class Accepting(socket.socket):
        def accept(self) -> tuple[socket.socket, Any]:
            if failures:
                raise OSError(failures.pop(), "of the network, the process, the client")
            return super().accept()

    listening = Accepting(socket.AF_INET)
    listening.bind(("127.0.0.1", 0))
    listener = SocketListener(listening, "")
    with socket.create_connection(listening.getsockname(), 5):
        connection = listener.accept()
        assert connection is not None
        connection.close()
    listener.close()


def test_time_out_of_the_program_is_none_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda _: pytest.fail("a thread has died"))
    socket.setdefaulttimeout(0.01)
    try:
        with serve(batches(), "tcp:127.0.0.1:0") as server:
            time.sleep(0.05)
            assert len(connect(server.uri).read_all()) == 3
    finally:
        socket.setdefaulttimeout(None)


# What a server that breaks the protocol does to its client


def test_gap_in_the_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    from colkern.dissociated.protocol import ServerStream

    take = ServerStream.take_sequence

    def skipping(self: ServerStream) -> int:
        return take(self) + 1

    monkeypatch.setattr(ServerStream, "take_sequence", skipping)
    with (
        serve(batches(), "unix:") as server,
        pytest.raises(
            InvalidArrowError, match="end of stream, message 4: message 4 came before it"
        ),
    ):
        connect(server.uri)


def test_server_repr_and_second_close() -> None:
    server = serve(batches(), "inproc://named")
    assert isinstance(server, Server)
    assert repr(server).startswith("<colkern.dissociated.Server at inproc://named?want_data=")
    server.close()
    server.close()
