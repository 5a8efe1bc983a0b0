"""Both roles of the protocol as state machines that do no I/O.

The client puts messages and bodies, which come in any order, in sequence. The server handles requests,
numbers messages, and keeps memory until its client frees it.

Dissociated IPC protocol: "Client Sequence", "Server Sequence", "Data Stream Sequence".
Columnar format 1.5: "RecordBatch message".
"""

from __future__ import annotations

import errno
from collections import deque
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colkern.dissociated import messages
from colkern.dissociated.bounds import DEFAULT_BOUNDS, Bounds
from colkern.errors import InvalidArrowError, LimitExceededError, StreamError, placed
from colkern.ipc.enums import MessageHeader
from colkern.ipc.flatbuffer.tables import Record
from colkern.ipc.limits import DEFAULT_LIMITS, Limits
from colkern.ipc.reading.messages import check_metadata_size, decode_message
from colkern.ipc.wire import BUFFER
from colkern.targets import Items

_NO_BUFFERS = np.empty(0, BUFFER)


def has_body(record: Record) -> bool:
    """Whether a message has a body, sent as a tagged message: record and dictionary batches have."""
    return record["header_type"] in (MessageHeader.RecordBatch, MessageHeader.DictionaryBatch)


def buffers_of(record: Record) -> Items:
    """Offset and length of each `Buffer` of a record batch or a dictionary batch."""
    header = record["header"]
    if record["header_type"] == MessageHeader.DictionaryBatch:
        header = header["data"] or {"buffers": None}
    buffers: Items | None = header["buffers"]
    return _NO_BUFFERS if buffers is None else buffers


def check_packed(record: Record, size: int) -> None:
    """Raise `InvalidArrowError` unless a packed body has the size that its metadata states."""
    if size != record["bodyLength"]:
        raise InvalidArrowError(f"a body of {size} bytes, the metadata says {record['bodyLength']}")


def check_locations(record: Record, body: messages.BodyLocations) -> None:
    """Raise unless locations match the metadata's buffers, which must not overlap."""
    # The total is that of all buffers, or that of the packed body, which includes padding.
    buffers = buffers_of(record)
    if len(body.buffers) != buffers.size:
        raise InvalidArrowError(f"{len(body.buffers)} locations for {buffers.size} buffers")
    for number, (location, length) in enumerate(
        zip(body.buffers, buffers["length"].tolist(), strict=True)
    ):
        if location.length != length:
            raise InvalidArrowError(
                f"location {number} has {location.length} bytes, its buffer {length}"
            )
    stated = sum(location.length for location in body.buffers)
    if body.total not in (stated, record["bodyLength"]):
        raise InvalidArrowError(
            f"a total of {body.total} bytes; the buffers have {stated}, "
            f"the packed body {record['bodyLength']}"
        )
    _check_apart(buffers[buffers["length"] > 0].tolist(), record["bodyLength"])


def _check_apart(buffers: list[tuple[int, int]], body_length: int) -> None:
    end = 0
    for offset, length in buffers:
        if offset < end or length > body_length - offset:
            raise InvalidArrowError(
                f"buffer of {length} bytes at {offset}: buffers with locations follow each other within "
                f"{body_length} bytes"
            )
        end = offset + length


Part = Literal["metadata", "body"]

ReceivedBody = NDArray[np.uint8] | messages.BodyLocations
"""The bytes of a packed body, or the places of its buffers."""


class Complete(NamedTuple):
    """A message with its metadata and its body."""

    sequence: int
    record: Record  #: Its metadata, a `Message` table.
    body: ReceivedBody | None  #: Its body; None where it has none.


@dataclass(slots=True)
class _Pending:
    """The parts of a message that have arrived."""

    record: Record | None = None
    body: ReceivedBody | None = None
    size: int = 0

    @property
    def wants_body(self) -> bool:
        return self.record is not None and has_body(self.record) and self.body is None


