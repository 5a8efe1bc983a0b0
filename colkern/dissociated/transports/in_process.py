"""Clients in the same process as their server: frames are queued, addresses are those of the process.

`inproc://name`
"""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from colkern.dissociated.bounds import Bounds
from colkern.dissociated.leases import Frees, Lease
from colkern.dissociated.messages import BodyLocations, BodyType, Location
from colkern.dissociated.transports.connection import Announcement, Frame, FrameKind
from colkern.dissociated.uri import ServiceUri
from colkern.errors import InvalidArrowError
from colkern.ipc.writing.fetching import Chunk, joined
from colkern.memory import HOST, Buffer

# All queues share it, so that a thread can wait for several.
_CHANGED = threading.Condition()

_LEAST_BYTES = 256


class _Queue:
    """Frames in one direction, with a limit on their bytes; a single frame may exceed it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._bytes = 0
        self.frames: deque[Frame] = deque()
        self.has_ended = False

    def put(self, frame: Frame) -> None:
        with _CHANGED:
            _CHANGED.wait_for(lambda: self.has_ended or self._has_room_for(frame))
            if self.has_ended:
                raise BrokenPipeError("the other side has closed the connection")
            self._append(frame)

    def try_put(self, frame: Frame) -> bool:
        """Whether there was room for a frame; if the other side has gone, it is dropped."""
        # Arrays are freed in the garbage collector, also while their thread holds the lock.
        if not _CHANGED.acquire(blocking=False):
            return False
        try:
            if self.has_ended:
                return True
            has_room = self._has_room_for(frame)
            if has_room:
                self._append(frame)
            return has_room
        finally:
            _CHANGED.release()

    def _has_room_for(self, frame: Frame) -> bool:
        return not self.frames or self._bytes + _size_of(frame) <= self._most

    def _append(self, frame: Frame) -> None:
        size = _size_of(frame)
        self.frames.append(frame)
        self._bytes += size
        _CHANGED.notify_all()

    def get(self, timeout: float | None) -> Frame | None:
        with _CHANGED:
            if not _CHANGED.wait_for(lambda: self.is_readable, timeout):
                raise TimeoutError("nothing came in time")
            if not self.frames:
                return None
            frame = self.frames.popleft()
            size = _size_of(frame)
            self._bytes -= size
            _CHANGED.notify_all()
            return frame

    @property
    def is_readable(self) -> bool:
        return bool(self.frames) or self.has_ended

    def end(self, *, drop: bool) -> None:
        with _CHANGED:
            self.has_ended = True
            if drop:
                self.frames.clear()
            _CHANGED.notify_all()


class InProcessConnection:
    """One side of two queues."""

    def __init__(self, outgoing: _Queue, incoming: _Queue, announced: _Announced) -> None:
        self._outgoing = outgoing
        self.incoming = incoming
        self.announced = announced

    def send(
        self,
        kind: FrameKind,
        size: int,
        chunks: Iterable[Chunk],
        tag: int = 0,
        descriptor: int | None = None,
    ) -> None:
        """Send a frame, whose bytes are copied once; see `Connection.send`."""
        assert descriptor is None
        self._outgoing.put(Frame(kind, tag, joined(size, chunks)))

    def try_send(self, kind: FrameKind, data: bytes, tag: int = 0) -> bool:
        return self._outgoing.try_put(Frame(kind, tag, joined(len(data), [data])))

    def receive(self, timeout: float | None) -> Frame | None:
        return self.incoming.get(timeout)

    def finish(self) -> None:
        self._outgoing.end(drop=False)

    def stop_receiving(self) -> None:
        self.incoming.end(drop=True)

    def close(self) -> None:
        self._outgoing.end(drop=False)
        self.incoming.end(drop=True)


def _size_of(frame: Frame) -> int:
    """The bytes that a frame counts as: heartbeats are empty, but take room."""
    return max(frame.data.size, _LEAST_BYTES)


class InProcessListener:
    """A name in this process at which a service listens."""

    remote_handle: bytes | None = None

    def __init__(self, address: str, bounds: Bounds, forget: Callable[[str], object]) -> None:
        self.address = address
        self._bounds = bounds
        self._forget = forget
        self._clients: deque[InProcessConnection] = deque()
        self._is_closed = False

    def connect(self) -> InProcessConnection:
        """A new client's side."""
        up, down = _Queue(self._bounds.pending_bytes), _Queue(self._bounds.pending_bytes)
        announced = _Announced()
        with _CHANGED:
            if self._is_closed:
                raise ConnectionRefusedError(f"inproc://{self.address} is closed")
            self._clients.append(InProcessConnection(down, up, announced))
            _CHANGED.notify_all()
        return InProcessConnection(up, down, announced)

    def accept(self) -> InProcessConnection | None:
        with _CHANGED:
            _CHANGED.wait_for(lambda: self._clients or self._is_closed)
            return self._clients.popleft() if self._clients else None

    def close(self) -> None:
        self._forget(self.address)
        with _CHANGED:
            self._is_closed = True
            for client in self._clients:
                client.close()
            self._clients.clear()
            _CHANGED.notify_all()


