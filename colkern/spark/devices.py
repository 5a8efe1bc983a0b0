"""The device of a Spark task: the GPU that Spark has given it, or the CPU; and of a batch.

On the GPU, a batch needs a transfer there, one back, and launches: for few rows that takes longer than the
whole batch takes on the CPU. The size from which the GPU is faster depends on the function, the columns and
the machine, so a few batches of each size are timed on both, and the outcome is remembered.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from weakref import WeakKeyDictionary

from pyspark import TaskContext

from colkern.errors import DeviceUnavailableError
from colkern.memory import HOST, Device


def task_device() -> Device:
    """Returns the device on which the functions of this task run.

    That is the first GPU that Spark's scheduler has given to the task (`spark.task.resource.gpu.amount`),
    by its address; the CPU if the task has no GPU, and outside of tasks. The GPU itself is not accessed.

    An address is a GPU's number as `nvidia-smi` counts, or its UUID. Where `CUDA_VISIBLE_DEVICES` names
    GPUs, CUDA counts only those, so the device number is the place of the address among them.

    Raises:
        DeviceUnavailableError: If the process cannot see the GPU of the task.
    """
    context = TaskContext.get()
    gpus = context.resources().get("gpu") if context is not None else None
    if gpus is None or not gpus.addresses:
        return HOST
    return Device("cuda", _ordinal(gpus.addresses[0]))


def _ordinal(address: str) -> int:
    visible = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")]
    if address in visible:
        return visible.index(address)
    if "CUDA_VISIBLE_DEVICES" in os.environ or not address.isdecimal():
        raise DeviceUnavailableError(
            f"the task's GPU has the address {address}, which CUDA_VISIBLE_DEVICES does not name; "
            f"set spark.executorEnv.CUDA_VISIBLE_DEVICES to the addresses of the executor's GPUs"
        )
    return int(address)


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
