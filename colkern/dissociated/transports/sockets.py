"""Frames over stream sockets, sent from and received into buffers without a copy.

Sockets block, and each wait is within a system call that releases the GIL. So a body of any size is
received with few calls, directly into the memory of its columns. An event loop would need a call for
each part that the kernel has ready.
"""

from __future__ import annotations

import array
import contextlib
import errno
import os
import select
import socket
import struct
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice
from typing import TypeVar

from colkern.closing import OnFailure
from colkern.dissociated.messages import BodyType
from colkern.dissociated.transports.connection import Connection, Frame, FrameKind
from colkern.dissociated.transports.framing import (
    HEADER_BYTES,
    REQUEST_LIMITS,
    FrameLimits,
    allocated,
    encode_header,
    parse_header,
)
from colkern.dissociated.uri import ServiceUri
from colkern.errors import InvalidArrowError, StreamError
from colkern.ipc.writing.fetching import Chunk

Received = TypeVar("Received")

_MOST_CHUNKS = 512
"""The most chunks in one call; systems accept at most 1024."""

_CLOSED = -1
"""The descriptor of a socket that has been closed here."""

_CALLS_A_TIME_OUT = 8

_DESCRIPTOR_BYTES = array.array("i").itemsize


class SocketConnection:
    """A connection over a stream socket, which it closes; Unix sockets pass descriptors too."""

    def __init__(
        self, connected: socket.socket, limits: FrameLimits, *, takes_descriptors: bool = False
    ) -> None:
        connected.settimeout(None)
        self._socket = connected
        self._limits = limits
        self._takes_descriptors = takes_descriptors
        self._sending = threading.Lock()
        # The rest of a frame of which only a part could be sent.
        self._unsent = b""
        self._process = os.getpid()
        self._timeout: float | None = None
        self._is_closed = False

    def fileno(self) -> int:
        """The socket's descriptor; -1 once it is closed."""
        return self._socket.fileno()

    def send(
        self,
        kind: FrameKind,
        size: int,
        chunks: Iterable[Chunk],
        tag: int = 0,
        descriptor: int | None = None,
    ) -> None:
        header = encode_header(kind, tag, size)
        # Chunks of a list stay unchanged, and are sent together.
        together = _MOST_CHUNKS if isinstance(chunks, Sequence) else 1
        rest = iter(chunks)
        # Bytes after a part of a frame would be taken for the rest of it. Frames that the other
        # side has sent may still be received.
        with self._sending, OnFailure(self.finish):
            self._send_unsent()
            first = [header, *islice(rest, together)]
            self._send_all(first, [] if descriptor is None else [descriptor])
            while part := list(islice(rest, together)):
                self._send_all(part)

    def try_send(self, kind: FrameKind, data: bytes, tag: int = 0) -> bool:
        """Send a small frame if that can be done at once; see `Connection.try_send`."""
        if self._is_inherited:
            return True
        if not self._sending.acquire(blocking=False):
            return False
        try:
            if self._unsent:
                return False
            frame = encode_header(kind, tag, len(data)) + data
            sent = self._socket.send(frame, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
            if sent < len(frame):
                self._unsent = frame[sent:]
                # A thread sends the rest of the frame, since there may be no further call.
                thread = threading.Thread(target=self._send_rest, name="colkern-rest", daemon=True)
                # No thread can start while the process ends, and that ends the connection.
                with contextlib.suppress(RuntimeError):
                    thread.start()
            return True
        except BlockingIOError:
            return False
        except OSError:
            # The receiving thread will get the error.
            return True
        finally:
            self._sending.release()

    def receive(self, timeout: float | None) -> Frame | None:
        try:
            return self._receive(timeout)
        except OSError:
            if self._is_closed:
                return None
            raise

    def finish(self) -> None:
        self._shut_down(socket.SHUT_WR)

    def stop_receiving(self) -> None:
        self._shut_down(socket.SHUT_RD)

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        # This wakes a thread that waits in a call on the socket; closing the descriptor would not.
        self._shut_down(socket.SHUT_RDWR)
        self._socket.close()

    @property
    def _is_inherited(self) -> bool:
        """Whether this is a forked child: the connection stays its parent's."""
        # Arrays that the child drops are still in use in the parent.
        return os.getpid() != self._process

    def _shut_down(self, how: int) -> None:
        if not self._is_inherited:
            with contextlib.suppress(OSError):
                self._socket.shutdown(how)

    def _send_rest(self) -> None:
        with self._sending:
            try:
                self._send_unsent()
            except OSError:
                # The receiving thread will get the error.
                self._unsent = b""
                self.finish()

    def _send_unsent(self) -> None:
        if self._unsent:
            self._send_all([self._unsent])
            self._unsent = b""

    def _send_all(self, chunks: list[Chunk], descriptors: Sequence[int] = ()) -> None:
        views = [view for view in map(_flat, chunks) if view.nbytes]
        rights = array.array("i", descriptors)
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)] if descriptors else []
        while views:
            try:
                sent = self._socket.sendmsg(views, ancillary, socket.MSG_NOSIGNAL)
            except BlockingIOError:
                raise TimeoutError("the other side takes nothing") from None
            ancillary = []
            while views and sent >= views[0].nbytes:
                sent -= views.pop(0).nbytes
            if sent:
                views[0] = views[0][sent:]

    def _receive(self, timeout: float | None) -> Frame | None:
        self._set_timeout(timeout)
        header = bytearray(HEADER_BYTES)
        descriptors = self._receive_header(header)
        if descriptors is None:
            return None
        with OnFailure(partial(_close_all, descriptors)):
            kind, tag, length = parse_header(bytes(header), self._limits)
            if len(descriptors) > (kind is FrameKind.SEGMENT):
                raise InvalidArrowError(
                    f"{len(descriptors)} descriptors with a {kind.name.lower()} frame"
                )
            data = allocated(length)
            if self._fill(data.data) < length:
                raise _ended(f"a {kind.name.lower()} frame")
        return Frame(kind, tag, data, descriptors[0] if descriptors else None)

    def _receive_header(self, header: bytearray) -> list[int] | None:
        """Receive a header; returns the descriptors that came with it, or None at the end."""
        view = memoryview(header)
        descriptors: list[int] = []
        filled = 0
        if self._takes_descriptors:
            filled, descriptors = self._receive_with_descriptors(view)
            if not filled:
                return None
        with OnFailure(partial(_close_all, descriptors)):
            filled += self._fill(view[filled:])
            if 0 < filled < HEADER_BYTES:
                raise _ended("a frame's header")
        return descriptors if filled else None

    def _receive_with_descriptors(self, view: memoryview) -> tuple[int, list[int]]:
        room = socket.CMSG_SPACE(_DESCRIPTOR_BYTES)
        flags = socket.MSG_WAITALL | socket.MSG_CMSG_CLOEXEC
        filled, ancillary, _, _ = self._patiently(
            partial(self._socket.recvmsg_into, [view], room, flags)
        )
        descriptors = array.array("i")
        for level, kind, data in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                descriptors.frombytes(data[: len(data) - len(data) % _DESCRIPTOR_BYTES])
        return filled, descriptors.tolist()

    def _fill(self, view: memoryview) -> int:
        """Fill memory; returns the number of bytes, which is smaller if the other side has ended."""
        filled = 0
        while filled < view.nbytes:
            received = self._patiently(
                partial(self._socket.recv_into, view[filled:], 0, socket.MSG_WAITALL)
            )
            if not received:
                break
            filled += received
        return filled

    def _patiently(self, receive: Callable[[], Received]) -> Received:
        """The result of `receive`; raises `TimeoutError` if nothing comes in time."""
        since = time.monotonic()
        while True:
            try:
                return receive()
            except BlockingIOError:
                if self._timeout is not None and time.monotonic() - since >= self._timeout:
                    raise TimeoutError("nothing came in time") from None

    def _set_timeout(self, timeout: float | None) -> None:
        """Set the kernel's timeout, since Python's own takes one more system call each time."""
        # A call that has received a part returns when its timeout has passed since it began, not
        # since the last byte. So each call gets only a part of the time.
        if timeout == self._timeout:
            return
        seconds = None if timeout is None else timeout / _CALLS_A_TIME_OUT
        _set_kernels_timeout(self._socket, socket.SO_RCVTIMEO, seconds)
        self._timeout = timeout


