"""Arrow Flight as the control plane: it names data, and tells where it is served.

The endpoints of a flight have the URIs of services as locations, and the identifier as their ticket.
The data itself is sent by the Dissociated IPC protocol, or by `do_get` to clients that know only
Flight.

>>> from colkern.dissociated.flight import FlightService, connect_flight
>>> with FlightService({"orders": "orders.arrow"}, uris=["shm:", "tcp:"]) as service:  # doctest: +SKIP
...     reader = connect_flight(service.location, "orders")

This module needs pyarrow with Flight. Dissociated IPC protocol: "URI Specification"; Arrow Flight RPC.
"""

from __future__ import annotations

import contextlib
import errno
import hmac
import ipaddress
import socket
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from colkern.arrays import RecordBatchStream
from colkern.dissociated.connecting import ServiceReader, connect
from colkern.dissociated.sending import failure_text
from colkern.dissociated.serving import Server, serve
from colkern.dissociated.sources import Catalogue
from colkern.dissociated.transports import TRANSPORTS
from colkern.errors import StreamError, UnsupportedError
from colkern.ipc.limits import DEFAULT_LIMITS, Limits
from colkern.names import why_missing
from colkern.operations.moving import to_host

try:
    import pyarrow as pa
    from pyarrow import flight
except ImportError as error:
    message = f"colkern.dissociated.flight: {why_missing(error, 'pyarrow')}"
    raise ImportError(message, name=error.name) from None

# Flight's way to say: ask the service that gave you this location.
_HERE = "arrow-flight-reuse-connection://?"
_HEADER = "authorization"
_ABSENT = (
    ConnectionError,
    FileNotFoundError,
    PermissionError,
    TimeoutError,
    UnsupportedError,
    socket.gaierror,
)
"""Errors of a location that cannot be reached, or needs a missing package; others may work."""


