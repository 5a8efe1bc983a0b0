"""`connect`, which returns a reader of a service's batches, and the messages that the reader gets.

Dissociated IPC protocol: "Client Sequence".
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import time
import weakref
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colkern.closing import OnFailure
from colkern.dissociated.bounds import DEFAULT_BOUNDS, Bounds, Traffic
from colkern.dissociated.leases import Frees
from colkern.dissociated.messages import CLIENT_BYTES, BodyLocations, Hello
from colkern.dissociated.protocol import ClientStream, Complete, ReceivedBody, buffers_of
from colkern.dissociated.transports import transport_of
from colkern.dissociated.transports.connection import Connection, Frame, FrameKind, Reach
from colkern.dissociated.uri import ServiceUri, parse_uri
from colkern.errors import ColkernError, InvalidArrowError, LimitExceededError, StreamError, placed
from colkern.ipc.enums import MessageHeader
from colkern.ipc.flatbuffer.tables import Record
from colkern.ipc.limits import DEFAULT_LIMITS, Limits
from colkern.ipc.reading.messages import Message, message_of
from colkern.ipc.reading.opening import destinations_of
from colkern.ipc.reading.readers import StreamReader
from colkern.ipc.reading.sources import Body, Memory
from colkern.ipc.writing.fetching import on_host
from colkern.memory import EMPTY, HOST, Buffer, Device, device_named


class ScatteredBody:
    """Access to separate buffers by their place in the packed body; `read` copies nothing."""

    def __init__(self, offsets: Sequence[int], buffers: Sequence[Buffer], size: int) -> None:
        self._offsets = offsets
        self._buffers = buffers
        self.size = size
        self.device = buffers[0].device if buffers else HOST

    def read(self, offset: int, length: int) -> Buffer:
        """A slice of a buffer, on any device."""
        if not length:
            return EMPTY
        number = bisect_right(self._offsets, offset) - 1
        begin = offset - self._offsets[number] if number >= 0 else -1
        if begin < 0 or begin + length > self._buffers[number].size:
            raise InvalidArrowError(
                f"{length} bytes at {offset}: they are in no buffer of the body"
            )
        buffer = self._buffers[number]
        return buffer if length == buffer.size else buffer[begin : begin + length]

    def read_into(self, offset: int, view: NDArray[np.uint8]) -> None:
        """Copy a range of host memory; the padding between buffers is zeros."""
        view[:] = 0
        end = offset + view.size
        number = max(bisect_right(self._offsets, offset) - 1, 0)
        while number < len(self._buffers) and self._offsets[number] < end:
            begin, buffer = self._offsets[number], self._buffers[number]
            low, high = max(begin, offset), min(begin + buffer.size, end)
            if low < high:
                view[low - offset : high - offset] = buffer.array[low - begin : high - begin]
            number += 1


Wait = Callable[[Sequence[Any], float | None], Sequence[Any]]


@dataclass(eq=False)
class ReceivedMessages:
    """The messages of a stream in order; each is received when it is asked for.

    `metadata` and `bodies` may be one connection. `reach` is None if locations cannot be reached, and
    `device` is None to leave bodies on the device on which they arrive. If nothing comes for `timeout`
    seconds, the stream fails.
    """

    metadata: Connection
    bodies: Connection
    wait: Wait
    reach: Reach | None
    frees: Frees
    stream: ClientStream
    timeout: float | None
    device: Device | None = None

    def __post_init__(self) -> None:
        self._open = {id(each): each for each in (self.metadata, self.bodies)}
        self._server_waits_since: float | None = None
        # For each connection that is waited for, the time since which nothing has come.
        self._silent_since: dict[int, float] = {}
        self._is_closed = False
        self.position = 0
        self.traffic = Traffic()
        self._finish = weakref.finalize(self, _finish, self.metadata, self.bodies, self.frees)

    def next(self) -> Message | None:
        """The next message with its body, or None at the end; see `Messages`."""
        self.frees.send()
        self._server_waits_since = None
        self._silent_since.clear()
        try:
            while (complete := self.stream.next()) is None:
                if self.stream.has_ended:
                    self.close()
                    return None
                for connection in self._ready():
                    self._receive(connection)
            message = self._message(complete)
        except BaseException as error:
            if self._is_closed and isinstance(error, ColkernError):
                raise _closed_meanwhile() from None
            self.close()
            raise
        if self._is_closed:
            # The stream was closed, and the server keeps nothing for this message.
            raise _closed_meanwhile()
        return message

    def settle_last(self) -> None:
        """Do nothing: bodies stay where they are."""

    def finish_last(self) -> None:
        """Do nothing: bodies have been received completely."""

    def close(self) -> None:
        """Leave the stream; batches that were read stay valid."""
        self._is_closed = True
        self._finish()
        # Memory without arrays over it need not stay mapped.
        self.reach = None

    def _ready(self) -> Sequence[Connection]:
        """The connections to receive from: those whose messages there is room for."""
        wanted = [
            each
            for each in self._open.values()
            if (each is self.metadata and self.stream.wants_metadata)
            or (each is self.bodies and self.stream.wants_bodies)
        ]
        if len(self._open) == 1 or len(wanted) == 1:
            self._silent_since.clear()
            return wanted or list(self._open.values())
        ready = self.wait(wanted, self._patience(wanted))
        # Messages over other connections do not show that this connection's server is alive.
        for each in wanted:
            if each not in ready and self._patience([each]) == 0:
                part = "metadata" if each is self.metadata else "bodies"
                raise self._timed_out(f" from the server of {part}")
        return ready

    def _patience(self, connections: Sequence[Connection]) -> float | None:
        """The seconds left in which one of several connections must send something; None for no limit."""
        if self.timeout is None:
            return None
        now = time.monotonic()
        since = min(self._silent_since.setdefault(id(each), now) for each in connections)
        return max(since + self.timeout - now, 0)

    def _receive(self, connection: Connection) -> None:
        try:
            frame = connection.receive(self.timeout)
        except TimeoutError:
            raise self._timed_out() from None
        except OSError as error:
            if isinstance(error, ColkernError):
                raise
            # The connection was reset, or the other machine cannot be reached any more.
            frame = None
        if frame is None:
            self._ended(connection)
            return
        self._silent_since.pop(id(connection), None)
        self.position += frame.data.nbytes
        if frame.kind is FrameKind.WAITING:
            self._server_waits()
            return
        self._server_waits_since = None
        self._take(connection, frame)

    def _take(self, connection: Connection, frame: Frame) -> None:
        if frame.kind is FrameKind.MESSAGE and connection is self.metadata:
            self.stream.receive_message(frame.data.tobytes())
        elif frame.kind is FrameKind.TAGGED and connection is self.bodies:
            self.stream.receive_body(frame.tag, frame.data)
        elif frame.kind is FrameKind.SENT and connection is self.bodies:
            self.stream.end_of_bodies()
        elif frame.kind is FrameKind.SEGMENT and (reach := self.reach) is not None:
            reach.take(frame)
        elif frame.kind is FrameKind.FAILURE:
            text = frame.data.tobytes().decode(errors="replace")
            raise StreamError(errno.EIO, f"the server reports: {text}")
        elif frame.kind is not FrameKind.HEARTBEAT:
            if frame.descriptor is not None:
                os.close(frame.descriptor)
            if frame.kind is FrameKind.SEGMENT:
                raise _no_way_to_locations()
            raise InvalidArrowError(
                f"a {frame.kind.name.lower()} frame, which does not belong on this connection"
            )

    def _ended(self, connection: Connection) -> None:
        del self._open[id(connection)]
        if connection is self.metadata:
            self.stream.end_of_metadata()
        if connection is self.bodies:
            self.stream.end_of_bodies()

    def _server_waits(self) -> None:
        """Handle the server's note that it waits for this client to free memory."""
        now = time.monotonic()
        if self._server_waits_since is None:
            self._server_waits_since = now
        if self.timeout is None or now - self._server_waits_since < self.timeout:
            return
        raise LimitExceededError(
            f"the server waits for {self.frees.in_use} bodies that are in use here, and "
            f"{self.stream.missing()} has not come; let go of batches, or raise "
            "Bounds.outstanding_bytes of the server"
        )

    def _timed_out(self, whence: str = "") -> StreamError:
        return StreamError(
            errno.ETIMEDOUT,
            f"nothing has come for {self.timeout} s{whence}; {self.stream.missing()} is the next to come",
        )

    def _message(self, complete: Complete) -> Message:
        sequence, record, body = complete
        place = f"message {sequence}"
        with placed(place):
            return message_of(record, self._body(record, body), place)

    def _body(self, record: Record, body: ReceivedBody | None) -> Body:
        if body is None:
            return Body(Memory(EMPTY), 0, 0)
        if isinstance(body, np.ndarray):
            self.traffic.packed_bytes += body.size
            return Body(Memory(Buffer(body)), 0, body.size)
        self.traffic.announced_bytes += sum(location.length for location in body.buffers)
        return Body(self._scattered(record, body), 0, record["bodyLength"])

    def _scattered(self, record: Record, body: BodyLocations) -> ScatteredBody:
        reach = self.reach
        if reach is None:
            raise _no_way_to_locations()
        buffers = buffers_of(record)
        offsets = buffers["offset"][buffers["length"] > 0].tolist()
        reached = reach.buffers(body, self.frees)
        may_stay = self.device is None or all(each.device == self.device for each in reached)
        if _is_compressed(record) or not may_stay:
            reached = list(on_host(reached))
        return ScatteredBody(offsets, reached, record["bodyLength"])


def _is_compressed(record: Record) -> bool:
    """Whether the buffers of a batch are compressed: decompression begins on the host."""
    header = record["header"]
    if record["header_type"] == MessageHeader.DictionaryBatch:
        header = header["data"] or {"compression": None}
    return header["compression"] is not None


def _no_way_to_locations() -> InvalidArrowError:
    return InvalidArrowError(
        "locations of a server that shares no memory, or whose URI has no free_data"
    )


def _closed_meanwhile() -> StreamError:
    return StreamError(errno.ECANCELED, "the reader was closed while it waited")


def _finish(metadata: Connection, bodies: Connection, frees: Frees) -> None:
    if metadata is not bodies:
        metadata.close()
    bodies.stop_receiving()
    frees.finish()


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
    copied; when the last array over a body is gone, the server frees it. Close the reader, or
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
            options.bounds, options.limits, in_order=True, first_sequence=options.first_sequence
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
