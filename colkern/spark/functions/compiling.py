"""Workers that start at the same time compile one after the other: the first for all."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator

from colkern.cache import cache_dir

FEW = 8
"""The number of rows with which a worker compiles while others wait; they do not wait for more."""


@contextlib.contextmanager
def one_process_compiles() -> Iterator[None]:
    """Wait for the other processes of this machine that compile, and make those that come wait."""
    try:
        lock = (cache_dir("kernels") / "compiling.lock").open("wb")
    except OSError:
        # Nowhere to keep compiled code: there is nothing to wait for.
        yield
        return
    with lock:
        # Some network file systems have no locks: then each process compiles.
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
