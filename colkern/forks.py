"""Locks that a fork cannot leave held.

A forked child has only the thread that forked. A lock that another thread held stays held in the child,
and whoever takes it there waits for ever.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import get_ident
from typing import TYPE_CHECKING, TypeVar

_T = TypeVar("_T")

_forking: list[int] = []
"""The threads that forked the processes from the first one to this."""

_settling = threading.Lock()


def _note_fork() -> None:
    global _settling
    _forking.append(get_ident())
    _settling = threading.Lock()


os.register_at_fork(after_in_child=_note_fork)


class Lock:
    """A lock that is free in a forked child, unless the thread that forked holds it.

    A child does not have the other threads, so it never finishes their work under the lock. The state that
    the lock guards must be valid at every moment, and the child does unfinished work itself. A lock that
    the forking thread holds stays held by that thread, in the child as in the parent.

    Args:
        make: `threading.Lock` or `threading.RLock`.
    """

    __slots__ = ("_depth", "_forks", "_lock", "_make", "_owner")

    def __init__(
        self, make: Callable[[], threading.Lock | threading.RLock] = threading.Lock
    ) -> None:
        self._make = make
        self._lock = make()
        self._owner: int | None = None
        self._depth = 0
        self._forks = len(_forking)

    def __enter__(self) -> None:
        if self._forks != len(_forking):
            self._settle()
        self._lock.acquire()
        self._owner = get_ident()
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        # First: `_settle` takes a lock without an owner for one that the fork lost, and would
        # replace it.
        if self._forks != len(_forking):
            self._settle()
        self._depth -= 1
        if self._depth == 0:
            self._owner = None
        self._lock.release()

    def _settle(self) -> None:
        """After a fork, replace the lock unless its owner is still there."""
        with _settling:
            if any(thread != self._owner for thread in _forking[self._forks :]):
                self._lock = self._make()
                self._owner = None
                self._depth = 0
            self._forks = len(_forking)


class cached_property(functools.cached_property[_T]):
    """`functools.cached_property` without a lock (as from Python 3.12): all get the first value made."""

    if not TYPE_CHECKING:

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.attrname, self.func(instance))


def hold_over_forks(*locks: AbstractContextManager[object]) -> None:
    """Take locks, in that order, before each fork of this process; parent and child then release them."""
    # For locks of others, and for state that is wrong while they are held: a fork waits for their holders.
    # The order is that in which threads that need several take them; each may be taken twice.

    def take() -> None:
        for lock in locks:
            lock.__enter__()

    def let_go() -> None:
        for lock in reversed(locks):
            lock.__exit__(None, None, None)

    os.register_at_fork(before=take, after_in_parent=let_go, after_in_child=let_go)
