"""Transports over Unix sockets, with packed bodies or with bodies in shared memory.

Addresses of shared memory are offsets in the connection's address space, in which each segment or
allocation has a base. Base, size, and descriptor or CUDA IPC handle are sent before the first location
in it. So sharing works wherever the socket can be reached, also from another container, and for files
without a name there. Bodies in device memory are not copied to the host.

Paths and abstract addresses (which have no file, and go with their server) are restricted to one user:
a path by its permissions, an abstract address by the peer's user id.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import stat
import struct
import time
from functools import partial
from typing import TYPE_CHECKING

from colkern.closing import OnFailure
from colkern.dissociated.bounds import Bounds
from colkern.dissociated.messages import BodyType
from colkern.dissociated.shared.host import ReachedSegments, SegmentAnnouncer
from colkern.dissociated.transports.framing import limits_of
from colkern.dissociated.transports.sockets import (
    OverSockets,
    Packed,
    SocketConnection,
    SocketListener,
    limit_sending,
)
from colkern.dissociated.uri import ServiceUri

if TYPE_CHECKING:
    from colkern.dissociated.shared.device import AllocationAnnouncer, ReachedAllocations


_ABSTRACT = "@"
"""Stands for the zero byte that abstract addresses start with."""

_CREDENTIALS = struct.Struct("3i")
_ROOT = 0
_UNTIL_NEXT_TRY = 0.01


def listen_locally(address: str, *, remote_handle: bytes | None = None) -> SocketListener:
    """Listen at a path (also that of a killed server), at `@` and an abstract name, or at a new one."""
    address = address or f"{_ABSTRACT}colkern-{secrets.token_hex(8)}"
    listening = socket.socket(socket.AF_UNIX)
    with OnFailure(listening.close):
        if address.startswith(_ABSTRACT):
            listening.bind(_system_address(address))
            return SocketListener(
                listening, address, prepare=_require_same_user, remote_handle=remote_handle
            )
        _remove_abandoned(address)
        listening.bind(address)
        # Nobody can connect before the socket listens.
        os.chmod(address, stat.S_IRUSR | stat.S_IWUSR)
        remove = partial(_remove_own, address, os.stat(address).st_ino, os.getpid())
        return SocketListener(listening, address, remove=remove, remote_handle=remote_handle)


def connected_locally(address: str, timeout: float | None) -> socket.socket:
    """A socket that is connected to such an address; raises `OSError`."""
    connected = socket.socket(socket.AF_UNIX)
    with OnFailure(connected.close):
        connected.settimeout(timeout)
        _connect(connected, _system_address(address))
        if address.startswith(_ABSTRACT):
            _require_same_user(connected)
        limit_sending(connected, timeout)
    return connected


def _connect(connected: socket.socket, address: str) -> None:
    timeout = connected.gettimeout()
    end = float("inf") if timeout is None else time.monotonic() + timeout
    while True:
        try:
            return connected.connect(address)
        except BlockingIOError:
            # Unlike a TCP socket, a local one with a timeout does not wait in the queue.
            if time.monotonic() > end:
                raise TimeoutError(
                    f"the server takes no more clients: others have waited for {timeout} s, too"
                ) from None
        time.sleep(_UNTIL_NEXT_TRY)


def _system_address(address: str) -> str:
    return f"\0{address[1:]}" if address.startswith(_ABSTRACT) else address


def _require_same_user(connected: socket.socket) -> None:
    credentials = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _, user, _ = _CREDENTIALS.unpack(credentials)
    if user not in (os.getuid(), _ROOT):
        raise PermissionError(f"the other side is of user {user}")


def _remove_abandoned(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISSOCK(os.stat(path).st_mode):
            return
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(path)
            except ConnectionRefusedError:
                os.unlink(path)


def _remove_own(path: str, identity: int, owner: int) -> None:
    """Remove the socket of this process; a forked process leaves it to its owner."""
    with contextlib.suppress(FileNotFoundError):
        if os.getpid() == owner and os.stat(path).st_ino == identity:
            os.unlink(path)


_HANDLE_BYTES = 16


class OverLocalSockets(OverSockets):
    """A transport over Unix sockets."""

    takes_descriptors = False
    """Whether frames may come with descriptors."""

    def connect(
        self, uri: ServiceUri, *, bounds: Bounds, timeout: float | None
    ) -> SocketConnection:
        connected = connected_locally(uri.address, timeout)
        return SocketConnection(
            connected, limits_of(bounds), takes_descriptors=self.takes_descriptors
        )


class OfSharedMemory(OverLocalSockets):
    """A transport over a Unix socket that announces memory; a handle identifies its service."""

    body_type = BodyType.LOCATIONS

    def listen(self, address: str, *, bounds: Bounds, remote: bool) -> SocketListener:
        """Listen at a path, or at a new abstract address if it is empty; see `Transport.listen`."""
        handle = secrets.token_bytes(_HANDLE_BYTES)
        return listen_locally(address, remote_handle=handle)


class Unix(OverLocalSockets, Packed):
    """`unix:///path`, `unix://@name`: bodies are packed."""

    def listen(self, address: str, *, bounds: Bounds, remote: bool) -> SocketListener:
        """Listen at a path, or at a new abstract address if it is empty; see `Transport.listen`."""
        return listen_locally(address)


class SharedMemoryTransport(OfSharedMemory):
    """`shm:///path`, `shm://@name`: bodies are in memory that both processes map."""

    takes_descriptors = True

    def announcer(
        self, connection: SocketConnection, remote_handle: bytes | None
    ) -> SegmentAnnouncer:
        return SegmentAnnouncer(connection, remote_handle or b"")

    def reach(
        self, connection: SocketConnection, uri: ServiceUri, *, sealed_only: bool
    ) -> ReachedSegments:
        return ReachedSegments(uri.remote_handle or b"", sealed_only=sealed_only)


class Cuda(OfSharedMemory):
    """`cuda:///path`, `cuda://@name`: bodies are in memory of a GPU that both processes see."""

    def listen(self, address: str, *, bounds: Bounds, remote: bool) -> SocketListener:
        """As for shared memory; raises `DeviceUnavailableError` if there is no device."""
        from colkern.cuda import memory

        memory.require_device()
        return super().listen(address, bounds=bounds, remote=remote)

    def announcer(
        self, connection: SocketConnection, remote_handle: bytes | None
    ) -> AllocationAnnouncer:
        from colkern.dissociated.shared.device import AllocationAnnouncer

        return AllocationAnnouncer(connection, remote_handle or b"")

    def reach(
        self, connection: SocketConnection, uri: ServiceUri, *, sealed_only: bool
    ) -> ReachedAllocations:
        """The allocations of a connection; raises `DeviceUnavailableError` if there is no device."""
        from colkern.dissociated.shared.device import ReachedAllocations

        return ReachedAllocations(uri.remote_handle or b"")