def limit_sending(connected: socket.socket, seconds: float | None) -> None:
    """Make sending over a socket raise `TimeoutError` once nothing has been accepted for `seconds`."""
    _set_kernels_timeout(connected, socket.SO_SNDTIMEO, seconds)


def _set_kernels_timeout(connected: socket.socket, option: int, seconds: float | None) -> None:
    seconds = 0.0 if seconds is None else max(seconds, 1e-3)
    value = struct.pack("@ll", int(seconds), int(seconds % 1 * 1e6))
    connected.setsockopt(socket.SOL_SOCKET, option, value)


def _ended(part: str) -> StreamError:
    return StreamError(errno.ECONNRESET, f"the other side has gone within {part}")


def _close_all(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _flat(chunk: Chunk) -> memoryview:
    return memoryview(chunk).cast("B")


def readable(
    connections: Sequence[SocketConnection], timeout: float | None
) -> list[SocketConnection]:
    """The connections over sockets that have something to receive."""
    by_descriptor = {connection.fileno(): connection for connection in connections}
    if _CLOSED in by_descriptor:
        return [by_descriptor[_CLOSED]]
    poll = select.poll()
    for descriptor in by_descriptor:
        poll.register(descriptor, select.POLLIN)
    milliseconds = None if timeout is None else max(timeout * 1000, 0)
    return [by_descriptor[descriptor] for descriptor, _ in poll.poll(milliseconds)]


_WAITING_CLIENTS = 128
_UNTIL_NEXT_TRY = 0.05


def _framed(accepted: socket.socket) -> Connection:
    return SocketConnection(accepted, REQUEST_LIMITS)


class SocketListener:
    """A listening socket; `prepare` sets options of each client's socket, `remove` is called on closing."""

    def __init__(
        self,
        listening: socket.socket,
        address: str,
        *,
        prepare: Callable[[socket.socket], None] = lambda _: None,
        make: Callable[[socket.socket], Connection] = _framed,
        remove: Callable[[], None] = lambda: None,
        remote_handle: bytes | None = None,
    ) -> None:
        # Not the default timeout that the program has set for its sockets.
        listening.settimeout(None)
        listening.listen(_WAITING_CLIENTS)
        self.address = address
        self.remote_handle = remote_handle
        self._listening = listening
        self._prepare = prepare
        self._make = make
        # Called also for a server that is never closed.
        self._remove = weakref.finalize(self, remove)
        self._is_closed = False

    def accept(self) -> Connection | None:
        while not self._is_closed:
            try:
                accepted, _ = self._listening.accept()
            except OSError as error:
                if self._is_closed:
                    return None
                # Errors of the network concern only one client, and descriptors may become free
                # later.
                if error.errno != errno.ECONNABORTED:
                    time.sleep(_UNTIL_NEXT_TRY)
                continue
            try:
                self._prepare(accepted)
            except OSError:
                # The client has gone before it was served.
                accepted.close()
                continue
            return self._make(accepted)
        return None

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        # This wakes the thread that accepts.
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._remove()


class Packed:
    """A transport whose sides share no memory."""

    body_type = BodyType.PACKED

    def announcer(self, connection: object, remote_handle: bytes | None) -> None:
        """None, since bodies can only be packed."""

    def reach(self, connection: object, uri: ServiceUri, *, sealed_only: bool) -> None:
        """None, since bodies can only be packed."""


class OverSockets:
    """A transport whose connections are sockets."""

    def wait(
        self, connections: Sequence[SocketConnection], timeout: float | None
    ) -> list[SocketConnection]:
        return readable(connections, timeout)
