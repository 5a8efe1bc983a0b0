"""Counts of the bytes that cross the bus between host and device."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Transfers:
    """Copies between host and device.

    Args:
        bytes_to_device: Bytes that went to a device.
        copies_to_device: In how many copies.
        bytes_to_host: Bytes that came from a device.
        copies_to_host: In how many copies.
    """

    bytes_to_device: int = 0
    copies_to_device: int = 0
    bytes_to_host: int = 0
    copies_to_host: int = 0


_lock = threading.Lock()
_counting: list[Transfers] = []


@contextmanager
def count_transfers() -> Iterator[Transfers]:
    """Count the copies of this process between host and device, in all of its threads.

    Counted are those of colkern: bodies of messages, arrays that are moved, results that operations
    fetch to decide on. A copy counts when it is asked for.
    """
    counted = Transfers()
    with _lock:
        _counting.append(counted)
    try:
        yield counted
    finally:
        with _lock:
            # By identity: two of them may have counted the same.
            _counting[:] = [other for other in _counting if other is not counted]


def count_to_device(size: int) -> None:
    """Count a copy of `size` bytes to a device."""
    if _counting:
        with _lock:
            for counted in _counting:
                counted.bytes_to_device += size
                counted.copies_to_device += 1


def count_to_host(size: int) -> None:
    """Count a copy of `size` bytes from a device."""
    if _counting:
        with _lock:
            for counted in _counting:
                counted.bytes_to_host += size
                counted.copies_to_host += 1
