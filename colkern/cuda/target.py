"""The CUDA target: runs kernels over device memory. `colkern.cpu.target` has the same names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from colkern.cuda import adapter, memory
from colkern.cuda.compiler import compile_kernel
from colkern.kernels.kernel import Kernel
from colkern.memory import Buffer, Device

THREADS = 256
TILE = 4096

LANES = 8
"""How many threads work together on an item of a `grouped` kernel."""

_MOST = (1 << 63) - 1


class _Cut(NamedTuple):
    """How a range becomes a grid: its blocks, their threads, how many work on one item, a block's items."""

    blocks: int
    threads: int
    lanes: int
    tile: int


class CudaTarget:
    """Runs kernels on one CUDA device, on the stream that is current there in CuPy.

    Args:
        device: The device.

    Raises:
        DeviceUnavailableError: If this process cannot use it.
    """

    def __init__(self, device: Device) -> None:
        adapter.require_device()
        self.device = device
        # The simulator runs a Python thread for each of a block's.
        self._threads = 4 if adapter.is_simulated() else THREADS
        self._tile = 16 if adapter.is_simulated() else TILE
        self._lanes = 2 if adapter.is_simulated() else LANES

    block_words = 1
    """How many words of a bitmap make a block of a filter: a thread's work."""

    def map(
        self, kernel: Kernel, count: int, *args: Any, grain: int = 0, balance: Any = None
    ) -> None:
        """Start a kernel that writes; returns before it has ended.

        Tiles are small enough to even out items of unequal work, so `balance` is not needed here.
        """
        if count > 0:
            self._launch(kernel, count, self._cut(kernel, count), args)

    def reduce(self, kernel: Kernel, count: int, *args: Any, grain: int = 0) -> Any:
        """Run a kernel that returns partial results, and combine them as it says; waits."""
        cut = self._cut(kernel, count)
        partials = self.allocate(cut.blocks, np.dtype(kernel.returns))
        self._launch(kernel, count, cut, (*args, partials))
        with memory.current(self.device):
            whole = getattr(partials, "sum" if kernel.combine == "add" else kernel.combine)()
        return float(whole) if kernel.returns[0] == "f" else int(whole)

    def _cut(self, kernel: Kernel, count: int) -> _Cut:
        if kernel.sequential:
            return _Cut(1, 1, 1, max(count, 1))
        lanes = self._lanes if kernel.grouped else 1
        tile = self._tile // lanes
        return _Cut(max(-(-count // tile), 1), self._threads, lanes, tile)

    def _launch(self, kernel: Kernel, count: int, cut: _Cut, args: tuple[Any, ...]) -> None:
        made = compile_kernel(kernel, cut.threads, cut.lanes)
        counts = (np.uint64(count), np.uint64(cut.tile))
        plain = tuple(np.int64(a) if isinstance(a, int) and a < 1 << 63 else a for a in args)
        with memory.current(self.device):
            stream = memory.current_stream()
            adapter.launch(made, cut.blocks, cut.threads, stream, (*counts, *plain))

    def scan(self, lengths: Any, dtype: Any) -> Any:
        """`[0, l0, l0 + l1, …]`: lengths (int64[n]) to offsets (dtype[n + 1]).

        The caller has made sure that the sum fits; see `total`.
        """
        offsets = self.allocate(len(lengths) + 1, dtype)
        with memory.current(self.device):
            memory.array_library().cumsum(lengths, out=offsets[1:])
        return offsets

    def copy(self, items: Any, out: Any) -> None:
        """`out[:] = items`, both unsigned words of one type."""
        with memory.current(self.device):
            out[:] = items

    def accumulate(self, offsets: Any) -> None:
        """Lengths behind one item of anything become offsets `[0, l0, l0 + l1, …]`, in place.

        The caller has made sure that the sum fits.
        """
        with memory.current(self.device):
            offsets[:1] = 0
            offsets[:] = memory.array_library().cumsum(offsets, dtype=offsets.dtype)

    def running_sum(self, lengths: Any, dtype: Any) -> tuple[Any, int]:
        """As `scan`, and the sum; where that does not fit, there are no offsets. Waits."""
        total = self.total(lengths)
        return None if total > np.iinfo(dtype).max else self.scan(lengths, dtype), total

    def total(self, lengths: Any) -> int:
        """The sum of an int64 array, none of them negative; exact, also past 64 bits; waits."""
        if len(lengths) and int(lengths.max()) > _MOST // len(lengths):
            return sum(lengths.tolist())
        return int(lengths.sum())

    def allocate(self, count: int, dtype: Any) -> Any:
        """A zeroed array."""
        with memory.current(self.device):
            return memory.allocate(count, dtype)

    def output(self, count: int, dtype: Any) -> Any:
        """An array of which a kernel writes every item; not zeroed."""
        with memory.current(self.device):
            return memory.allocate_for_overwrite(count, dtype)

    def table(self, values: Sequence[int], dtype: Any) -> Any:
        """A small array of host values, copied to the device."""
        with memory.current(self.device):
            return memory.array_library().asarray(np.array(values, dtype))

    def positions(self, count: int) -> Any:
        """The numbers from 0 on (int64[count])."""
        with memory.current(self.device):
            return memory.array_library().arange(count, dtype=np.int64)

    def item(self, array: Any, position: int) -> int:
        """One number of an array; waits."""
        return int(array[position])

    def address(self, array: Any) -> int:
        """The address of an array's first item."""
        return int(array.ctypes.data if adapter.is_simulated() else array.data.ptr)

    def frozen(self, array: Any) -> Any:
        """The same array for reading; device arrays know no difference."""
        return array

    def buffer(self, array: Any) -> Buffer:
        """The buffer of an array's bytes; not copied."""
        return Buffer(array.view(np.uint8), self.device)
