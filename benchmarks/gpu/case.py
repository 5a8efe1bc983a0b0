"""What is measured on a GPU: launches of kernels, registered by concern.

    @launches
    def lengths_of(data):
        count = data.slots(12)
        offsets, out = data.range(count + 1, "i4"), data.out(count, "i8")
        yield Launch(kernels.lengths_of, "int32", count, offsets, out)

A launch works on about `data.size` bytes. `tests/cuda/test_gpu_benchmarks.py` runs all of them with
a few bytes, and says which kernels no launch is of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from colkern.cuda import memory
from colkern.kernels import Kernel


class Launch:
    """One kernel on one set of data.

    Args:
        kernel: The kernel.
        label: What is special about the data.
        count: The range.
        args: The kernel's arguments, the output last.
        at: Arrays that the kernel reads by their addresses.
    """

    def __init__(
        self, kernel: Kernel, label: str, count: int, *args: Any, at: Sequence[Any] = ()
    ) -> None:
        self.kernel, self.count, self.args, self.at = kernel, count, args, at
        self.name = f"{kernel.name}, {label}" if label else kernel.name

    @property
    def nbytes(self) -> int:
        """What is read and written: each array once, which is so where none is read over and over."""
        return sum(array.nbytes for array in (*self.args, *self.at) if hasattr(array, "nbytes"))

    def run(self, target: Any) -> Any:
        """Start it; a kernel that returns is waited for."""
        if self.kernel.returns:
            return target.reduce(self.kernel, self.count, *self.args)
        return target.map(self.kernel, self.count, *self.args)


class Data:
    """Material for launches, in the memory of a target.

    Args:
        target: The target.
        size: About how many bytes a launch is to work on.
    """

    def __init__(self, target: Any, size: int) -> None:
        self.target, self.size = target, size
        self._library = memory.array_library()
        self.none = target.table([], np.uint8)
        """A bitmap that is not there."""

    def slots(self, width: float) -> int:
        """How many slots it takes for a launch if each stands for so many bytes."""
        return max(int(self.size / width), 1)

    def out(self, count: int, dtype: str) -> Any:
        """An output."""
        return self.target.allocate(count, dtype)

    def full(self, count: int, value: int, dtype: str) -> Any:
        return self._library.full(count, value, dtype)

    def range(self, count: int, dtype: str, step: int = 1, start: int = 0) -> Any:
        """`start`, `start + step`, …"""
        return (self._library.arange(count, dtype="i8") * step + start).astype(dtype)

    def repeated(self, values: Sequence[int], count: int, dtype: str) -> Any:
        """So many items, those values again and again."""
        times = -(-count // len(values))
        return self._library.tile(self.table(values, dtype), times)[:count]

    def numbers(self, count: int, below: int, dtype: str) -> Any:
        """Random numbers from 0 on."""
        return self._library.random.randint(0, below, count).astype(dtype)

    def bits(self, count: int) -> Any:
        """A bitmap of which half is set."""
        size = (count + 7) // 8
        # As words: random numbers are made in 64 bits each.
        return self.numbers(-(-size // 4), 1 << 32, "u4").view("u1")[:size]

    def table(self, values: Sequence[int], dtype: str) -> Any:
        return self.target.table(values, dtype)

    def addresses(self, *arrays: Any) -> Any:
        """A table of where arrays begin."""
        return self.table([self.target.address(array) for array in arrays], "u8")


LAUNCHES: dict[str, Callable[[Data], Iterator[Launch]]] = {}


def launches(make: Callable[[Data], Iterator[Launch]]) -> Callable[[Data], Iterator[Launch]]:
    """Register a function that makes launches."""
    assert make.__name__ not in LAUNCHES, make.__name__
    LAUNCHES[make.__name__] = make
    return make
