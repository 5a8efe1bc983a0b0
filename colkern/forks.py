"""Locks that a fork cannot leave held.

A forked child has the forking thread alone. A lock that another thread held stays held there, and whoever
asks for it waits for ever.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

_forks = 0
_renewing = threading.Lock()


def _count_fork() -> None:
    global _forks, _renewing
    _forks += 1
    _renewing = threading.Lock()


os.register_at_fork(after_in_child=_count_fork)


class Lock:
    """A lock that is free in a forked child, whoever held it.

    For state that is right at every moment: what the holder was doing is lost in the child, and done again.

    Args:
        make: `threading.Lock` or `threading.RLock`.
    """

    __slots__ = ("_forks", "_lock", "_make")

    def __init__(self, make: Callable[[], Any] = threading.Lock) -> None:
        self._make = make
        self._lock = make()
        self._forks = _forks

    def __enter__(self) -> None:
        if self._forks != _forks:
            with _renewing:
                if self._forks != _forks:
                    self._lock = self._make()
                    self._forks = _forks
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def hold_over_forks(*locks: AbstractContextManager[Any]) -> None:
    """Take locks before each fork of this process, and let go of them after it in parent and child.

    For locks of others, and for state that is wrong while they are held: a fork waits for their holders.

    Args:
        locks: In the order in which threads that need several take them; each may be taken twice.
    """

    def take() -> None:
        for lock in locks:
            lock.__enter__()

    def let_go() -> None:
        for lock in reversed(locks):
            lock.__exit__(None, None, None)

    os.register_at_fork(before=take, after_in_parent=let_go, after_in_child=let_go)
