"""`serve`: batches to whoever connects.

Dissociated IPC protocol: "Server Sequence".
"""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self

from colkern.dissociated.bounds import DEFAULT_BOUNDS, Bounds
from colkern.dissociated.hello import Hello, parse_hello
from colkern.dissociated.protocol.server import ServerStream
from colkern.dissociated.sending import Sending, StreamOptions, encode_failure
from colkern.dissociated.sources import Catalogue
from colkern.dissociated.tags import BodyType
from colkern.dissociated.traffic import Traffic
from colkern.dissociated.transports import transport_of
from colkern.dissociated.transports.connection import (
    Connection,
    Frame,
    FrameKind,
    Listener,
    Transport,
)
from colkern.dissociated.uri import ServiceUri, parse_address
from colkern.errors import ColkernError, InvalidArrowError
from colkern.ipc.limits import DEFAULT_LIMITS, Limits
from colkern.ipc.writing.options import WriteOptions

Streams = Literal["both", "metadata", "bodies"]
_JOIN_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class _Service:
    """One URI, and which streams clients get there."""

    transport: Transport
    listener: Listener
    uri: ServiceUri
    streams: Streams


class _Asked(NamedTuple):
    """A client that has asked for data over a connection."""

    service: _Service
    connection: Connection
    stream: ServerStream
    hello: Hello
    identifier: bytes


