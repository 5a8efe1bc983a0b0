"""A server's memory that a client uses; it is freed there when the last array over it is gone here.

Dissociated IPC protocol: "Client Sequence", step 5.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable

from colkern.dissociated.messages import encode_addresses

_MOST_ADDRESSES = 1 << 16
"""The limit of addresses in one message."""

_SECONDS_UNTIL_NEXT_TRY = 0.01


class Lease:
    """The owner of the buffers of one body; frees the body's addresses when the last buffer is gone."""

    __slots__ = ("_addresses", "_frees", "memory")

    def __init__(self, addresses: list[int], frees: Frees, memory: object) -> None:
        self.memory = memory
        self._frees = frees
        self._addresses = addresses
        frees.begin()

    def __del__(self) -> None:
        # Unmapped first: once the server knows, it may put other bytes there.
        self.memory = None
        self._frees.give(self._addresses)


class Frees:
    """Tells a server which addresses it may free. It never waits, since it sends with `try_send`."""

    def __init__(self, try_send: Callable[[bytes], bool], close: Callable[[], None]) -> None:
        self._try_send = try_send
        self._close = close
        self._waiting: deque[list[int]] = deque()
        self._sending = threading.Lock()
        self._in_use: deque[None] = deque()
        self._is_over = False

    @property
    def in_use(self) -> int:
        """The number of leases."""
        return len(self._in_use)

    def begin(self) -> None:
        """Count one more lease."""
        self._in_use.append(None)

    def give(self, addresses: list[int]) -> None:
        """End a lease, and free its addresses."""
        if addresses:
            self._waiting.append(addresses)
        self._in_use.pop()
        self.send()

    def send(self) -> None:
        """Send waiting addresses, unless another thread does so or the transport accepts nothing now."""
        # The thread with the lock checks again after releasing it.
        while self._waiting or (self._is_over and not self._in_use):
            if not self._sending.acquire(blocking=False):
                return
            try:
                if not self._send_waiting():
                    # A thread tries again later, since there may be no further call.
                    timer = threading.Timer(_SECONDS_UNTIL_NEXT_TRY, self.send)
                    timer.daemon = True
                    # No thread can start while the process ends, and that frees everything.
                    with contextlib.suppress(RuntimeError):
                        timer.start()
                    return
                if self._is_over and not self._in_use:
                    self._close()
                    return
            finally:
                self._sending.release()

    def finish(self) -> None:
        """End the stream: the connection is closed once nothing of it is in use."""
        self._is_over = True
        self.send()

    def _send_waiting(self) -> bool:
        while self._waiting:
            addresses = self._waiting[0]
            if not self._try_send(encode_addresses(addresses[:_MOST_ADDRESSES])):
                return False
            if len(addresses) > _MOST_ADDRESSES:
                self._waiting[0] = addresses[_MOST_ADDRESSES:]
            else:
                self._waiting.popleft()
        return True
