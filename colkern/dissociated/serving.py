"""`serve`, which serves batches to clients: a server with its services, their clients and streams.

Dissociated IPC protocol: "Server Sequence".
"""

from __future__ import annotations

import contextlib
import errno
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

from colkern.closing import Closing, OnFailure
from colkern.dissociated.bounds import DEFAULT_BOUNDS, Bounds, Traffic
from colkern.dissociated.messages import UNKNOWN, BodyType, Hello, parse_hello
from colkern.dissociated.protocol import ServerStream
from colkern.dissociated.sending import Sending, StreamOptions, Streams, encode_failure, messages_of
from colkern.dissociated.sharing import Pairing, SharedBytes, SharedMessages
from colkern.dissociated.sources import Catalogue, Source
from colkern.dissociated.transports import transport_of
from colkern.dissociated.transports.connection import (
    Connection,
    Frame,
    FrameKind,
    Listener,
    Transport,
)
from colkern.dissociated.uri import ServiceUri, parse_address
from colkern.errors import ColkernError, InvalidArrowError, StreamError
from colkern.ipc.limits import DEFAULT_LIMITS, Limits
from colkern.ipc.writing.data import WriteOptions
from colkern.ipc.writing.messages import Message

_JOIN_SECONDS = 5.0
_TELLING_SECONDS = 0.5
_UNTIL_NEXT_TRY = 0.002


@dataclass(frozen=True, slots=True)
class Service:
    """One URI, and the streams that clients get there."""

    transport: Transport
    listener: Listener
    uri: ServiceUri
    streams: Streams


class Terms(NamedTuple):
    """What a server asks of its clients; see `serve`."""

    token: bytes
    timeout: float
    heartbeat: float
    max_connections: int


class _Request(NamedTuple):
    """The request of a client over a connection."""

    service: Service
    connection: Connection
    stream: ServerStream
    hello: Hello
    identifier: bytes


