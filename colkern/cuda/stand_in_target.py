"""Kernels over a stand-in's memory: they run on the CPU, and what they make is on the device."""

from __future__ import annotations

from numpy.typing import DTypeLike

from colkern.cpu.target import CpuTarget
from colkern.cuda import memory
from colkern.kernels.kernel import Kernel
from colkern.memory import UNKNOWN, Argument, Buffer, Device, Items


class StandInTarget(CpuTarget):
    """`colkern.cpu.target.CpuTarget` with outputs in a stand-in's memory.

    Args:
        device: The stand-in's device.
    """

    def __init__(self, device: Device) -> None:
        self.device = device

    def start(self, kernel: Kernel, count: int, *args: Argument) -> int:
        """See `Target.start`."""
        self.reduce(kernel, count, *args)
        return UNKNOWN

    def allocate(self, count: int, dtype: DTypeLike) -> Items:
        """A zeroed array."""
        items: Items = memory.allocate(count, dtype)
        return items

    def output(self, count: int, dtype: DTypeLike) -> Items:
        """An array of which a kernel writes every item; not zeroed."""
        items: Items = memory.allocate_for_overwrite(count, dtype)
        return items

    def buffer(self, array: Items, size: int | None = None) -> Buffer:
        """See `Target.buffer`."""
        return Buffer(array.view("u1")[:size], self.device)