class _Announced:
    """The buffers announced to one client, by address; each is taken once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._buffers: dict[int, deque[Buffer]] = {}

    def put(self, buffer: Buffer) -> None:
        with self._lock:
            self._buffers.setdefault(buffer.address, deque()).append(buffer)

    def take(self, location: Location) -> Buffer:
        with self._lock:
            buffers = self._buffers.get(location.address)
            if not buffers or buffers[0].size != location.length:
                raise InvalidArrowError(
                    f"{location.length} bytes at {location.address:#x} have not been announced"
                )
            buffer = buffers.popleft()
            if not buffers:
                del self._buffers[location.address]
            return buffer


class _Announcer:
    """Announces buffers in place, on any device."""

    def __init__(self, announced: _Announced) -> None:
        self._announced = announced

    def announce(self, buffers: Sequence[Buffer]) -> Announcement:
        """Announce buffers by their addresses; see `Announcer.announce`."""
        with_bytes = [buffer for buffer in buffers if buffer.size]
        for buffer in with_bytes:
            self._announced.put(buffer)
        body = BodyLocations.of(
            [Location(buffer.address if buffer.size else 0, buffer.size) for buffer in buffers]
        )
        return Announcement(body, list(with_bytes), body.total, 0)


class _Reach:
    """The buffers that have been announced."""

    def __init__(self, announced: _Announced) -> None:
        self._announced = announced

    def take(self, frame: Frame) -> None:
        """Raise `InvalidArrowError`: there are no segments within one process."""
        raise InvalidArrowError("a segment within one process")

    def buffers(self, body: BodyLocations, frees: Frees) -> list[Buffer]:
        """The announced buffers; see `Reach.buffers`."""
        # Buffers on a device are freed at once: the returned buffers keep their memory alive.
        buffers = [self._announced.take(location) for location in body.buffers if location.length]
        lease = Lease(body.addresses(), frees, buffers)
        return [
            Buffer.from_address(buffer.address, buffer.size, (lease, buffer))
            if buffer.device == HOST
            else buffer
            for buffer in buffers
        ]


class InProcess:
    """The transport within one process."""

    body_type = BodyType.LOCATIONS

    def __init__(self) -> None:
        self._listeners: dict[str, InProcessListener] = {}
        self._numbers = itertools.count(1)

    def listen(self, address: str, *, bounds: Bounds, remote: bool) -> InProcessListener:
        """Listen at a name, or at a new one if it is empty; see `Transport.listen`."""
        address = address or f"service-{next(self._numbers)}"
        listener = InProcessListener(address, bounds, lambda name: self._listeners.pop(name, None))
        if self._listeners.setdefault(address, listener) is not listener:
            raise OSError(f"inproc://{address}: there is a service of that name")
        return listener

    def connect(
        self, uri: ServiceUri, *, bounds: Bounds, timeout: float | None
    ) -> InProcessConnection:
        listener = self._listeners.get(uri.address)
        if listener is None:
            raise ConnectionRefusedError(f"inproc://{uri.address}: no such service here")
        return listener.connect()

    def wait(
        self, connections: Sequence[InProcessConnection], timeout: float | None
    ) -> list[InProcessConnection]:

        def ready() -> list[InProcessConnection]:
            return [each for each in connections if each.incoming.is_readable]

        with _CHANGED:
            return _CHANGED.wait_for(ready, timeout)

    def announcer(self, connection: InProcessConnection, remote_handle: bytes | None) -> _Announcer:
        return _Announcer(connection.announced)

    def reach(
        self, connection: InProcessConnection, uri: ServiceUri, *, sealed_only: bool
    ) -> _Reach:
        return _Reach(connection.announced)
