"""Chooses the device for a batch, in a task that has a GPU: the one on which batches of its size took less
time.

On the GPU, a batch needs a transfer there, one back, and launches: for few rows that takes longer than the
whole batch takes on the CPU. The size from which the GPU is faster depends on the function, the columns and
the machine, so a few batches of each size are timed on both, and the outcome is remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from weakref import WeakKeyDictionary

from colkern.memory import HOST, Device

TIMED = 3
"""The number of batches of a size that are timed on each device. The least time counts, as the first batch
compiles."""


class Placing:
    """The choice for one function, by row counts within a power of two; with `stays_on_host`, no GPU runs
    it."""

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self.stays_on_host = False
        self._clock = clock
        self._times: dict[int, tuple[list[float], list[float]]] = {}

    def device(self, rows: int, device: Device) -> Device:
        """Returns the device for a batch of `rows` rows: the task's device, or the host."""
        if self.stays_on_host or device == HOST:
            return HOST
        size = rows.bit_length()
        pays = self._pays(size)
        if pays is None:
            if any(self._pays(smaller) for smaller in list(self._times) if smaller < size):
                return device
            if any(self._pays(larger) is False for larger in list(self._times) if larger > size):
                return HOST
            here, there = self._times.get(size, ([], []))
            pays = len(there) <= len(here)
        return device if pays else HOST

    def _pays(self, size: int) -> bool | None:
        """Whether a size is faster on the device; None as long as too few of its batches were timed."""
        here, there = self._times.get(size, ([], []))
        return min(there) < min(here) if min(len(here), len(there)) >= TIMED else None

    @contextmanager
    def timed(self, rows: int, device: Device) -> Iterator[None]:
        """Time a batch of `rows` rows, which has run on `device` when the context is left."""
        begin = self._clock()
        yield
        times = self._times.setdefault(rows.bit_length(), ([], []))[device != HOST]
        if len(times) < TIMED:
            times.append(self._clock() - begin)


_placings: WeakKeyDictionary[object, Placing] = WeakKeyDictionary()


def placing_of(function: object) -> Placing:
    """Returns the choice for a function, which all tasks of a worker share."""
    return _placings.setdefault(function, Placing())
