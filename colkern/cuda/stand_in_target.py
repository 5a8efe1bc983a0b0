"""Kernels over a stand-in's memory: they run on the CPU, with outputs in the stand-in's memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from colkern.cpu.target import CpuTarget
from colkern.cuda import memory
from colkern.kernels.kernel import Kernel
from colkern.memory import UNKNOWN, Argument, Buffer, Device, Items, ItemType


class StandInTarget(CpuTarget):
    """`colkern.cpu.target.CpuTarget` with outputs in a stand-in's memory."""

    def __init__(self, device: Device) -> None:
        self.device = device

    def map(self, kernel: Kernel, count: int, *args: Argument, **options: Any) -> None:
        self._require_own(args)
        super().map(kernel, count, *args, **options)

    def reduce(self, kernel: Kernel, count: int, *args: Argument, work: float = 1) -> int:
        self._require_own(args)
        return super().reduce(kernel, count, *args, work=work)

    def start(self, kernel: Kernel, count: int, *args: Argument, work: float = 1) -> int:
        self.reduce(kernel, count, *args, work=work)
        return UNKNOWN

    def _require_own(self, args: tuple[Argument, ...]) -> None:
        library: Any = memory.library()
        for value in args:
            if isinstance(value, np.ndarray):
                library.require_own(value, self.device.ordinal)

    def allocate(self, count: int, dtype: ItemType) -> Items:
        """A zeroed array."""
        with memory.current(self.device):
            return memory.allocate(count, dtype)

    def output(self, count: int, dtype: ItemType) -> Items:
        """An array of which a kernel writes every item; not zeroed."""
        with memory.current(self.device):
            return memory.allocate_for_overwrite(count, dtype)

    def buffer(self, array: Items, size: int | None = None) -> Buffer:
        return Buffer(array.view("u1")[:size], self.device)