class Server(Closing):
    """Serves until it is closed; a context manager. See `serve`."""

    def __init__(
        self, catalogue: Catalogue, services: list[Service], options: StreamOptions, terms: Terms
    ) -> None:
        self._catalogue = catalogue
        self._services = services
        self._options = options
        self._terms = terms
        self._lock = threading.Lock()
        self._connections: set[Connection] = set()
        # The connections that have not sent a request, with the time of their start.
        self._asking: dict[Connection, float] = {}
        self._sendings: dict[Sending, Traffic] = {}
        self._finished = Traffic()
        self._pairing: Pairing[SharedMessages] = Pairing()
        self._shared_bytes = SharedBytes(options.bounds.pending_bytes)
        self._closed = threading.Event()
        self._threads: set[threading.Thread] = set()
        for service in services:
            self._start(partial(self._accept, service), "accept")
        self._start(self._beat, "heartbeat")

    @property
    def uri(self) -> str:
        """The URI that clients connect to."""
        return str(self._services[0].uri)

    @property
    def data_uri(self) -> str | None:
        """The URI of the second service, for bodies; None if there is one service."""
        return str(self._services[1].uri) if len(self._services) > 1 else None

    @property
    def num_streams(self) -> int:
        """The number of streams under way, including those whose client has memory to free.

        A client of two services has two.
        """
        with self._lock:
            return len(self._sendings)

    @property
    def num_connections(self) -> int:
        """The number of connections; a client of two services has two."""
        with self._lock:
            return len(self._connections)

    @property
    def outstanding_bytes(self) -> int:
        """The number of bytes kept for clients that have not freed them."""
        with self._lock:
            return sum(sending.outstanding_bytes for sending in self._sendings)

    @property
    def traffic(self) -> Traffic:
        """The bytes of all bodies so far."""
        with self._lock:
            total = Traffic()
            for each in (self._finished, *self._sendings.values()):
                total.add(each)
            return total

    def close(self) -> None:
        """Accept no more clients, disconnect the present ones, and release memory announced to them."""
        if self._closed.is_set():
            return
        self._closed.set()
        for service in self._services:
            service.listener.close()
        self._pairing.give_up()
        with self._lock:
            connections, threads = list(self._connections), list(self._threads)
        for connection in connections:
            connection.close()
        end = time.monotonic() + _JOIN_SECONDS
        for thread in threads:
            if thread is not threading.current_thread():
                # A source that takes longer is left to end by itself.
                thread.join(max(end - time.monotonic(), 0))

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
            thread.start()
            self._threads.add(thread)

    def _accept(self, service: Service) -> None:
        while (connection := service.listener.accept()) is not None:
            if not self._has_room_for(connection):
                self._turn_away(
                    connection,
                    f"there are {self._terms.max_connections} connections, which is all that this server "
                    "takes; try again later, or raise max_connections where it is started",
                )
                continue
            try:
                self._start(partial(self._attend, service, connection), "receive")
            except RuntimeError as error:
                self._turn_away(connection, f"no thread for this client ({error}); try again later")

    def _has_room_for(self, connection: Connection) -> bool:
        """Count a connection, unless there are as many as allowed."""
        with self._lock:
            has_room = len(self._connections) < self._terms.max_connections
            if has_room:
                self._connections.add(connection)
            return has_room

    def _turn_away(self, connection: Connection, reason: str) -> None:
        self._refuse(connection, reason)
        connection.close()
        with self._lock:
            self._connections.discard(connection)

    def _beat(self) -> None:
        while not self._closed.wait(self._terms.heartbeat):
            self._beat_once()

    def _beat_once(self) -> None:
        # In a function of its own: while the thread waits, it must not keep references to ended
        # streams.
        latest = time.monotonic() - self._terms.timeout
        with self._lock:
            sendings = list(self._sendings)
            late = [each for each, since in self._asking.items() if since < latest]
        for sending in sendings:
            sending.beat()
        # A client that sends a byte now and then must not stay for ever.
        for connection in late:
            connection.stop_receiving()

    def _attend(self, service: Service, connection: Connection) -> None:
        """Receive from one client until it has gone."""
        sending: Sending | None = None
        try:
            if self._closed.is_set():
                return
            with self._expecting(connection):
                request = self._request(service, connection)
            sending = self._sending_for(request)
            while (frame := connection.receive(None)) is not None:
                sending.receive(frame)
        except TimeoutError:
            self._refuse(connection, "TimeoutError: the client has not asked for data in time")
        except ColkernError as error:
            self._refuse(connection, f"{type(error).__name__}: {error}")
        except OSError:
            # The connection was cut, by either side.
            pass
        finally:
            if sending is not None:
                sending.disconnected()
            connection.close()
            with self._lock:
                self._connections.discard(connection)

    @contextlib.contextmanager
    def _expecting(self, connection: Connection) -> Iterator[None]:
        with self._lock:
            self._asking[connection] = time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                del self._asking[connection]

    def _refuse(self, connection: Connection, reason: str) -> None:
        """Send a client the reason why it is refused, unless it accepts nothing."""
        end = time.monotonic() + _TELLING_SECONDS
        while not connection.try_send(FrameKind.FAILURE, encode_failure(reason)):
            if time.monotonic() > end:
                return
            time.sleep(_UNTIL_NEXT_TRY)

    def _request(self, service: Service, connection: Connection) -> _Request:
        """Wait for a client's hello and request; raises if they are missing or not allowed."""
        # The protocol itself has no hello: a client that needs no token, and has one connection,
        # may omit it.
        frame, hello = self._first(connection), UNKNOWN
        says_hello = frame.kind is FrameKind.HELLO
        if says_hello:
            hello = parse_hello(frame.data)
        if not hello.is_admitted(self._terms.token):
            raise InvalidArrowError("the client's token is not the server's")
        if says_hello:
            frame = self._first(connection)
        if frame.kind is not FrameKind.TAGGED:
            raise InvalidArrowError(
                f"a {frame.kind.name.lower()} frame where a client sends a tagged one, the request"
            )
        if not says_hello and len(self._services) > 1:
            raise InvalidArrowError(
                "a client of two services says hello first: that tells which connections are its own"
            )
        uri, options = service.uri, self._options
        stream = ServerStream(
            uri.want_data, uri.free_data, options.bounds, first_sequence=options.first_sequence
        )
        identifier = stream.receive(frame.tag, frame.data)
        assert identifier is not None
        return _Request(service, connection, stream, hello, identifier)

    def _first(self, connection: Connection) -> Frame:
        frame = connection.receive(self._terms.timeout)
        if frame is None:
            raise ConnectionResetError("the client has gone before it asked for data")
        return frame

    def _sending_for(self, request: _Request) -> Sending:
        """The stream that a client requests; with two services, after its requests at both."""
        if len(self._services) == 1:
            catalogue, options = self._catalogue, self._options
            return self._sending(
                request, lambda: messages_of(catalogue.open(request.identifier), options)
            )
        role = int(request.service is self._services[1])
        shared = self._shared(request, role)
        leave = partial(shared.leave, role)
        # Whatever happens, the other stream must not wait for this one.
        with OnFailure(leave):
            return self._sending(request, partial(shared.messages, role), leave)

    def _shared(self, request: _Request, role: int) -> SharedMessages:
        """The messages for a client of both services; waits for its requests at both."""
        key = request.hello.client, request.identifier
        half, is_other = self._pairing.other_or_wait(key, role)
        if is_other:
            half.complete(
                SharedMessages(
                    partial(self._opened, request.identifier),
                    self._options.bounds,
                    self._shared_bytes,
                    partial(self._start_for_client, name="source"),
                    self._terms.heartbeat,
                )
            )
        try:
            return half.result(self._terms.timeout)
        except TimeoutError:
            if self._pairing.forget(key, role, half):
                raise
            # The other request has come at the last moment.
            return half.result(self._terms.timeout)

    def _opened(self, identifier: bytes) -> list[Iterator[Message]]:
        streams = self._catalogue.open_for_two(identifier)
        return [messages_of(stream, self._options) for stream in streams]

    def _sending(
        self,
        request: _Request,
        open_messages: Callable[[], Iterator[Message]],
        leave: Callable[[], None] = lambda: None,
    ) -> Sending:
        service, connection = request.service, request.connection
        announcer = None
        if service.streams != "metadata":
            announcer = service.transport.announcer(connection, service.listener.remote_handle)
        traffic = Traffic()
        sending = Sending(
            connection, service.streams, announcer, request.stream, self._options, traffic, leave
        )
        with self._lock:
            self._sendings[sending] = traffic
        try:
            self._start_for_client(partial(self._send, sending, open_messages), "send")
        except BaseException:
            with self._lock:
                del self._sendings[sending]
            raise
        return sending

    def _start_for_client(self, work: Callable[[], None], name: str) -> None:
        try:
            self._start(work, name)
        except RuntimeError as error:
            raise StreamError(
                errno.EAGAIN, f"no thread for this client ({error}); try again later"
            ) from None

    def _send(self, sending: Sending, open_messages: Callable[[], Iterator[Message]]) -> None:
        try:
            sending.run(open_messages)
        finally:
            with self._lock:
                traffic = self._sendings.pop(sending)
                self._finished.add(traffic)


