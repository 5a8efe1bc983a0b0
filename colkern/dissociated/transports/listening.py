"""Listening sockets."""

from __future__ import annotations

import contextlib
import errno
import socket
import time
import weakref
from collections.abc import Callable

from colkern.dissociated.transports.connection import Connection
from colkern.dissociated.transports.framing import REQUEST_LIMITS
from colkern.dissociated.transports.sockets import SocketConnection

_WAITING_CLIENTS = 128
_UNTIL_NEXT_TRY = 0.05


def _framed(accepted: socket.socket) -> Connection:
    return SocketConnection(accepted, REQUEST_LIMITS)


class SocketListener:
    """A listening socket; `prepare` sets options of each client's, `remove` follows its close."""

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
        # Not the default that the program has chosen for its sockets.
        listening.settimeout(None)
        listening.listen(_WAITING_CLIENTS)
        self.address = address
        self.remote_handle = remote_handle
        self._listening = listening
        self._prepare = prepare
        self._make = make
        # Also for a server that is never closed.
        self._remove = weakref.finalize(self, remove)
        self._is_closed = False

    def accept(self) -> Connection | None:
        while not self._is_closed:
            try:
                accepted, _ = self._listening.accept()
            except OSError as error:
                if self._is_closed:
                    return None
                # Errors of the network concern one client, and descriptors may be free later.
                if error.errno != errno.ECONNABORTED:
                    time.sleep(_UNTIL_NEXT_TRY)
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
