"""The interface of transports: delimited messages, tagged messages, and access to memory.

To add a transport, put a class with the methods of `Transport` into `colkern.dissociated.transports`.

Dissociated IPC protocol: "Requirements".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from colkern.dissociated.bounds import Bounds
from colkern.dissociated.leases import Frees
from colkern.dissociated.messages import BodyLocations, BodyType
from colkern.dissociated.uri import ServiceUri
from colkern.ipc.writing.fetching import Chunk
from colkern.memory import Buffer


class FrameKind(IntEnum):
    """The kinds of frames: the protocol's two kinds of messages, and those of transports."""

    MESSAGE = 0
    """An untagged message."""
    TAGGED = 1
    """A tagged message."""
    HELLO = 2
    """A client's first frame: its identity and its token."""
    HEARTBEAT = 3
    """A sign that the server is alive, even if its source gives nothing."""
    WAITING = 4
    """The server waits for its client to free memory."""
    FAILURE = 5
    """The reason why the stream ends here, as text."""
    SEGMENT = 6
    """Memory that addresses will refer to: base, size and a descriptor; size 0 for memory that is gone."""
    SENT = 7
    """All bodies have been sent; the connection stays for messages that free their memory."""


class Frame(NamedTuple):
    """A received frame."""

    kind: FrameKind
    tag: int  #: Its tag; 0 where it has none.
    data: NDArray[np.uint8]  #: Its bytes; those of tagged messages are aligned to 64 bytes.
    #: The descriptor of memory that comes with the frame; the receiver closes it.
    descriptor: int | None = None


class Connection(Protocol):
    """Frames in both directions, in order. One thread receives, any thread may send whole frames."""

    def send(
        self,
        kind: FrameKind,
        size: int,
        chunks: Iterable[Chunk],
        tag: int = 0,
        descriptor: int | None = None,
    ) -> None:
        """Send a frame and wait until it is accepted; each chunk may change when the next is asked for."""

    def try_send(self, kind: FrameKind, data: bytes, tag: int = 0) -> bool:
        """Send a small frame if that needs no waiting. An ended connection is no error; True then, too."""

    def receive(self, timeout: float | None) -> Frame | None:
        """The next frame; None if the other side has ended.

        `TimeoutError` if nothing came for `timeout` seconds, `StreamError` if the other side ended within a
        frame, `OSError` if the connection has been cut.
        """

    def finish(self) -> None:
        """Send nothing more; frames that were sent still arrive."""

    def stop_receiving(self) -> None:
        """Receive nothing more; a thread that waits in `receive` gets the end."""

    def close(self) -> None:
        """Close the connection; threads that wait for it are woken. Further calls do nothing."""


class Listener(Protocol):
    """The address that clients of a service connect to."""

    address: str  #: Where it is, as the URI says it.
    remote_handle: bytes | None

    def accept(self) -> Connection | None:
        """The next client; None after closing."""

    def close(self) -> None:
        """Accept no more clients."""


class Announcement(NamedTuple):
    """Buffers that a client can reach."""

    locations: BodyLocations  #: Where each is.
    owners: list[object]  #: The owner of each that has bytes.
    counted: int  #: The bytes that count against the bounds.
    placed: int  #: The bytes that had to be copied to where the client can reach them.


class Announcer(Protocol):
    """The server's side of memory that a client can reach."""

    def announce(self, buffers: Sequence[Buffer]) -> Announcement:
        """Make buffers reachable, copying those that are not; locations are in the order of the buffers."""


class Reach(Protocol):
    """The client's side of memory that it can reach."""

    def take(self, frame: Frame) -> None:
        """Handle a `SEGMENT` frame; raises `InvalidArrowError` if it is malformed."""

    def buffers(self, body: BodyLocations, frees: Frees) -> list[Buffer]:
        """The buffers with bytes, not copied; when the last one is gone, the server frees all of them."""


class Transport(Protocol):
    """One scheme of URIs."""

    body_type: BodyType  #: How bodies are sent unless the server is told.

    def listen(self, address: str, *, bounds: Bounds, remote: bool) -> Listener:
        """Listen at an address, completed here; other machines can connect only if `remote`."""

    def connect(self, uri: ServiceUri, *, bounds: Bounds, timeout: float | None) -> Connection:
        """Connect to a service; raises `OSError` if there is none, or it does not answer in time."""

    def wait(self, connections: Sequence[Any], timeout: float | None) -> Sequence[Any]:
        """The connections among several that have something to receive; none after `timeout`."""

    def announcer(self, connection: Any, remote_handle: bytes | None) -> Announcer | None:
        """The announcer of a connection's memory; None if bodies can only be packed."""

    def reach(self, connection: Any, uri: ServiceUri, *, sealed_only: bool) -> Reach | None:
        """Access to announced memory; None if bodies can only be packed."""