DEFAULT_MAX_CONNECTIONS = 512

_BODY_TYPES = {"packed": BodyType.PACKED, "locations": BodyType.LOCATIONS}


def serve(
    source: Source,
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
    max_connections: int = DEFAULT_MAX_CONNECTIONS,
    bounds: Bounds = DEFAULT_BOUNDS,
    limits: Limits = DEFAULT_LIMITS,
    **options: Any,
) -> Server:
    """Serve record batches by the Dissociated IPC protocol; returns at once.

    >>> import colkern.dissociated as dissociated
    >>> with dissociated.serve("table.arrow", "shm:") as server:  # doctest: +SKIP
    ...     print(server.uri)

    Args:
        source: A path of an IPC file or stream (mapped, and announced where it is); a batch or list of
            batches; a `RecordBatchStream` of a schema and a generator, or any iterable of batches; an
            object with Arrow's PyCapsule interface. Or a mapping from identifiers to sources, or a
            callable that takes an identifier (bytes) and returns a source. Iterators are sent to one
            client, all other sources to any number.
        uri: The address: `tcp://host:port`, `unix:///path`, `unix://@name`, `shm:///path`,
            `shm://@name`, `cuda:///path`, `cuda://@name`, `ucx://host:port` or `inproc://name`. Missing
            parts are chosen automatically. Tags may be given as parameters.
        data_uri: The address of a second service for bodies; clients send a request to both, and may
            read either stream first. None for a single service.
        streams: The streams that clients get here, if the others are served elsewhere, from equal
            batches.
        bodies: "packed", or "locations" if memory can be shared; None for the transport's default.
        bodies_first: Whether to send a body before its metadata, if both share a connection.
        token: The token that clients need.
        remote: Whether other machines may connect; that needs a token.
        timeout: The seconds within which a client must send its request, also to the other service.
        heartbeat: The seconds between signs to clients that the server is alive. If the source can be
            read only once, a client that reads all metadata before the bodies, or the reverse, may wait
            up to twice as long, once.
        max_connections: The most connections at a time; a client of two services has two. Each takes
            one or two threads, and a source that is read once for two connections takes one more.
            Further connections are refused.
        bounds: The bounds of each stream.
        limits: The limits on files that are served.
        options: See `colkern.ipc.WriteOptions`.

    Memory that is announced by its location must not change until the client has freed it.

    Raises:
        DeviceUnavailableError: If the scheme is `cuda`, and there is no device.
        OSError: If the address is not available.
        InvalidArrowError: If a URI is malformed.
        ValueError: If a URI or an option is invalid, or other machines could connect without `remote`.
    """
    if remote and not token:
        raise ValueError("token: a service for other machines needs one")
    if max_connections < 1:
        raise ValueError(f"max_connections: expected at least 1, got {max_connections}")
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
        Terms(
            token.encode() if isinstance(token, str) else token, timeout, heartbeat, max_connections
        ),
        remote=remote,
    )


