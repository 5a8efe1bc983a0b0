"""A server: its services, their clients, and the streams that are under way.

Dissociated IPC protocol: "Server Sequence".
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

from colkern.closing import Closing
from colkern.dissociated.hello import Hello, parse_hello
from colkern.dissociated.pairing import Pairing
from colkern.dissociated.protocol.server import ServerStream
from colkern.dissociated.sending import Sending, StreamOptions, encode_failure
from colkern.dissociated.sources import Catalogue
from colkern.dissociated.traffic import Traffic
from colkern.dissociated.transports.connection import (
    Connection,
    Frame,
    FrameKind,
    Listener,
    Transport,
)
from colkern.dissociated.uri import ServiceUri
from colkern.errors import ColkernError, InvalidArrowError

Streams = Literal["both", "metadata", "bodies"]
_JOIN_SECONDS = 5.0
_TELLING_SECONDS = 0.5
_UNTIL_NEXT_TRY = 0.002


@dataclass(frozen=True, slots=True)
class Service:
    """One URI, and which streams clients get there."""

    transport: Transport
    listener: Listener
    uri: ServiceUri
    streams: Streams


class _Asked(NamedTuple):
    """A client that has asked for data over a connection."""

    service: Service
    connection: Connection
    stream: ServerStream
    hello: Hello
    identifier: bytes


class Server(Closing):
    """Serves until it is closed; a context manager. See `serve`.

    Args:
        catalogue: What is served.
        services: Where.
        options: How streams are sent.
        token: What clients have to have.
        timeout: How long a client may take to ask.
        heartbeat: How often clients are told that the server is alive.
        max_connections: How many there may be at once.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        services: list[Service],
        options: StreamOptions,
        *,
        token: bytes,
        timeout: float,
        heartbeat: float,
        max_connections: int,
    ) -> None:
        self._catalogue = catalogue
        self._services = services
        self._options = options
        self._token = token
        self._timeout = timeout
        self._heartbeat = heartbeat
        self._max_connections = max_connections
        self._lock = threading.Lock()
        self._connections: set[Connection] = set()
        # Since when those are there that have not asked.
        self._asking: dict[Connection, float] = {}
        self._sendings: dict[Sending, Traffic] = {}
        self._finished = Traffic()
        self._pairing: Pairing[_Asked, Sending] = Pairing()
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
    def num_connections(self) -> int:
        """How many connections there are; a client of two services has two."""
        with self._lock:
            return len(self._connections)

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
                    f"there are {self._max_connections} connections, which is all that this server "
                    "takes; try again later, or raise max_connections where it is started",
                )
                continue
            try:
                self._start(partial(self._attend, service, connection), "receive")
            except RuntimeError as error:
                self._turn_away(connection, f"no thread for this client ({error}); try again later")

    def _has_room_for(self, connection: Connection) -> bool:
        """Count a connection in, unless there are as many as there may be."""
        with self._lock:
            has_room = len(self._connections) < self._max_connections
            if has_room:
                self._connections.add(connection)
            return has_room

    def _turn_away(self, connection: Connection, reason: str) -> None:
        self._refuse(connection, reason)
        connection.close()
        with self._lock:
            self._connections.discard(connection)

    def _beat(self) -> None:
        while not self._closed.wait(self._heartbeat):
            self._beat_once()

    def _beat_once(self) -> None:
        # In a frame that ends: while it waits, the thread must not keep streams that are over.
        latest = time.monotonic() - self._timeout
        with self._lock:
            sendings = list(self._sendings)
            late = [each for each, since in self._asking.items() if since < latest]
        for sending in sendings:
            sending.beat()
        # Whoever says a byte now and then is not silent, and must not stay for ever.
        for connection in late:
            connection.stop_receiving()

    def _attend(self, service: Service, connection: Connection) -> None:
        """Receive from one client until it has gone."""
        sending: Sending | None = None
        try:
            if self._closed.is_set():
                return
            with self._expecting(connection):
                asked = self._asked(service, connection)
            sending = self._sending_for(asked)
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
        """Tell a client why it is left, unless it takes nothing."""
        end = time.monotonic() + _TELLING_SECONDS
        while not connection.try_send(FrameKind.FAILURE, encode_failure(reason)):
            if time.monotonic() > end:
                return
            time.sleep(_UNTIL_NEXT_TRY)

    def _asked(self, service: Service, connection: Connection) -> _Asked:
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
        other: Streams = "bodies" if streams == "metadata" else "metadata"
        key = asked.hello.client, asked.identifier
        half, is_other = self._pairing.other_or_wait(key, streams, other, asked)
        if not is_other:
            try:
                return half.result(self._timeout)
            except TimeoutError:
                if self._pairing.forget(key, streams, half):
                    raise
                # It has asked there in the last moment.
                return half.result(self._timeout)
        pair = {streams: asked, other: half.asked}
        sending = self._sending(pair["metadata"], pair["bodies"], pair["bodies"])
        half.found(sending)
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
