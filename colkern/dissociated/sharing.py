"""The messages of one source for two streams, of metadata and of bodies, each at its own pace.

Dissociated IPC protocol: "Server Sequence".
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence

from colkern.dissociated.bounds import Bounds
from colkern.ipc.writing.messages import Message

Role = int
"""Which of both streams: 0 or 1."""


class SharedMessages:
    """What two streams send of one source.

    A source that can be read twice is read by each of them. Of another one, whichever stream is ahead
    takes the next message, which is kept until the other stream has taken it, too.

    Args:
        open_source: Opens the source: the messages once, or twice if it can be read twice.
        bounds: How many messages are kept, and how many bytes of bodies, one body more than fits. Then
            the stream that is ahead waits for the other one.
    """

    def __init__(
        self, open_source: Callable[[], Sequence[Iterator[Message]]], bounds: Bounds
    ) -> None:
        self._open_source = open_source
        self._bounds = bounds
        self._opening = threading.Lock()
        self._opened: Sequence[Iterator[Message]] | Exception | None = None
        self._changed = threading.Condition()
        self._kept: tuple[deque[Message], deque[Message]] = (deque(), deque())
        self._kept_bytes = [0, 0]
        self._has_left = [False, False]
        self._is_taking = False
        # Why no more is taken: the source has ended, or has failed.
        self._end: BaseException | None = None

    def messages(self, role: Role) -> Iterator[Message]:
        """The messages for one of the streams.

        Raises:
            BrokenPipeError: If the stream was left.
            Exception: What the source raises; both streams are told.
        """
        opened = self._open()
        return opened[role] if len(opened) > 1 else self._shared(opened[0], role)

    def leave(self, role: Role) -> None:
        """One of the streams takes no more; the other one need not wait for it."""
        with self._changed:
            self._has_left[role] = True
            self._kept[role].clear()
            self._kept_bytes[role] = 0
            self._changed.notify_all()

    def _open(self) -> Sequence[Iterator[Message]]:
        with self._opening:
            if self._opened is None:
                try:
                    self._opened = self._open_source()
                except Exception as error:  # noqa: BLE001 - whatever the source raises, for both
                    self._opened = error
            if isinstance(self._opened, Exception):
                raise self._opened
            return self._opened

    def _shared(self, source: Iterator[Message], role: Role) -> Iterator[Message]:
        while (message := self._next(source, role)) is not None:
            yield message

    def _next(self, source: Iterator[Message], role: Role) -> Message | None:
        with self._changed:
            self._changed.wait_for(lambda: self._is_ready(role))
            if self._has_left[role]:
                raise BrokenPipeError("the client has gone")
            if self._kept[role]:
                message = self._kept[role].popleft()
                self._kept_bytes[role] -= _body_bytes(message)
                self._changed.notify_all()
                return message
            if self._end is not None:
                if isinstance(self._end, StopIteration):
                    return None
                raise self._end
            self._is_taking = True
        # Without the lock: the source may take long, and what is kept is handed out meanwhile.
        try:
            message = next(source)
        except BaseException as error:
            self._took(role, None, error)
            if isinstance(error, StopIteration):
                return None
            raise
        self._took(role, message, None)
        return message

    def _is_ready(self, role: Role) -> bool:
        if self._has_left[role] or self._kept[role]:
            return True
        if self._is_taking:
            return False
        other = 1 - role
        return self._end is not None or (
            self._kept_bytes[other] < self._bounds.pending_bytes
            and len(self._kept[other]) < self._bounds.pending_messages
        )

    def _took(self, role: Role, message: Message | None, end: BaseException | None) -> None:
        other = 1 - role
        with self._changed:
            self._is_taking = False
            self._end = end
            if message is not None and not self._has_left[other]:
                self._kept[other].append(message)
                self._kept_bytes[other] += _body_bytes(message)
            self._changed.notify_all()


def _body_bytes(message: Message) -> int:
    return 0 if message.body is None else message.body.size
