"""Arrow Flight as the control plane, asked by pyarrow's own client."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from present import present
from pyarrow import flight

import colkern as ck
from colkern.arrays import RecordBatchStream
from colkern.dissociated import connect, parse_uri
from colkern.dissociated.flight import FlightService, connect_flight
from colkern.dissociated.transports.local import SharedMemoryTransport
from colkern.errors import StreamError, UnsupportedError

WORDS = pa.array(["x", "y", "x", None]).dictionary_encode()
ORDERS = pa.table({"id": [1, 2, 3, 4], "word": WORDS, "name": ["a", None, "é", ""]})
PARTS = pa.table({"id": pa.array([5, 6], pa.int16())})


@pytest.fixture
def sources(tmp_path: Path) -> dict[str, Any]:
    path = tmp_path / "orders.arrow"
    with pa.ipc.new_file(path, ORDERS.schema) as writer:
        writer.write_table(ORDERS, max_chunksize=3)
    return {"orders": path, "parts/all": PARTS.to_batches()}


@pytest.fixture
def service(sources: dict[str, Any]) -> Iterator[FlightService]:
    with FlightService(sources, uris=["shm:", "tcp:"]) as result:
        yield result


@pytest.fixture
def client(service: FlightService) -> Iterator[flight.FlightClient]:
    with flight.connect(service.location) as result:
        yield result


def test_a_flight_has_schema_ticket_and_the_uris_of_services(
    service: FlightService, client: flight.FlightClient
) -> None:
    info = client.get_flight_info(flight.FlightDescriptor.for_path("orders"))
    assert info.schema == ORDERS.schema
    (endpoint,) = info.endpoints
    uris = [location.uri.decode() for location in endpoint.locations]
    assert uris == [
        *(server.uri for server in service.servers),
        "arrow-flight-reuse-connection://?",
    ]
    assert [parse_uri(uri).scheme for uri in uris[:2]] == ["shm", "tcp"]
    # The ticket is the opaque identifier, of either service.
    for uri in uris[:2]:
        with connect(uri, endpoint.ticket.ticket) as reader:
            assert pa.table(reader) == ORDERS


@pytest.mark.parametrize(
    "descriptor",
    [
        flight.FlightDescriptor.for_path("parts/all"),
        flight.FlightDescriptor.for_path("parts", "all"),
        flight.FlightDescriptor.for_command("parts/all"),
    ],
)
def test_a_name_is_a_path_its_parts_or_a_command(
    descriptor: flight.FlightDescriptor, service: FlightService, client: flight.FlightClient
) -> None:
    assert client.get_flight_info(descriptor).endpoints[0].ticket.ticket == b"parts/all"
    assert client.get_schema(descriptor).schema == PARTS.schema
    with connect_flight(service.location, descriptor) as reader:
        assert pa.table(reader) == PARTS


def test_the_catalogue_and_the_names_that_start_so(client: flight.FlightClient) -> None:
    actual = {info.descriptor.path[0]: info.schema for info in client.list_flights()}
    assert actual == {b"orders": ORDERS.schema, b"parts/all": PARTS.schema}
    (info,) = client.list_flights(b"part")
    assert info.endpoints[0].ticket.ticket == b"parts/all"


def test_clients_of_flight_alone_get_the_batches_by_do_get(client: flight.FlightClient) -> None:
    (endpoint,) = client.get_flight_info(flight.FlightDescriptor.for_path("orders")).endpoints
    assert client.do_get(endpoint.ticket).read_all() == ORDERS


def test_the_first_location_that_answers_is_taken(service: FlightService) -> None:
    local, remote = service.servers
    with connect_flight(service.location, "orders") as reader:
        assert pa.table(reader) == ORDERS
    assert (local.traffic.packed_bytes, remote.traffic.packed_bytes) == (0, 0)
    local.close()
    with connect_flight(service.location, "orders", columns=["id"]) as reader:
        assert pa.table(reader) == ORDERS.select(["id"])
    assert remote.traffic.packed_bytes > 0
    remote.close()
    with pytest.raises(ConnectionRefusedError):
        connect_flight(service.location, "orders")


@pytest.mark.parametrize(
    "why", [PermissionError("the other side is of user 7"), UnsupportedError("ucx: no package")]
)
def test_a_location_that_is_not_for_this_client_is_passed_over(
    service: FlightService, monkeypatch: pytest.MonkeyPatch, why: Exception
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise why

    monkeypatch.setattr(SharedMemoryTransport, "connect", refuse)
    with connect_flight(service.location, "orders") as reader:
        assert pa.table(reader) == ORDERS
        assert reader.traffic.packed_bytes > 0


def test_what_is_not_served(service: FlightService, client: flight.FlightClient) -> None:
    with pytest.raises(StreamError, match="KeyError: nothing is served as b'o'") as raised:
        connect_flight(service.location, "o")
    assert present(raised.value.strerror).startswith(f"Flight at {service.location}: ")
    with pytest.raises(flight.FlightServerError, match="nothing is served") as refused:
        client.do_get(flight.Ticket(b"o")).read_all()
    # Where the server's files are is not for its clients to know.
    assert "Traceback" not in str(refused.value)


def test_an_error_of_a_source_ends_do_get() -> None:
    def batches() -> Iterator[ck.RecordBatch]:
        yield ck.RecordBatch.from_arrays([ck.array([1])], ["id"])
        raise OSError("the disk has gone")

    schema = ck.Schema([ck.Field("id", ck.int64())])
    with (
        FlightService({"s": RecordBatchStream(schema, batches())}) as service,
        flight.connect(service.location) as client,
    ):
        # Its schema is told without taking it.
        assert [info.schema for info in client.list_flights()] == [pa.schema(schema)]
        reader = client.do_get(flight.Ticket(b"s"))
        assert reader.read_chunk().data.to_pylist() == [{"id": 1}]
        with pytest.raises(flight.FlightServerError, match="OSError: the disk has gone") as raised:
            reader.read_chunk()
        assert "Traceback" not in str(raised.value)
        # It gives its batches once, by whichever way.
        with pytest.raises(StreamError, match="gives its batches once"):
            connect_flight(service.location, "s")


def test_a_token_is_asked_for_by_flight_and_by_the_services(sources: dict[str, Any]) -> None:
    with FlightService(sources, token="secret") as service:
        with connect_flight(service.location, "orders", token="secret") as reader:
            assert pa.table(reader) == ORDERS
        for guess in ("", "guess"):
            with pytest.raises(StreamError, match="the client's token is not the server's"):
                connect_flight(service.location, "orders", token=guess)
            with pytest.raises(StreamError, match="the client's token is not the server's"):
                connect(service.servers[0].uri, "orders", token=guess)
        with flight.connect(service.location) as client:
            for call in (client.do_get, client.get_flight_info):
                asked: Any = flight.Ticket(b"orders")
                if call == client.get_flight_info:
                    asked = flight.FlightDescriptor.for_path("orders")
                with pytest.raises(flight.FlightUnauthenticatedError):
                    call(asked)
            with pytest.raises(flight.FlightUnauthenticatedError):
                list(client.list_flights())


def test_after_shutdown_nothing_answers(sources: dict[str, Any]) -> None:
    with FlightService(sources) as service:
        pass
    with pytest.raises(StreamError, match=f"Flight at {service.location}: "):
        connect_flight(service.location, "orders", timeout=5)
    with pytest.raises(ConnectionRefusedError):
        connect(service.servers[0].uri)
    service.shutdown()


@pytest.mark.parametrize(
    ("location", "options", "complaint"),
    [
        ("grpc://0.0.0.0:0", {}, "location: other machines reach '0.0.0.0'"),
        ("grpc://0.0.0.0:0", {"remote": True}, "token: a service for other machines needs one"),
        (
            "grpc://0.0.0.0:0",
            {"remote": True, "uris": []},
            "token: a service for other machines needs one",
        ),
        ("tcp://127.0.0.1:0", {}, "location: expected grpc://host:port, got tcp://127.0.0.1:0"),
        ("grpc://127.0.0.1", {}, "location: expected grpc://host:port, got grpc://127.0.0.1"),
        ("grpc://127.0.0.1:0", {"token": "ключ"}, "token: Flight's headers have printable ASCII"),
        ("grpc://127.0.0.1:0", {"uris": ["gopher:"]}, "uri: scheme 'gopher'; colkern has"),
    ],
)
def test_wrong_use(location: str, options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint.partition("(")[0]):
        FlightService({"parts": PARTS.to_batches()}, location, **options)


class Elsewhere(flight.FlightServerBase):  # type: ignore[misc]
    """A service of Flight alone, whose data is in as many endpoints as the path says."""

    def get_flight_info(
        self, context: Any, descriptor: flight.FlightDescriptor
    ) -> flight.FlightInfo:
        endpoint = flight.FlightEndpoint(flight.Ticket(b""), ["grpc://127.0.0.1:1"])
        return flight.FlightInfo(PARTS.schema, descriptor, [endpoint] * int(descriptor.path[0]))


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("1", "none of its locations is of the Dissociated IPC protocol: grpc://127.0.0.1:1"),
        ("2", "data in 2 endpoints"),
    ],
)
def test_flights_of_others(name: str, complaint: str) -> None:
    with Elsewhere() as other, pytest.raises(UnsupportedError, match=complaint):
        connect_flight(f"grpc://127.0.0.1:{other.port}", name)
