"""Listening sockets."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat
import time
from collections.abc import Callable
from pathlib import Path

from colkern.dissociated.transports.connection import Connection
from colkern.dissociated.transports.framing import REQUEST_LIMITS
from colkern.dissociated.transports.sockets import SocketConnection

_WAITING_CLIENTS = 128
_SCARCE = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_UNTIL_THERE_IS_MORE = 0.05


def _framed(accepted: socket.socket) -> Connection:
    return SocketConnection(accepted, REQUEST_LIMITS)


class SocketListener:
    """A listening socket.

    Args:
        listening: The socket, bound.
        address: Where it is, as URIs say it.
        prepare: What is set on each client's socket.
        make: What makes a connection of it.
        remove: What is left to do once it is closed.
        remote_handle: What URIs give as `remote_handle`.
    """

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
        listening.listen(_WAITING_CLIENTS)
        self.address = address
        self.remote_handle = remote_handle
        self._listening = listening
        self._prepare = prepare
        self._make = make
        self._remove = remove
        self._is_closed = False

    def accept(self) -> Connection | None:
        """The next client; see `Listener.accept`."""
        while not self._is_closed:
            try:
                accepted, _ = self._listening.accept()
            except OSError as error:
                if self._is_closed:
                    return None
                if error.errno in _SCARCE:
                    time.sleep(_UNTIL_THERE_IS_MORE)
                elif error.errno != errno.ECONNABORTED:
                    raise
                continue
            try:
                self._prepare(accepted)
            except OSError:
                # It has gone before it was served.
                accepted.close()
                continue
            return self._make(accepted)
        return None

    def close(self) -> None:
        """Take no more clients."""
        if self._is_closed:
            return
        self._is_closed = True
        # Wakes the thread that accepts.
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._remove()


def listen_at_path(path: str, *, remote_handle: bytes | None = None) -> SocketListener:
    """Listen at a path, which only this user may connect to.

    What a server that was killed has left there is replaced.

    Raises:
        OSError: If something else is there, or a server that lives.
    """
    listening = socket.socket(socket.AF_UNIX)
    try:
        _remove_abandoned(path)
        listening.bind(path)
        # Nobody can connect before it listens.
        os.chmod(path, stat.S_IRUSR | stat.S_IWUSR)
        identity = os.stat(path).st_ino
        return SocketListener(
            listening,
            path,
            remove=lambda: _remove_own(path, identity),
            remote_handle=remote_handle,
        )
    except BaseException:
        listening.close()
        raise


def _remove_abandoned(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISSOCK(os.stat(path).st_mode):
            return
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(path)
            except ConnectionRefusedError:
                os.unlink(path)


def _remove_own(path: str, identity: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        if Path(path).stat().st_ino == identity:
            os.unlink(path)
