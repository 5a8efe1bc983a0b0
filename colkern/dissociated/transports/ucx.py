"""UCX: `ucx://host:port`. Bodies are packed; UCX uses RDMA or TCP, as the machines support.

Needs the package `ucxx`. The two sides exchange the addresses of their UCX workers over a TCP
connection. It stays open, unused; when it ends, the other side has gone, which not all UCX transports
notice. Each connection has its own worker, so tags need no bits to identify clients: tagged messages
have the protocol's tags, all 64 bits of them.

For untagged messages UCX has "active messages", whose order relative to tagged ones is undefined. So
messages that are not tagged in the protocol get tags of this transport: bits 32 to 55 are set, which
are zero in tags of bodies, and the lowest 8 bits give the kind.

UCX trusts the addresses that it is given: every client can crash this process. Serve only trusted
machines.
"""

from __future__ import annotations

import contextlib
import functools
import os
import select
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colkern.closing import OnFailure
from colkern.dissociated.bounds import Bounds
from colkern.dissociated.transports.connection import Frame, FrameKind
from colkern.dissociated.transports.framing import (
    KINDS,
    REQUEST_LIMITS,
    FrameLimits,
    allocated,
    check_length,
    limits_of,
)
from colkern.dissociated.transports.sockets import Packed, SocketListener
from colkern.dissociated.transports.tcp import connected_to, listen_at_port
from colkern.dissociated.uri import ServiceUri
from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.ipc.writing.fetching import Chunk, joined
from colkern.names import why_missing

_OWN = ((1 << 24) - 1) << 32
_END = 0xFF

_INTRODUCTION = struct.Struct("<8sI")
_MAGIC = b"colkernU"
_MOST_ADDRESS_BYTES = 1 << 16

_SLICE_SECONDS = 0.002
"""Two threads of a connection may wait, but UCX wakes only one; the other checks after this time."""

_MOST_UNDER_WAY = 64
_LINGER_SECONDS = 1.0


class Ucx(Packed):
    """The UCX transport."""

    def listen(self, address: str, *, bounds: Bounds, remote: bool) -> SocketListener:
        _context()
        return listen_at_port(
            address, remote=remote, make=lambda accepted: UcxConnection(accepted, REQUEST_LIMITS)
        )

    def connect(self, uri: ServiceUri, *, bounds: Bounds, timeout: float | None) -> UcxConnection:
        if any(tag is not None and tag & _OWN == _OWN for tag in (uri.want_data, uri.free_data)):
            raise ValueError("uri: ucx has tags with all of the bits 32 to 55 for itself")
        _context()
        connection = UcxConnection(connected_to(uri.address, timeout), limits_of(bounds))
        with OnFailure(connection.close):
            connection.introduce(timeout)
        return connection

    def wait(
        self, connections: Sequence[UcxConnection], timeout: float | None
    ) -> list[UcxConnection]:
        end = _end_of(timeout)
        while not (ready := [each for each in connections if each.is_readable()]):
            if time.monotonic() >= end:
                break
            for each in connections:
                each.advance(end)
        return ready


