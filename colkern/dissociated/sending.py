"""Sends one stream to one client over one connection: metadata, bodies, or both.

Dissociated IPC protocol: "Server Sequence".
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from colkern.arrays import RecordBatchStream
from colkern.dissociated.bounds import DEFAULT_BOUNDS, Bounds, Traffic
from colkern.dissociated.messages import BodyType, body_tag, metadata_prefix
from colkern.dissociated.protocol import ServerStream
from colkern.dissociated.transports.connection import Announcer, Connection, Frame, FrameKind
from colkern.errors import InvalidArrowError
from colkern.ipc.writing.batch_messages import BatchMessages
from colkern.ipc.writing.data import WriteOptions
from colkern.ipc.writing.fetching import Chunk
from colkern.ipc.writing.messages import Body, Message
from colkern.memory import Buffer

_FAILURE_BYTES = 4096


class SeparateBuffers(Body):
    """A body that also keeps its separate buffers, on their devices."""

    def __init__(self, alignment: int) -> None:
        super().__init__(alignment)
        self.buffers: list[Buffer] = []

    def add(self, chunks: Sequence[Chunk]) -> tuple[int, int]:
        """Refuse a compressed buffer, as locations of compressed buffers are not sent."""
        raise ValueError("compression: bodies of locations are the buffers themselves")

    def add_buffer(self, buffer: Buffer) -> tuple[int, int]:
        """Append a buffer; see `Body.add_buffer`."""
        self.buffers.append(buffer)
        return super().add_buffer(buffer)


Streams = Literal["both", "metadata", "bodies"]
"""The parts of each message that go over a connection."""


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """The options of sent streams."""

    body_type: BodyType
    options: WriteOptions
    bounds: Bounds = DEFAULT_BOUNDS
    #: Whether to send a body before its metadata, which clients must accept, too.
    bodies_first: bool = False
    first_sequence: int = 0  #: See `ClientStream`.


def messages_of(source: RecordBatchStream, options: StreamOptions) -> Iterator[Message]:
    """The messages of a stream: that of the schema, then those of each batch."""
    new_body: Callable[[], Body] | None = None
    if options.body_type is BodyType.LOCATIONS:
        new_body = partial(SeparateBuffers, options.options.alignment)
    messages = BatchMessages(
        source.schema, options.options, deltas=False, may_replace=True, new_body=new_body
    )
    yield messages.of_schema()
    for batch in source:
        yield from messages.of_batch(batch)


@dataclass(eq=False)
class Sending:
    """The server's side of one stream, after the request.

    `run` sends, in its own thread; the thread that receives from the client calls `receive`. `streams`
    says which parts of messages are sent here. `announcer` is None if bodies are packed, or not sent
    here. `leave` is called when the client has gone.
    """

    connection: Connection
    streams: Streams
    announcer: Announcer | None
    stream: ServerStream
    options: StreamOptions
    traffic: Traffic
    leave: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        self._changed = threading.Condition()
        self._is_gone = False
        self._is_waiting = False
        self._is_announcing = False

    def run(self, open_messages: Callable[[], Iterator[Message]]) -> None:
        """Send a source, and wait until the client has freed everything that was announced."""
        # An error of the source ends the stream, and is sent to the client. The connection stays
        # open in this direction, too, until everything is freed: for errors in messages that free
        # memory.
        try:
            self._send_stream(open_messages())
        except BaseException as error:  # noqa: BLE001 - whatever a source raises, and the connection
            self._fail(failure_text(error))
        self.leave()
        with self._changed:
            self._changed.wait_for(lambda: self._is_gone or not self.stream.is_holding)
        self.connection.finish()

    def receive(self, frame: Frame) -> None:
        """Handle a frame from the client; raises `InvalidArrowError` if it breaks the protocol."""
        if frame.kind is not FrameKind.TAGGED:
            raise InvalidArrowError(f"a {frame.kind.name.lower()} frame from a client")
        with self._changed:
            self.stream.receive(frame.tag, frame.data)
            self._changed.notify_all()

    def disconnected(self) -> None:
        """Note that the connection has ended: nothing more is sent, or kept for the client."""
        with self._changed:
            self._is_gone = True
            self._let_go()
            self._changed.notify_all()
        self.leave()
        self.connection.close()

    @property
    def outstanding_bytes(self) -> int:
        """The number of bytes kept for the client."""
        return self.stream.outstanding_bytes

    def _fail(self, reason: str) -> None:
        data = encode_failure(reason)
        with contextlib.suppress(OSError):
            self.connection.send(FrameKind.FAILURE, len(data), [data])

    def beat(self) -> None:
        """Tell the client that the server is alive, or that it waits for the client."""
        kind = FrameKind.WAITING if self._is_waiting else FrameKind.HEARTBEAT
        self.connection.try_send(kind, b"")

    def _send_stream(self, messages: Iterator[Message]) -> None:
        for message in messages:
            self._send(message)
        end = self.stream.end()
        if self.streams != "bodies":
            self.connection.send(FrameKind.MESSAGE, len(end), [end])
        elif self.stream.is_holding:
            # The connection of bodies stays open, and has no end of stream that would tell the
            # client.
            self.connection.send(FrameKind.SENT, 0, [])

    def _send(self, message: Message) -> None:
        with self._changed:
            sequence = self.stream.take_sequence()
        steps: Sequence[Callable[[Message, int], None]]
        steps = (self._send_metadata, self._send_body)
        for step in reversed(steps) if self.options.bodies_first else steps:
            step(message, sequence)

    def _send_metadata(self, message: Message, sequence: int) -> None:
        if self.streams == "bodies":
            return
        parts = [metadata_prefix(sequence), message.encode()]
        self.connection.send(FrameKind.MESSAGE, sum(map(len, parts)), parts)

    def _send_body(self, message: Message, sequence: int) -> None:
        body = message.body
        if self.streams == "metadata" or body is None:
            return
        if isinstance(body, SeparateBuffers):
            self._announce(body, sequence)
            return
        with body.chunks() as chunks:
            tag = body_tag(sequence, BodyType.PACKED)
            self.connection.send(FrameKind.TAGGED, body.size, chunks, tag)
        self.traffic.packed_bytes += body.size

    def _announce(self, body: SeparateBuffers, sequence: int) -> None:
        assert self.announcer is not None
        size = sum(buffer.size for buffer in body.buffers)
        self._wait_until_it_may_announce(size)
        try:
            locations, owners, counted, placed = self.announcer.announce(body.buffers)
        finally:
            with self._changed:
                self._is_announcing = False
                self._let_go()
        with self._changed:
            if self._is_gone:
                raise BrokenPipeError("the client has gone")
            self.stream.announce(locations, owners, counted)
        self.traffic.announced_bytes += size
        self.traffic.placed_bytes += placed
        data = locations.encode()
        tag = body_tag(sequence, BodyType.LOCATIONS)
        self.connection.send(FrameKind.TAGGED, len(data), [data], tag)

    def _wait_until_it_may_announce(self, size: int) -> None:
        with self._changed:
            self._is_waiting = True
            self._changed.wait_for(lambda: self._is_gone or self.stream.may_announce(size))
            self._is_waiting = False
            if self._is_gone:
                raise BrokenPipeError("the client has gone")
            self._is_announcing = True

    def _let_go(self) -> None:
        """Release everything that is kept for a client that has gone."""
        # A new body must not be placed in memory that the client had, and may still read.
        if self._is_gone and not self._is_announcing:
            self.stream.disconnected()


def encode_failure(reason: str) -> bytes:
    """The text of an error for a client; the protocol itself has no message for errors."""
    return reason.encode(errors="backslashreplace")[:_FAILURE_BYTES]


def failure_text(error: BaseException) -> str:
    """The text of an exception for the other side, without its traceback."""
    name = type(error).__name__
    try:
        return f"{name}: {error.args[0] if isinstance(error, KeyError) and error.args else error}"
    except Exception:  # noqa: BLE001 - whatever a source's error does
        return name
