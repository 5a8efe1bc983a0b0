"""Pairs the connections of a client of two services, one for metadata and one for bodies."""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

Result = TypeVar("Result")
Key = tuple[bytes, bytes]


class Half(Generic[Result]):
    """A client that has asked at one of the services."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._result: Result | None = None

    def complete(self, result: Result) -> None:
        """Give the result, once it has asked at the other service, too."""
        self._result = result
        self._event.set()

    def give_up(self) -> None:
        """End the wait: there will be no result."""
        self._event.set()

    def result(self, timeout: float) -> Result:
        """The result, once it has asked at the other service; raises `TimeoutError`."""
        if not self._event.wait(timeout) or self._result is None:
            raise TimeoutError
        return self._result


class Pairing(Generic[Result]):
    """The halves that wait for their other half."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[tuple[Key, int], Half[Result]] = {}

    def other_or_wait(self, key: Key, role: int) -> tuple[Half[Result], bool]:
        """The other half, and True; or the half that waits for it (`role`: the service, 0 or 1)."""
        with self._lock:
            waiting = self._waiting.pop((key, 1 - role), None)
            if waiting is not None:
                return waiting, True
            half = self._waiting[key, role] = Half()
            return half, False

    def forget(self, key: Key, role: int, half: Half[Result]) -> bool:
        """A half waits no more; whether it did, since nobody has asked at the other service."""
        with self._lock:
            if self._waiting.get((key, role)) is not half:
                return False
            del self._waiting[key, role]
            return True

    def give_up(self) -> None:
        """No half need wait any more."""
        with self._lock:
            for half in self._waiting.values():
                half.give_up()