def start_server(
    catalogue: Catalogue,
    uris: list[str],
    streams: Streams,
    options: StreamOptions,
    terms: Terms,
    *,
    remote: bool = False,
) -> Server:
    """As `serve`, with `StreamOptions`."""
    roles: list[Streams] = [streams] if len(uris) == 1 else ["metadata", "bodies"]
    services: list[Service] = []
    try:
        for uri, role in zip(uris, roles, strict=True):
            services.append(_service(uri, role, options, remote))
    except BaseException:
        for service in services:
            service.listener.close()
        raise
    return Server(catalogue, services, options, terms)


def _service(text: str, streams: Streams, options: StreamOptions, remote: bool) -> Service:
    scheme, address, want_data, free_data = parse_address(text)
    transport = transport_of(scheme)
    locations = streams != "metadata" and options.body_type is BodyType.LOCATIONS
    if locations and transport.body_type is not BodyType.LOCATIONS:
        raise ValueError(f"bodies: {scheme} shares no memory, so bodies are packed")
    want_data = secrets.randbits(64) if want_data is None else want_data
    if locations and free_data is None:
        free_data = want_data ^ 1
    listener = transport.listen(address, bounds=options.bounds, remote=remote)
    with OnFailure(listener.close):
        uri = ServiceUri(scheme, listener.address, want_data, free_data, listener.remote_handle)
    return Service(transport, listener, uri, streams)
