"""`connect`, which returns a reader of a service's batches.

Dissociated IPC protocol: "Client Sequence".
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from colkern.closing import OnFailure
from colkern.dissociated.bounds import DEFAULT_BOUNDS, Bounds, Traffic
from colkern.dissociated.leases import Frees
from colkern.dissociated.messages import CLIENT_BYTES, Hello
from colkern.dissociated.protocol.client import ClientStream
from colkern.dissociated.receiving import ReceivedMessages
from colkern.dissociated.transports import transport_of
from colkern.dissociated.transports.connection import Connection, FrameKind
from colkern.dissociated.uri import ServiceUri, parse_uri
from colkern.ipc.limits import DEFAULT_LIMITS, Limits
from colkern.ipc.reading.opening import destinations_of
from colkern.ipc.reading.readers import StreamReader
from colkern.memory import Device, device_named


class ServiceReader(StreamReader):
    """Reads the batches of a service, one after the other; see `connect` and `StreamReader`."""

    _messages: ReceivedMessages

    def __repr__(self) -> str:
        return f"<colkern.dissociated.ServiceReader: {len(self.schema)} columns>\n{self.schema}"

    @property
    def traffic(self) -> Traffic:
        """The bytes of bodies received so far."""
        return self._messages.traffic


@dataclass(frozen=True, slots=True)
class ConnectOptions:
    """The options of a received stream; see `connect`."""

    token: bytes = b""
    timeout: float | None = 30.0  #: For how many seconds nothing may come.
    sealed_only: bool = False  #: Whether to refuse mapped files.
    bounds: Bounds = DEFAULT_BOUNDS
    limits: Limits = DEFAULT_LIMITS
    first_sequence: int = 0  #: See `ClientStream`.
    #: The device to which bodies are copied; None to leave them where they arrive.
    device: Device | None = None


def connect(
    uri: str,
    identifier: bytes | str = b"",
    *,
    data_uri: str | None = None,
    columns: Sequence[int | str] | None = None,
    device: str | Device | None = None,
    trusted: bool = False,
    token: str | bytes = b"",
    timeout: float | None = 30.0,
    sealed_only: bool = False,
    bounds: Bounds = DEFAULT_BOUNDS,
    limits: Limits = DEFAULT_LIMITS,
) -> ServiceReader:
    """Connect to a service and ask it for data; the reader that is returned has the schema.

    >>> import colkern.dissociated as dissociated
    >>> with dissociated.connect(uri) as reader:  # doctest: +SKIP
    ...     for batch in reader:
    ...         print(batch.column("price"))

    Args:
        uri: The server's `uri`.
        identifier: The identifier of the data.
        data_uri: The URI of the service that sends bodies, if it is another one.
        columns: Names or positions of the columns to read; None for all.
        device: The device for bodies, as for `colkern.ipc.open`; None to leave them where they arrive,
            which over `cuda:` is the server's memory.
        trusted: See `colkern.ipc.open`.
        token: The token that the server requires.
        timeout: The most seconds without any message from the server, including heartbeats; None for no
            limit.
        sealed_only: Whether to refuse shared memory that the server could truncate during use, which
            would end this process (SIGBUS): that is possible for mapped files, but not for anonymous
            memory.
        bounds: The bounds of the stream.
        limits: The limits on untrusted input.

    Packed bodies are received in memory of this process. Locations are mapped for reading and not
    copied; when the last array over a body is gone, the server is told to free it. Close the reader, or
    read it to its end; batches stay valid.

    Raises:
        DeviceUnavailableError: If the server's memory is on a device that this process does not see.
        InvalidArrowError: If a URI is malformed, or the server breaks the protocol.
        StreamError: If the server reports an error, has ended, or sends nothing in time.
        OSError: If there is no such service.
        ValueError: If a URI has another scheme.
    """
    secret = token.encode() if isinstance(token, str) else token
    wanted = None if device is None else device_named(device)
    options = ConnectOptions(secret, timeout, sealed_only, bounds, limits, device=wanted)
    destinations = destinations_of(device, trusted)
    messages = open_stream(uri, data_uri, identifier, options)
    with OnFailure(messages.close):
        reader = ServiceReader(messages, limits, columns, destinations)
    if wanted is None:
        # Locations may be on any device that the server has used.
        reader.device = None
    reader._closing.append(messages.close)
    return reader


def open_stream(
    uri: str, data_uri: str | None, identifier: bytes | str, options: ConnectOptions
) -> ReceivedMessages:
    """As `connect`, but returns the messages of the stream, none of which has been received yet."""
    wanted = identifier.encode() if isinstance(identifier, str) else bytes(identifier)
    hello = Hello(secrets.token_bytes(CLIENT_BYTES), options.token)
    services = [parse_uri(each) for each in (uri, data_uri) if each is not None]
    transports = [transport_of(service.scheme) for service in services]
    with contextlib.ExitStack() as opened:
        connections = []
        for service, transport in zip(services, transports, strict=True):
            connection = transport.connect(service, bounds=options.bounds, timeout=options.timeout)
            opened.callback(connection.close)
            connections.append(connection)
            _ask(connection, service, hello, wanted)
        if type(connections[0]) is not type(connections[-1]):
            raise ValueError(f"data_uri: {data_uri} and {uri} cannot be waited for together")
        service, bodies = services[-1], connections[-1]
        reach = None
        if service.free_data is not None:
            reach = transports[-1].reach(bodies, service, sealed_only=options.sealed_only)
        stream = ClientStream(
            options.bounds,
            options.limits,
            in_order=True,
            first_sequence=options.first_sequence,
        )
        messages = ReceivedMessages(
            connections[0],
            bodies,
            transports[0].wait,
            reach,
            _frees(bodies, service),
            stream,
            options.timeout,
            options.device,
        )
        opened.pop_all()
    return messages


def _ask(connection: Connection, service: ServiceUri, hello: Hello, identifier: bytes) -> None:
    greeting = hello.encode()
    # A server that refuses a client sends the reason, which receiving raises.
    with contextlib.suppress(ConnectionError):
        connection.send(FrameKind.HELLO, len(greeting), [greeting])
        connection.send(FrameKind.TAGGED, len(identifier), [identifier], service.want_data)


def _frees(connection: Connection, service: ServiceUri) -> Frees:
    tag = service.free_data

    def try_send(addresses: bytes) -> bool:
        assert tag is not None
        return connection.try_send(FrameKind.TAGGED, addresses, tag)

    return Frees(try_send, connection.close)