@dataclass(eq=False)
class ClientStream:
    """One stream, as its client sees it.

    After any error the stream has failed: the caller must close the connection, so that the server
    frees the memory it has announced. With `in_order` transports, metadata that has not come before the
    end of the stream never will. By the protocol, `first_sequence` is 0; tests start near UINT32_MAX.
    """

    bounds: Bounds = DEFAULT_BOUNDS
    limits: Limits = DEFAULT_LIMITS
    in_order: bool = field(default=False, kw_only=True)
    first_sequence: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        self._next = self.first_sequence
        self._end: int | None = None
        self._pending: dict[int, _Pending] = {}
        # The number of pending messages that have their metadata.
        self._described = 0
        self._closed: set[Part] = set()
        self.pending_bytes = 0

    def receive_message(self, data: bytes) -> None:
        """Handle an untagged message."""
        sequence, metadata = messages.parse_metadata_message(data)
        if metadata is None:
            with placed(f"end of stream, message {sequence}"):
                self._receive_end(sequence)
            return
        with placed(f"message {sequence}"):
            pending = self._slot(sequence, len(metadata))
            if pending.record is not None:
                raise InvalidArrowError("its metadata came twice")
            check_metadata_size(len(metadata), self.limits)
            pending.record = decode_message(metadata, self.limits)
            self._described += 1
            _check_fits(pending)

    def receive_body(self, tag: int, data: NDArray[np.uint8]) -> None:
        """Handle a tagged message, a body; a packed one is kept without a copy."""
        sequence, body_type = messages.parse_body_tag(tag)
        with placed(f"body of message {sequence}"):
            self._receive_body(sequence, body_type is messages.BodyType.LOCATIONS, data)

    def _receive_body(self, sequence: int, has_locations: bool, data: NDArray[np.uint8]) -> None:
        # The metadata lists that many buffers in as few bytes; Python objects for them take far more.
        listed = data.nbytes - messages.LOCATION_BYTES
        if has_locations and listed > self.limits.metadata_bytes:
            raise LimitExceededError(
                f"{listed} bytes of locations are over the limit of {self.limits.metadata_bytes}; "
                "raise Limits.metadata_bytes to take them"
            )
        pending = self._slot(sequence, data.nbytes)
        if pending.body is not None:
            raise InvalidArrowError("it came twice")
        pending.body = messages.parse_locations(data) if has_locations else data
        _check_fits(pending)

    def next(self) -> Complete | None:
        """The next message in order, None if it has not arrived; `StreamError` if it cannot arrive."""
        pending = self._pending.get(self._next)
        if pending is None or pending.record is None or pending.wants_body:
            if self._missing_part() in self._closed and not self.has_ended:
                missing = self.missing()
                raise StreamError(errno.ECONNRESET, f"the server has gone before {missing} came")
            return None
        sequence, self._next = self._next, messages.after(self._next)
        del self._pending[sequence]
        self._described -= 1
        self.pending_bytes -= pending.size
        return Complete(sequence, pending.record, pending.body)

    @property
    def has_ended(self) -> bool:
        """Whether all messages of the stream have been taken."""
        return self._end == self._next

    @property
    def wants_metadata(self) -> bool:
        """Whether to go on reading metadata: it is needed now, or there is room for it."""
        if self._end is not None and not self._is_missing_metadata():
            return False
        pending = self._pending.get(self._next)
        return pending is None or pending.record is None or self._has_room

    @property
    def wants_bodies(self) -> bool:
        """Whether to go on reading bodies: one is needed now, or there is room for it."""
        pending = self._pending.get(self._next)
        return (pending is not None and pending.wants_body) or self._has_room

    def end_of_metadata(self) -> None:
        """Note that the metadata connection has ended; missing metadata then raises an error."""
        self._closed.add("metadata")

    def end_of_bodies(self) -> None:
        """Note that the connection of bodies has ended; a missing body then raises an error."""
        self._closed.add("body")

    def missing(self) -> str:
        """A description of the part of the next message that is missing."""
        return f"the {self._missing_part()} of message {self._next}"

    def _missing_part(self) -> Part:
        pending = self._pending.get(self._next)
        return "body" if pending is not None and pending.record is not None else "metadata"

    @property
    def _has_room(self) -> bool:
        return (
            self.pending_bytes < self.bounds.pending_bytes
            and len(self._pending) < self.bounds.pending_messages
        )

    def _receive_end(self, sequence: int) -> None:
        if self._end is not None:
            raise InvalidArrowError(f"the stream has ended with message {self._end}")
        if messages.distance(self._next, sequence) < 0:
            raise InvalidArrowError(f"message {self._next} is the next one")
        behind = [each for each in self._pending if messages.distance(sequence, each) >= 0]
        if behind:
            raise InvalidArrowError(f"message {behind[0]} came before it")
        self._end = sequence
        if self.in_order and self._is_missing_metadata():
            raise InvalidArrowError(f"a gap: {self._first_gap()} has not come before it")

    def _first_gap(self) -> str:
        sequence = self._next
        while (pending := self._pending.get(sequence)) is not None and pending.record is not None:
            sequence = messages.after(sequence)
        return f"message {sequence}"

    def _is_missing_metadata(self) -> bool:
        assert self._end is not None
        return self._described != messages.distance(self._next, self._end)

    def _slot(self, sequence: int, size: int) -> _Pending:
        """The pending parts of a message; raises if it is overdue, or if there is no room for it."""
        ahead = messages.distance(self._next, sequence)
        if ahead < 0:
            raise InvalidArrowError(f"it came before: message {self._next} is the next one")
        if self._end is not None and messages.distance(self._end, sequence) >= 0:
            raise InvalidArrowError(f"the stream ends with message {self._end}")
        if ahead >= self.bounds.pending_messages:
            raise LimitExceededError(
                f"{ahead} ahead of message {self._next}, the next one; "
                "raise Bounds.pending_messages to let so many wait"
            )
        if ahead and self.pending_bytes >= self.bounds.pending_bytes:
            raise LimitExceededError(
                f"{self.pending_bytes} bytes wait for {self.missing()}; "
                "raise Bounds.pending_bytes to let more wait"
            )
        pending = self._pending.setdefault(sequence, _Pending())
        pending.size += size
        self.pending_bytes += size
        return pending