class UcxConnection:
    """A connection with its own UCX worker; the socket introduces the sides, and closes with it."""

    def __init__(self, control: socket.socket, limits: FrameLimits) -> None:
        self._control = control
        self._limits = limits
        self._introducing = threading.Lock()
        # Held whenever UCX is called, but not while waiting for it.
        self._lock = threading.RLock()
        self._worker: Any = None
        self._endpoint: Any = None
        # The bytes that UCX reads or writes until their requests are completed.
        self._under_way: deque[tuple[Any, NDArray[np.uint8]]] = deque()
        self._has_ended = False
        self._has_gone = False
        self._is_closed = False

    def introduce(self, timeout: float | None) -> None:
        """Exchange addresses with the other side, once."""
        with self._introducing:
            if self._endpoint is not None:
                return
            library, worker = _library(), _new_worker()
            own = worker.address.tobytes()
            self._control.settimeout(timeout)
            self._control.sendall(_INTRODUCTION.pack(_MAGIC, len(own)) + own)
            magic, length = _INTRODUCTION.unpack(_exactly(self._control, _INTRODUCTION.size))
            if magic != _MAGIC or not 0 < length <= _MOST_ADDRESS_BYTES:
                raise InvalidArrowError("the other side does not introduce itself for UCX")
            peer = _exactly(self._control, length)
            self._control.settimeout(None)
            with _system_errors(library):
                address = library.UCXAddress.create_from_buffer(peer)
                self._endpoint = _endpoint(library, worker, address)
            self._worker = worker

    def send(
        self,
        kind: FrameKind,
        size: int,
        chunks: Iterable[Chunk],
        tag: int = 0,
        descriptor: int | None = None,
    ) -> None:
        """Send a message; its chunks are joined, since the bindings take one. See `Connection.send`."""
        assert descriptor is None
        request = self._post(_joined(size, chunks), _tag_of(kind, tag))
        while not request.completed:
            if self._is_over():
                raise BrokenPipeError("the other side has gone")
            self.advance()
        _check(request)

    def try_send(self, kind: FrameKind, data: bytes, tag: int = 0) -> bool:
        """Send a small message without waiting for it; see `Connection.try_send`."""
        if self._is_over():
            return True
        self._forget_completed()
        if len(self._under_way) >= _MOST_UNDER_WAY:
            return False
        with contextlib.suppress(OSError):
            self._post(_joined(len(data), [data]), _tag_of(kind, tag))
        return True

    def receive(self, timeout: float | None) -> Frame | None:
        end = _end_of(timeout)
        try:
            self.introduce(timeout)
        except TimeoutError:
            raise TimeoutError("nothing came in time") from None
        while not self.is_readable():
            if time.monotonic() >= end:
                raise TimeoutError("nothing came in time")
            self.advance(end)
        with self._lock:
            probe = self._probe(remove=False)
            if self._has_ended or probe is None or not probe.matched:
                return None
            tag, length = int(probe.sender_tag.value), int(probe.length)
            if tag == _OWN | _END:
                self._has_ended = True
                return None
            kind, tag = _kind_of(tag)
            check_length(kind, length, self._limits)
            data = allocated(length)
            # This is the same message, since only this thread takes messages.
            taken = self._probe(remove=True)
            request = self._worker.tag_recv_with_handle(_array(data), taken)
            self._under_way.append((request, data))
        self._wait_for_rest(request, kind)
        return Frame(kind, tag, data)

    def is_readable(self) -> bool:
        """Whether `receive` would return without waiting."""
        probe = self._probe(remove=False)
        return self._has_ended or probe is None or probe.matched or self._is_over()

    def advance(self, end: float = float("inf")) -> None:
        """Let UCX make progress; if it has nothing to do, sleep for a moment, at most until `end`."""
        with self._lock:
            worker = self._worker
            if worker is None or self._progress() or not worker.arm():
                return
            descriptors = [worker.epoll_file_descriptor]
            if not self._has_gone:
                descriptors.append(self._control.fileno())
        poll = select.poll()
        for descriptor in descriptors:
            poll.register(descriptor, select.POLLIN)
        seconds = min(end - time.monotonic(), _SLICE_SECONDS)
        ready = [descriptor for descriptor, _ in poll.poll(max(seconds, 0) * 1000)]
        if descriptors[-1] in ready and len(descriptors) > 1:
            # Nothing is sent over the socket after the introduction, which has arrived by now.
            self._progress()
            self._has_gone = True

    def finish(self) -> None:
        if not self._is_over():
            with contextlib.suppress(OSError):
                self._post(_joined(0, []), _OWN | _END)

    def stop_receiving(self) -> None:
        self._has_ended = True

    def close(self) -> None:
        """Close it; see `Connection.close`. The last messages get a moment to be sent."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
        end = time.monotonic() + _LINGER_SECONDS
        while self._worker is not None and not self._has_gone and time.monotonic() < end:
            self._forget_completed()
            if not self._under_way:
                break
            self.advance(end)
        self._release()
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        self._control.close()

    def _release(self) -> None:
        with self._lock:
            if self._worker is None:
                return
            worker, endpoint = self._worker, self._endpoint
            self._worker = self._endpoint = None
            worker.cancel_inflight_requests()
            with contextlib.suppress(_library().UCXError):
                endpoint.close_blocking()
            while worker.progress_once():
                pass
            # Requests under way keep their bytes alive.
            self._forget_completed()

    def _is_over(self) -> bool:
        """Whether nothing is sent or received any more, since either side has closed."""
        probe = self._probe(remove=False)
        return self._is_closed or probe is None or (self._has_gone and not probe.matched)

    def _probe(self, *, remove: bool) -> Any:
        """The next message; its `matched` tells whether there is one. None without a worker."""
        library = _library()
        with self._lock:
            if self._worker is None:
                return None
            self._progress()
            return self._worker.tag_probe(library.UCXXTag(0), library.UCXXTagMask(0), remove=remove)

    def _progress(self) -> bool:
        """Let UCX make all progress that it can; returns whether there was any."""
        worked = False
        with self._lock:
            while self._worker is not None and self._worker.progress_once():
                worked = True
        return worked

    def _post(self, data: NDArray[np.uint8], tag: int) -> Any:
        with self._lock:
            if self._endpoint is None or self._is_closed:
                raise BrokenPipeError("the connection is closed")
            request = self._endpoint.tag_send(_array(data), _library().UCXXTag(tag))
            self._under_way.append((request, data))
            self._worker.progress_once()
            self._forget_completed()
            return request

    def _forget_completed(self) -> None:
        with self._lock:
            self._under_way = deque(each for each in self._under_way if not each[0].completed)

    def _wait_for_rest(self, request: Any, kind: FrameKind) -> None:
        gone_since = None
        while not request.completed:
            if self._is_closed:
                raise OSError("the connection is closed")
            if self._has_gone and gone_since is None:
                gone_since = time.monotonic()
            if gone_since is not None and time.monotonic() - gone_since > _LINGER_SECONDS:
                raise InvalidArrowError(f"the connection has ended within a {kind.name} message")
            self.advance()
        _check(request)


@functools.cache
def _library() -> ModuleType:
    try:
        # Not `ucxx` itself: its API is for asyncio, and starts a thread and an event loop.
        from ucxx._lib import libucxx
    except ImportError as error:
        raise UnsupportedError(f"ucx: {why_missing(error, 'ucxx')}") from None
    library: ModuleType = libucxx
    return library


@functools.cache
def _context() -> Any:
    library = _library()
    # A killed process leaves UCX's shared memory behind; on one machine, `shm:` can be used
    # instead.
    config = {} if "UCX_TLS" in os.environ else {"TLS": "^sm"}
    return library.UCXContext(config, (library.Feature.TAG, library.Feature.WAKEUP))


def _new_worker() -> Any:
    worker = _library().UCXWorker(_context())
    worker.init_blocking_progress_mode()
    return worker


def _endpoint(library: ModuleType, worker: Any, address: object) -> Any:
    """An endpoint that fails with its peer, if UCX supports it: for its shared memory it does not."""
    try:
        return worker.create_endpoint_from_worker_address(address, True)
    except library.UCXUnreachableError:
        return worker.create_endpoint_from_worker_address(address, False)


def _array(data: NDArray[np.uint8]) -> object:
    from ucxx._lib.arr import Array

    return Array(data)


def _check(request: Any) -> None:
    """Raise `OSError` if a request of UCX has failed."""
    with _system_errors(_library()):
        request.check_error()


@contextlib.contextmanager
def _system_errors(library: ModuleType) -> Iterator[None]:
    try:
        yield
    except library.UCXError as error:
        raise ConnectionResetError(f"UCX: {error}") from None


def _tag_of(kind: FrameKind, tag: int) -> int:
    return tag if kind is FrameKind.TAGGED else _OWN | kind


def _kind_of(tag: int) -> tuple[FrameKind, int]:
    """The kind of a message, and the protocol's tag if it is a tagged message."""
    if tag & _OWN != _OWN:
        return FrameKind.TAGGED, tag
    kind = KINDS.get(tag & ~_OWN)
    if kind is None or kind is FrameKind.TAGGED:
        raise InvalidArrowError(f"no message of the protocol has the tag {tag:#018x}")
    return kind, 0


def _joined(size: int, chunks: Iterable[Chunk]) -> NDArray[np.uint8]:
    """The chunks as one array; a single chunk in host memory is not copied."""
    if isinstance(chunks, Sequence) and len(chunks) == 1:
        return np.frombuffer(chunks[0], np.uint8)
    return joined(size, chunks)


def _exactly(control: socket.socket, size: int) -> bytes:
    parts: list[bytes] = []
    while size:
        part = control.recv(size)
        if not part:
            raise ConnectionResetError("the other side has gone before it introduced itself")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _end_of(timeout: float | None) -> float:
    return float("inf") if timeout is None else time.monotonic() + timeout