class FlightService(flight.FlightServerBase):  # type: ignore[misc]
    """Named sources that Flight lists, and that servers of the Dissociated IPC protocol send.

    The service runs until `shutdown`. It is a context manager.

    Args:
        sources: Name → source, each as `colkern.dissociated.serve` takes it. A name is the descriptor's
            path (its parts joined by `/`) or command, and the ticket.
        location: The address at which Flight listens, `grpc://host:port`; port 0 for any free port.
        uris: The addresses at which the data is served, as `serve` takes them; a client uses the first
            one that it can reach.
        token: The token that clients need, for Flight (as a bearer token) and for the data.
        remote, limits: As for `serve`, as are errors.
        flight_options: Further arguments of `pyarrow.flight.FlightServerBase`, such as `tls_certificates`.
        options: Further arguments of `colkern.dissociated.serve`.
    """

    def __init__(
        self,
        sources: Mapping[str, object] | Mapping[bytes, object],
        location: str = "grpc://127.0.0.1:0",
        *,
        uris: Sequence[str] = ("tcp:",),
        token: str = "",
        remote: bool = False,
        limits: Limits = DEFAULT_LIMITS,
        flight_options: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        _check_location(location, remote)
        if remote and not token:
            raise ValueError("token: a service for other machines needs one")
        self._location = location
        self._names = [key.encode() if isinstance(key, str) else key for key in sources]
        self._catalogue = Catalogue(sources, limits)
        self._servers: list[Server] = []
        with contextlib.ExitStack() as started:
            for uri in uris:
                server = serve(self._catalogue, uri, token=token, remote=remote, **options)
                self._servers.append(started.enter_context(server))
            middleware = {"token": _Tokens(token)} if token else None
            super().__init__(location, middleware=middleware, **(flight_options or {}))
            started.pop_all()

    @property
    def location(self) -> str:
        """The address that Flight's clients connect to."""
        scheme, host = urlsplit(self._location).scheme, urlsplit(self._location).hostname or ""
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def servers(self) -> Sequence[Server]:
        """The servers of the data, in the order of the URIs."""
        return self._servers

    def shutdown(self) -> None:
        """Stop serving Flight and data. Further calls do nothing."""
        # Not `shutdown` of the base class, which may be called only once.
        super().__exit__(None, None, None)
        for server in self._servers:
            server.close()

    def __exit__(self, *failure: object) -> None:
        self.shutdown()

    def list_flights(self, context: object, criteria: bytes) -> Iterator[flight.FlightInfo]:
        """All names that start with the criteria, with their schemas (Flight's ListFlights)."""
        for name in self._names:
            if name.startswith(criteria):
                yield self._info(flight.FlightDescriptor.for_path(name), name)

    def get_flight_info(
        self, context: object, descriptor: flight.FlightDescriptor
    ) -> flight.FlightInfo:
        """Schema, ticket and URIs of one flight (GetFlightInfo)."""
        return self._info(descriptor, _name_of(descriptor))

    def get_schema(
        self, context: object, descriptor: flight.FlightDescriptor
    ) -> flight.SchemaResult:
        """The schema of one flight (GetSchema)."""
        return flight.SchemaResult(self._schema(_name_of(descriptor)))

    def do_get(self, context: object, ticket: flight.Ticket) -> flight.GeneratorStream:
        """The batches of a ticket by Flight (DoGet), for clients without the Dissociated IPC protocol."""
        with _as_flight_errors():
            stream = self._catalogue.open(ticket.ticket)
            schema = pa.schema(stream.schema)
        return flight.GeneratorStream(schema, _sent_by_flight(stream, schema))

    def _info(self, descriptor: flight.FlightDescriptor, name: bytes) -> flight.FlightInfo:
        locations = [*(server.uri for server in self._servers), _HERE]
        endpoint = flight.FlightEndpoint(flight.Ticket(name), locations)
        return flight.FlightInfo(self._schema(name), descriptor, [endpoint], -1, -1)

    def _schema(self, name: bytes) -> pa.Schema:
        with _as_flight_errors():
            return pa.schema(self._catalogue.schema(name))


class _Tokens(flight.ServerMiddlewareFactory):  # type: ignore[misc]
    """Refuses calls without the token."""

    def __init__(self, token: str) -> None:
        self._expected = _bearer(token)

    def start_call(self, info: object, headers: Mapping[str, Sequence[str | bytes]]) -> None:
        """Check the token; called before every method."""
        for value in headers.get(_HEADER, ()):
            token = value.encode() if isinstance(value, str) else value
            if hmac.compare_digest(token, self._expected):
                return
        raise flight.FlightUnauthenticatedError("the client's token is not the server's")


def connect_flight(
    location: str,
    name: str | bytes | flight.FlightDescriptor,
    *,
    token: str = "",
    timeout: float | None = 30.0,
    flight_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> ServiceReader:
    """Ask a Flight service where data is, and connect to it by the Dissociated IPC protocol.

    Args:
        location: The address of Flight: `grpc://host:port`.
        name: A name, which is the descriptor's path, or a descriptor.
        token: The service's token, for Flight and for the data.
        timeout: The most seconds for the answer, and for any later message from the server.
        flight_options: Further arguments of `pyarrow.flight.connect`, such as `tls_root_certs`.
        options: Further arguments of `colkern.dissociated.connect`.

    The first location of the endpoint that answers is used. `connect`, which gives the reader, lists
    further errors.

    Raises:
        StreamError: If Flight reports an error, or does not answer.
        UnsupportedError: If the data is in several endpoints, or no location uses this protocol.
        OSError: If no location answers; the error of the last one.
    """
    descriptor = name
    if not isinstance(name, flight.FlightDescriptor):
        descriptor = flight.FlightDescriptor.for_path(name)
    headers = [(_HEADER.encode(), _bearer(token))] if token else []
    try:
        with flight.connect(location, **(flight_options or {})) as client:
            info = client.get_flight_info(
                descriptor, flight.FlightCallOptions(timeout=timeout, headers=headers)
            )
    except (pa.ArrowException, OSError) as error:
        reason = str(error).partition(" Detail: ")[0]
        raise StreamError(errno.EIO, f"Flight at {location}: {reason}") from error
    (*others, last), identifier = _only_endpoint(info, location)
    for uri in others:
        with contextlib.suppress(*_ABSENT):
            return connect(uri, identifier, token=token, timeout=timeout, **options)
    return connect(last, identifier, token=token, timeout=timeout, **options)


def _only_endpoint(info: flight.FlightInfo, location: str) -> tuple[list[str], bytes]:
    """The URIs of the services, and the identifier to ask them for."""
    if len(info.endpoints) != 1:
        raise UnsupportedError(f"Flight at {location}: data in {len(info.endpoints)} endpoints")
    (endpoint,) = info.endpoints
    uris = [each.uri.decode(errors="replace") for each in endpoint.locations]
    ours = [uri for uri in uris if uri.partition(":")[0].lower() in TRANSPORTS]
    if not ours:
        raise UnsupportedError(
            f"Flight at {location}: none of its locations is of the Dissociated IPC protocol: "
            f"{', '.join(uris) or 'it has none'}; fetch the data with pyarrow.flight's do_get"
        )
    return ours, endpoint.ticket.ticket


def _sent_by_flight(
    stream: RecordBatchStream, schema: pa.Schema
) -> Iterator[flight.RecordBatchStream]:
    """Each batch with its dictionaries, which Flight leaves out of single batches."""
    with _as_flight_errors():
        for batch in stream:
            reader = pa.RecordBatchReader.from_batches(schema, [pa.record_batch(to_host(batch))])
            yield flight.RecordBatchStream(reader)


@contextlib.contextmanager
def _as_flight_errors() -> Iterator[None]:
    """Raise errors of a source as Flight's own, which do not send their traceback to the client."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - whatever a source raises
        raise flight.FlightServerError(failure_text(error)) from None


def _name_of(descriptor: flight.FlightDescriptor) -> bytes:
    if descriptor.descriptor_type is flight.DescriptorType.PATH:
        return b"/".join(descriptor.path)
    command: bytes = descriptor.command
    return command


def _bearer(token: str) -> bytes:
    if not (token.isascii() and token.isprintable()):
        raise ValueError("token: Flight's headers have printable ASCII characters only")
    return f"Bearer {token}".encode()


def _check_location(location: str, remote: bool) -> None:
    parts = urlsplit(location)
    if not parts.scheme.startswith("grpc") or parts.hostname is None or parts.port is None:
        raise ValueError(f"location: expected grpc://host:port, got {location}")
    addresses = {str(info[4][0]) for info in socket.getaddrinfo(parts.hostname, parts.port)}
    is_local = all(ipaddress.ip_address(each.partition("%")[0]).is_loopback for each in addresses)
    if not remote and not is_local:
        raise ValueError(
            f"location: other machines reach {parts.hostname!r}; pass remote=True and a token to serve them"
        )