def _check_fits(pending: _Pending) -> None:
    record, body = pending.record, pending.body
    if record is None or body is None:
        return
    if not has_body(record):
        raise InvalidArrowError("a body for a message that has none")
    if isinstance(body, messages.BodyLocations):
        check_locations(record, body)
    else:
        check_packed(record, body.nbytes)


_REMEMBERED_FREES = 1024


class _Hold(NamedTuple):
    """Memory that is kept for a client: its owner, and the number of bytes to count."""

    owner: object
    size: int


@dataclass(eq=False)
class ServerStream:
    """One stream, as its server sees it. `free_data` is None if locations are never sent."""

    want_data: int
    free_data: int | None = None
    bounds: Bounds = DEFAULT_BOUNDS
    first_sequence: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        self._next = self.first_sequence
        self._was_asked = False
        self.has_ended = False
        """Whether the metadata stream has been ended."""
        self._held: dict[int, deque[_Hold]] = {}
        self._freed: deque[int] = deque(maxlen=_REMEMBERED_FREES)
        self.outstanding_bytes = 0

    def receive(self, tag: int, data: bytes | NDArray[np.uint8]) -> bytes | None:
        """Handle a tagged message; returns the identifier of a request, or None if it frees memory."""
        if tag == self.want_data:
            if self._was_asked:
                raise InvalidArrowError("a second want_data message for one stream")
            self._was_asked = True
            return bytes(data)
        if tag != self.free_data:
            raise InvalidArrowError(f"a message with tag {tag:#x}; expected want_data or free_data")
        if not self._was_asked:
            raise InvalidArrowError("a free_data message before the request")
        for address in messages.parse_addresses(data):
            self._free(address)
        return None

    def take_sequence(self) -> int:
        """The sequence number for the next message to send."""
        sequence, self._next = self._next, messages.after(self._next)
        return sequence

    def may_announce(self, size: int) -> bool:
        """Whether `size` bytes may be announced now; a single body may exceed the bound."""
        outstanding = self.outstanding_bytes
        return not outstanding or outstanding + size <= self.bounds.outstanding_bytes

    def announce(self, locations: messages.BodyLocations, owners: list[object], size: int) -> None:
        """Keep memory, by location and owner, until the client has freed it as often as announced."""
        addresses = locations.addresses()
        for number, (address, owner) in enumerate(zip(addresses, owners, strict=True)):
            # The bytes are given back with the last of them.
            counted = size if number == len(addresses) - 1 else 0
            self._held.setdefault(address, deque()).append(_Hold(owner, counted))
            self.outstanding_bytes += counted

    def end(self) -> bytes:
        """The message that ends the metadata stream."""
        self.has_ended = True
        return messages.end_of_stream(self._next)

    @property
    def is_holding(self) -> bool:
        """Whether memory is kept that the client has not freed yet."""
        return bool(self._held)

    def disconnected(self) -> None:
        """Note that the client has gone: nothing is kept for it."""
        self._held.clear()
        self.outstanding_bytes = 0

    def _free(self, address: int) -> None:
        holds = self._held.get(address)
        if holds is None:
            why = (
                "it was freed before"
                if address in self._freed
                else "it was not announced to this client"
            )
            raise InvalidArrowError(f"free_data: address {address:#x}: {why}")
        self.outstanding_bytes -= holds.popleft().size
        if not holds:
            del self._held[address]
            self._freed.append(address)
