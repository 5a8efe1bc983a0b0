"""The CUDA target: runs kernels over device memory. `colkern.cpu.target` has the same names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from colkern.cuda import adapter, memory
from colkern.cuda.compiler import compile_kernel
from colkern.kernels.kernel import Kernel
from colkern.memory import Buffer, Device

THREADS = 256
TILE = 4096

_MOST = (1 << 63) - 1


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

    def map(self, kernel: Kernel, count: int, *args: Any, grain: int = 0) -> None:
        """Start a kernel that writes; returns before it has ended."""
        if count > 0:
            made = compile_kernel(kernel, "", self._threads)
            self._launch(made, count, self._blocks(count), args)

    def reduce(
        self,
        kernel: Kernel,
        combine: Callable[[int, int], int],
        count: int,
        *args: Any,
        grain: int = 0,
    ) -> int:
        """Run a kernel that returns partial results, and combine them (`add` or `min`); waits."""
        how = combine.__name__
        blocks = self._blocks(count)
        partials = self.allocate(blocks, np.uint64)
        made = compile_kernel(kernel, how, self._threads)
        self._launch(made, count, blocks, (*args, partials))
        return int(partials.sum() if how == "add" else partials.min())

    def _blocks(self, count: int) -> int:
        return max(-(-count // self._tile), 1)

    def _launch(self, kernel: Any, count: int, blocks: int, args: tuple[Any, ...]) -> None:
        counts = (np.uint64(count), np.uint64(self._tile))
        plain = tuple(np.int64(a) if isinstance(a, int) and a < 1 << 63 else a for a in args)
        with memory.current(self.device):
            stream = memory.current_stream()
            adapter.launch(kernel, blocks, self._threads, stream, (*counts, *plain))

    def scan(self, lengths: Any, dtype: Any) -> Any:
        """`[0, l0, l0 + l1, …]`: lengths (int64[n]) to offsets (dtype[n + 1]).

        The caller has made sure that the sum fits; see `total`.
        """
        offsets = self.allocate(len(lengths) + 1, dtype)
        with memory.current(self.device):
            memory.array_library().cumsum(lengths, out=offsets[1:])
        return offsets

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
