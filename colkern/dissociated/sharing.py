"""Pairs the connections of clients that ask two services, one for metadata and one for bodies.

Dissociated IPC protocol: "Server Sequence".
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from colkern.dissociated.bounds import Bounds
from colkern.ipc.writing.messages import Message

Result = TypeVar("Result")
Key = tuple[bytes, bytes]


class Half(Generic[Result]):
    """A client that has sent its request to one of the services."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._result: Result | None = None

    def complete(self, result: Result) -> None:
        """Set the result, after the client has asked at the other service, too."""
        self._result = result
        self._event.set()

    def give_up(self) -> None:
        """End the wait without a result."""
        self._event.set()

    def result(self, timeout: float) -> Result:
        """The result, once the client has asked at the other service; raises `TimeoutError`."""
        if not self._event.wait(timeout) or self._result is None:
            raise TimeoutError
        return self._result


class Pairing(Generic[Result]):
    """The halves that wait for their other half."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[tuple[Key, int], Half[Result]] = {}

    def other_or_wait(self, key: Key, role: int) -> tuple[Half[Result], bool]:
        """The other half, and True; or a new half that waits for it (`role` is the service, 0 or 1)."""
        with self._lock:
            waiting = self._waiting.pop((key, 1 - role), None)
            if waiting is not None:
                return waiting, True
            half = self._waiting[key, role] = Half()
            return half, False

    def forget(self, key: Key, role: int, half: Half[Result]) -> bool:
        """Remove a waiting half; returns whether it was there, so that the other service had no request."""
        with self._lock:
            if self._waiting.get((key, role)) is not half:
                return False
            del self._waiting[key, role]
            return True

    def give_up(self) -> None:
        """End the wait of all halves."""
        with self._lock:
            for half in self._waiting.values():
                half.give_up()


Role = int
"""The number of one of both streams: 0 or 1."""

_LEAD_MESSAGES = 64
_LEAD_BYTES = 1 << 18
"""The lead that one stream may always have: enough that streams of small batches seldom wait."""


class SharedBytes:
    """The bytes of bodies that a server may keep for clients that are far apart, plus one body for each."""

    def __init__(self, size: int) -> None:
        self._left = size
        self._lock = threading.Lock()

    @property
    def has_some(self) -> bool:
        """Whether any are left."""
        return self._left > 0

    def take(self, size: int) -> None:
        """Take `size` bytes from those that may be kept."""
        with self._lock:
            self._left -= size

    def give_back(self, size: int) -> None:
        """Give back `size` bytes that are no longer kept."""
        with self._lock:
            self._left += size


class _Kept(NamedTuple):
    """A message that one stream has still to take, and the shared bytes that are charged for it."""

    message: Message
    charged: int


class _Stream:
    """The messages kept for one of the two streams."""

    def __init__(self) -> None:
        self.kept: deque[_Kept] = deque()
        self.kept_bytes = 0
        self.is_waiting = False
        self.has_left = False
        self.still_since = 0.0
        """Since when it has taken nothing, though something is kept for it."""

    @property
    def is_near(self) -> bool:
        """Whether the other stream is not far ahead of this one."""
        return self.kept_bytes < _LEAD_BYTES and len(self.kept) < _LEAD_MESSAGES


@dataclass(eq=False)
class SharedMessages:
    """The messages of one source for two streams.

    If the source can be read twice, each stream reads it (`open_source` then returns two). Any other
    source is opened and read in one thread, as some sources require. The thread takes a message when a
    stream waits for one, and keeps it until the other stream has taken it, too.

    A stream may be a little ahead of the other. It may go further once the other has taken nothing for
    `patience` seconds, as when a client reads one stream to its end first; `shared_bytes` limits what
    is kept for such clients.
    """

    open_source: Callable[[], Sequence[Iterator[Message]]]
    bounds: Bounds
    shared_bytes: SharedBytes
    start: Callable[[Callable[[], None]], None]
    patience: float

    def __post_init__(self) -> None:
        self._changed = threading.Condition()
        self._has_started = False
        self._twice: Sequence[Iterator[Message]] | None = None
        self._streams = (_Stream(), _Stream())
        self._has_ended = False
        self._failure: BaseException | None = None

    def messages(self, role: Role) -> Iterator[Message]:
        """The messages for one of the streams; raises `BrokenPipeError` if it was left."""
        self._start_once()
        while (message := self._next(role)) is not None:
            yield message
            # No reference is kept while the next message is waited for.
            del message
        if self._twice is not None:
            yield from self._twice[role]

    def leave(self, role: Role) -> None:
        """Note that a stream takes no more messages; the other one need not wait for it."""
        stream = self._streams[role]
        with self._changed:
            stream.has_left = True
            self.shared_bytes.give_back(sum(each.charged for each in stream.kept))
            stream.kept.clear()
            stream.kept_bytes = 0
            self._changed.notify_all()

    def _start_once(self) -> None:
        with self._changed:
            has_started, self._has_started = self._has_started, True
        if has_started:
            return
        try:
            self.start(self._read)
        except Exception as error:  # noqa: BLE001 - there may be no thread; both are told
            self._finish(error)

    def _next(self, role: Role) -> Message | None:
        stream = self._streams[role]
        with self._changed:
            stream.is_waiting = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: stream.has_left or stream.kept or self._has_ended)
            stream.is_waiting = False
            if stream.has_left:
                raise BrokenPipeError("the client has gone")
            if stream.kept:
                message, charged = stream.kept.popleft()
                stream.kept_bytes -= _body_bytes(message)
                stream.still_since = time.monotonic()
                self.shared_bytes.give_back(charged)
                self._changed.notify_all()
                return message
            if self._failure is not None:
                raise self._failure
            return None

    def _read(self) -> None:
        """Open the source and read the messages that the streams wait for, all in one thread."""
        try:
            opened = self.open_source()
            if len(opened) > 1:
                self._twice = opened
            else:
                while self._is_wanted() and self._keep(next(opened[0], None)):
                    pass
        except BaseException as error:  # noqa: BLE001 - whatever the source raises, for both
            self._finish(error)
        else:
            self._finish()

    def _finish(self, failure: BaseException | None = None) -> None:
        with self._changed:
            self._has_ended, self._failure = True, failure
            self._changed.notify_all()

    def _is_wanted(self) -> bool:
        """Wait until a stream needs a message that may be taken; False if both have been left."""
        with self._changed:
            # Nothing notifies of passing time, nor of bytes that other clients give back.
            while not self._changed.wait_for(
                lambda: self._may_take() or self._is_over, self.patience
            ):
                pass
            return not self._is_over

    @property
    def _is_over(self) -> bool:
        return all(stream.has_left for stream in self._streams)

    def _may_take(self) -> bool:
        one, other = self._streams
        return self._may_go_ahead(one, other) or self._may_go_ahead(other, one)

    def _may_go_ahead(self, ahead: _Stream, behind: _Stream) -> bool:
        if not ahead.is_waiting or ahead.kept:
            return False
        if behind.has_left or behind.is_near:
            return True
        return (
            time.monotonic() - behind.still_since >= self.patience
            and len(behind.kept) < self.bounds.pending_messages
            and self.shared_bytes.has_some
        )

    def _keep(self, message: Message | None) -> bool:
        """Keep a message for both streams; False if it is None, at the end of the source."""
        if message is None:
            return False
        size = _body_bytes(message)
        with self._changed:
            for stream in self._streams:
                if stream.has_left:
                    continue
                charged = 0 if stream.is_near else size
                self.shared_bytes.take(charged)
                if not stream.kept:
                    stream.still_since = time.monotonic()
                stream.kept.append(_Kept(message, charged))
                stream.kept_bytes += size
            self._changed.notify_all()
        return True


def _body_bytes(message: Message) -> int:
    return 0 if message.body is None else message.body.size