class Server:
    """Serves until it is closed; a context manager. See `serve`.

    Args:
        catalogue: What is served.
        services: Where.
        options: How streams are sent.
        token: What clients have to have.
        timeout: How long a client may take to ask.
        heartbeat: How often clients are told that the server is alive.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        services: list[_Service],
        options: StreamOptions,
        *,
        token: bytes,
        timeout: float,
        heartbeat: float,
    ) -> None:
        self._catalogue = catalogue
        self._services = services
        self._options = options
        self._token = token
        self._timeout = timeout
        self._heartbeat = heartbeat
        self._lock = threading.Lock()
        self._connections: set[Connection] = set()
        self._sendings: dict[Sending, Traffic] = {}
        self._finished = Traffic()
        self._halves: dict[tuple[bytes, bytes, str], _Half] = {}
        self._closed = threading.Event()
        self._threads: set[threading.Thread] = set()
        for service in services:
            self._start(partial(self._accept, service), "accept")
        self._start(self._beat, "heartbeat")

    @property
    def uri(self) -> str:
        """What clients connect to."""
        return str(self._services[0].uri)

    @property
    def data_uri(self) -> str | None:
        """What they connect to for bodies, where that is another service."""
        return str(self._services[1].uri) if len(self._services) > 1 else None

    @property
    def num_streams(self) -> int:
        """How many streams are under way, those whose client has memory to free included."""
        with self._lock:
            return len(self._sendings)

    @property
    def outstanding_bytes(self) -> int:
        """How many bytes are kept for clients that have not freed them."""
        with self._lock:
            return sum(sending.outstanding_bytes for sending in self._sendings)

    @property
    def traffic(self) -> Traffic:
        """The bytes of all bodies so far."""
        with self._lock:
            every = [self._finished, *self._sendings.values()]
            return Traffic(
                sum(each.packed_bytes for each in every),
                sum(each.announced_bytes for each in every),
                sum(each.placed_bytes for each in every),
            )

    def close(self) -> None:
        """Take no more clients and leave those there are; what was announced to them is let go."""
        if self._closed.is_set():
            return
        self._closed.set()
        for service in self._services:
            service.listener.close()
        with self._lock:
            connections, threads = list(self._connections), list(self._threads)
        for connection in connections:
            connection.close()
        for thread in threads:
            if thread is not threading.current_thread():
                # A source that takes longer is left to end by itself.
                thread.join(_JOIN_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<colkern.dissociated.Server at {self.uri}>"

    def _start(self, work: Callable[[], None], name: str) -> None:
        def run() -> None:
            try:
                work()
            finally:
                with self._lock:
                    self._threads.discard(thread)

        thread = threading.Thread(target=run, name=f"colkern-{name}", daemon=True)
        with self._lock:
            self._threads.add(thread)
            thread.start()

    def _accept(self, service: _Service) -> None:
        while (connection := service.listener.accept()) is not None:
            with self._lock:
                self._connections.add(connection)
            self._start(partial(self._attend, service, connection), "receive")

    def _beat(self) -> None:
        while not self._closed.wait(self._heartbeat):
            with self._lock:
                sendings = list(self._sendings)
            for sending in sendings:
                sending.beat()

    def _attend(self, service: _Service, connection: Connection) -> None:
        """Receive from one client until it has gone."""
        sending: Sending | None = None
        try:
            if self._closed.is_set():
                return
            sending = self._sending_for(self._asked(service, connection))
            while (frame := connection.receive(None)) is not None:
                sending.receive(frame)
        except TimeoutError:
            self._refuse(connection, "TimeoutError: the client has not asked for data in time")
        except ColkernError as error:
            self._refuse(connection, f"{type(error).__name__}: {error}")
        except OSError:
            # It was cut, on either side.
            pass
        finally:
            if sending is not None:
                sending.disconnected(connection)
            connection.close()
            with self._lock:
                self._connections.discard(connection)

    def _refuse(self, connection: Connection, reason: str) -> None:
        connection.try_send(FrameKind.FAILURE, encode_failure(reason))

    def _asked(self, service: _Service, connection: Connection) -> _Asked:
        """Wait for a client to say hello and ask; raises if it does not, or must not."""
        hello = parse_hello(self._first(connection, FrameKind.HELLO).data)
        if not hello.is_admitted(self._token):
            raise InvalidArrowError("the client's token is not the server's")
        uri, options = service.uri, self._options
        stream = ServerStream(
            uri.want_data, uri.free_data, options.bounds, first_sequence=options.first_sequence
        )
        frame = self._first(connection, FrameKind.TAGGED)
        identifier = stream.receive(frame.tag, frame.data)
        assert identifier is not None
        return _Asked(service, connection, stream, hello, identifier)

    def _first(self, connection: Connection, kind: FrameKind) -> Frame:
        frame = connection.receive(self._timeout)
        if frame is None:
            raise ConnectionResetError("the client has gone before it asked for data")
        if frame.kind is not kind:
            raise InvalidArrowError(
                f"a {frame.kind.name.lower()} frame where a client sends a {kind.name.lower()} one"
            )
        return frame

    def _sending_for(self, asked: _Asked) -> Sending:
        """The stream that a client has asked for; with two services, once it has asked at both."""
        streams = asked.service.streams
        if len(self._services) == 1:
            metadata = None if streams == "bodies" else asked
            bodies = None if streams == "metadata" else asked
            return self._sending(metadata, bodies, asked)
        client, identifier = asked.hello.client, asked.identifier
        other = "bodies" if streams == "metadata" else "metadata"
        with self._lock:
            waiting = self._halves.pop((client, identifier, other), None)
            if waiting is None:
                half = self._halves[client, identifier, streams] = _Half(asked)
        if waiting is None:
            try:
                return half.sending(self._timeout)
            finally:
                with self._lock:
                    self._halves.pop((client, identifier, streams), None)
        pair = {streams: asked, other: waiting.asked}
        sending = self._sending(pair["metadata"], pair["bodies"], pair["bodies"])
        waiting.found(sending)
        return sending

    def _sending(self, metadata: _Asked | None, bodies: _Asked | None, main: _Asked) -> Sending:
        announcer = None
        if bodies is not None:
            service = bodies.service
            announcer = service.transport.announcer(
                bodies.connection, service.listener.remote_handle
            )
        traffic = Traffic()
        sending = Sending(
            None if metadata is None else metadata.connection,
            None if bodies is None else bodies.connection,
            announcer,
            main.stream,
            self._options,
            traffic,
        )
        with self._lock:
            self._sendings[sending] = traffic
        self._start(partial(self._send, sending, main.identifier), "send")
        return sending

    def _send(self, sending: Sending, identifier: bytes) -> None:
        try:
            sending.run(lambda: self._catalogue.open(identifier))
        finally:
            with self._lock:
                traffic = self._sendings.pop(sending)
                self._finished.add(traffic)


class _Half:
    """A client that has asked at one of two services."""

    def __init__(self, asked: _Asked) -> None:
        self.asked = asked
        self._event = threading.Event()
        self._sending: Sending | None = None

    def found(self, sending: Sending) -> None:
        """It has asked at the other one."""
        self._sending = sending
        self._event.set()

    def sending(self, timeout: float) -> Sending:
        """The stream, once it has; raises `TimeoutError`."""
        if not self._event.wait(timeout):
            raise TimeoutError
        assert self._sending is not None
        return self._sending


def serve(
    source: Any,
    uri: str = "tcp://127.0.0.1:0",
    *,
    data_uri: str | None = None,
    streams: Streams = "both",
    bodies: Literal["packed", "locations"] | None = None,
    bodies_first: bool = False,
    token: str | bytes = b"",
    remote: bool = False,
    timeout: float = 30.0,
    heartbeat: float = 5.0,
    bounds: Bounds = DEFAULT_BOUNDS,
    limits: Limits = DEFAULT_LIMITS,
    **options: Any,
) -> Server:
    """Serve record batches by the Dissociated IPC protocol; returns at once.

    >>> import colkern.dissociated as dissociated
    >>> with dissociated.serve("table.arrow", "shm:") as server:  # doctest: +SKIP
    ...     print(server.uri)

    Args:
        source: What clients get: a path of an IPC file or stream (mapped, and announced where it is); a
            batch or list of batches; a `RecordBatchStream` of a schema and a generator, or any iterable
            of batches; an object with Arrow's PyCapsule interface. Or a mapping from identifiers to
            sources, or a callable that takes an identifier (bytes) and returns a source. Iterators are
            given to one client, all else to any number.
        uri: Where: `tcp://host:port`, `unix:///path`, `shm:///path` or `inproc://name`. What is left
            out is chosen. Tags may be given as parameters.
        data_uri: A second service, for bodies; clients ask at both. None for one service for all.
        streams: Which streams clients get, if the others are served elsewhere, from equal batches.
        bodies: "packed", or "locations" where memory can be shared; None for what the transport is for.
        bodies_first: Whether a body is sent before its metadata.
        token: What clients must have, too.
        remote: Whether other machines may connect; that needs a token.
        timeout: How many seconds a client may take to ask, or to ask at the other service.
        heartbeat: Every so many seconds clients hear that the server is alive.
        bounds: What may be under way for each client.
        limits: What may be spent on files that are served.
        options: See `colkern.ipc.WriteOptions`.

    What is announced by its location must not change until the client has freed it.

    Raises:
        OSError: If the address cannot be had.
        InvalidArrowError: If a URI is malformed.
        ValueError: If a URI or an option is not right, or other machines could connect and should not.
    """
    if remote and not token:
        raise ValueError("token: a service for other machines needs one")
    transport_named = transport_of(parse_address(data_uri or uri)[0])
    write_options = WriteOptions(**options)
    body_type = transport_named.body_type if bodies is None else _BODY_TYPES[bodies]
    if body_type is BodyType.LOCATIONS and write_options.compression is not None:
        raise ValueError(
            "compression: bodies of locations are not compressed; pass bodies='packed'"
        )
    stream_options = StreamOptions(body_type, write_options, bounds, bodies_first)
    return start_server(
        source if isinstance(source, Catalogue) else Catalogue(source, limits),
        [uri] if data_uri is None else [uri, data_uri],
        streams,
        stream_options,
        token=token,
        remote=remote,
        timeout=timeout,
        heartbeat=heartbeat,
    )


_BODY_TYPES = {"packed": BodyType.PACKED, "locations": BodyType.LOCATIONS}


def start_server(
    catalogue: Catalogue,
    uris: list[str],
    streams: Streams,
    options: StreamOptions,
    *,
    token: str | bytes,
    remote: bool,
    timeout: float,
    heartbeat: float,
) -> Server:
    """As `serve`, with all options as they are sent with."""
    roles: list[Streams] = [streams] if len(uris) == 1 else ["metadata", "bodies"]
    services: list[_Service] = []
    try:
        for uri, role in zip(uris, roles, strict=True):
            services.append(_service(uri, role, options, remote))
    except BaseException:
        for service in services:
            service.listener.close()
        raise
    secret = token.encode() if isinstance(token, str) else token
    return Server(catalogue, services, options, token=secret, timeout=timeout, heartbeat=heartbeat)


def _service(text: str, streams: Streams, options: StreamOptions, remote: bool) -> _Service:
    scheme, address, want_data, free_data = parse_address(text)
    transport = transport_of(scheme)
    locations = streams != "metadata" and options.body_type is BodyType.LOCATIONS
    if locations and transport.body_type is not BodyType.LOCATIONS:
        raise ValueError(f"bodies: {scheme} shares no memory, so bodies are packed")
    want_data = secrets.randbits(64) if want_data is None else want_data
    if locations and free_data is None:
        free_data = want_data ^ 1
    listener = transport.listen(address, bounds=options.bounds, remote=remote)
    with contextlib.ExitStack() as stack:
        stack.callback(listener.close)
        uri = ServiceUri(scheme, listener.address, want_data, free_data, listener.remote_handle)
        stack.pop_all()
    return _Service(transport, listener, uri, streams)
