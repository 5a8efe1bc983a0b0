"""Unix sockets: at a path, or at an abstract address, which has no file and goes with its server.

Both are for one user: a path by its permissions, an abstract address by whom the system says it is.
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

from colkern.closing import OnFailure
from colkern.dissociated.transports.listening import SocketListener
from colkern.dissociated.transports.sockets import limit_sending

_ABSTRACT = "@"
"""Stands for the zero byte that abstract addresses start with."""

_CREDENTIALS = struct.Struct("3i")
_ROOT = 0
_UNTIL_NEXT_TRY = 0.01


def listen_locally(address: str, *, remote_handle: bytes | None = None) -> SocketListener:
    """Listen at a path (of a killed server, too), at `@` and an abstract name, or at a new one of these."""
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
        # Nobody can connect before it listens.
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
            # Unlike one of TCP, a local socket with a time-out does not wait in the queue.
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
