"""Targets: where kernels run, and the patterns in which they do.

An operation runs on the target where the bytes of its input live. `Target` lists what all targets have;
`colkern.cpu.target.CpuTarget` and `colkern.cuda.target.CudaTarget` write each pattern in their own way:

| Pattern | CPU | CUDA |
| --- | --- | --- |
| map | one range for each thread of the pool, or the calling thread alone | tiles over a grid |
| reduce | a partial result for each thread | a partial result for each block, combined on the host |
| scan, accumulate, running_sum | one kernel in order | CuPy's cumsum |
| sort_positions | a radix sort | CuPy's stable sort |
| allocate, output, table | host memory | device memory |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from colkern.errors import UnsupportedError
from colkern.memory import HOST, Buffer, Device
from colkern.memory import UNKNOWN as UNKNOWN
from colkern.memory import Argument as Argument
from colkern.memory import DType as DType
from colkern.memory import Items as Items
from colkern.memory import ItemType as ItemType
from colkern.memory import Later as Later

if TYPE_CHECKING:
    from colkern.kernels.kernel import Kernel

NOWHERE = (1 << 64) - 1
"""The result of a kernel that searches for a slot, if there is no such slot."""


class Target(Protocol):
    """Runs kernels on one device, and allocates memory there."""

    @property
    def device(self) -> Device:
        """The device."""

    @property
    def no_bits(self) -> Items:
        """The bitmap that kernels get for an array without one: no bytes."""

    @property
    def together(self) -> AbstractContextManager[object]:
        """Within it, kernels that are mapped or started are independent: none uses the results of another,
        and nobody waits for them. A device may run them as one launch, at the end; see
        `colkern.kernels.together`. Addresses among their arguments are of memory that existed before, or
        that the target has allocated.
        """

    def block_words(self, words: int) -> int:
        """The number of words of a bitmap in one block of a filter."""

    def map(
        self,
        kernel: Kernel,
        count: int,
        *args: Argument,
        work: float = 1,
        balance: Items | None = None,
    ) -> None:
        """Run a kernel that writes its outputs, over `count` items.

        A CUDA device may still be running it when the call returns.

        Args:
            work: The cost of an item; 1 is that of one number in a plain loop.
            balance: The running sum of the cost of each item, [count + 1], if items differ much: the
                threads of a CPU then share the cost equally, not the items.
        """

    def reduce(self, kernel: Kernel, count: int, *args: Argument, work: float = 1) -> int:
        """Run a kernel that returns partial results, combined as `kernel.combine` says. Waits."""

    def later(self, kernel: Kernel, count: int, *args: Argument, work: float = 1) -> Later:
        """Start a `reduce`; calling the result waits for it and for all that this thread started before."""

    def later_item(self, array: Items, position: int) -> Later:
        """As `item`, but waits as `later` does."""

    def start(self, kernel: Kernel, count: int, *args: Argument) -> int:
        """As `reduce`, but without waiting: `UNKNOWN` if the result would have to be waited for."""

    def scan(self, lengths: Items, dtype: ItemType) -> Items:
        """Offsets `[0, l0, l0 + l1, …]` (dtype[n + 1]) of lengths (int64[n]), whose sum must fit."""

    def copy(self, items: Items, out: Items, place: int = 0) -> None:
        """`out[place : place + len(items)] = items`, both of bytes (uint8[])."""

    def accumulate(self, lengths: Items) -> None:
        """Turn `[any, l0, l1, …]` into offsets `[0, l0, l0 + l1, …]` in place; the sum must fit."""

    def running_sum(self, lengths: Items, dtype: ItemType) -> tuple[Items, int]:
        """As `scan`, and the sum. Waits. If the sum does not fit `dtype`, the offsets are meaningless."""

    def total(self, lengths: Items) -> int:
        """The exact sum of an int64 array without negative items; it may exceed 64 bits. Waits."""

    def allocate(self, count: int, dtype: ItemType) -> Items:
        """A zeroed array."""

    def output(self, count: int, dtype: ItemType) -> Items:
        """An array that is not zeroed, for a kernel that writes every item."""

    def table(self, values: Sequence[float | np.number[Any]] | Items, dtype: ItemType) -> Items:
        """A small array of host values for kernels; perhaps `values` itself, which must not change then."""

    def positions(self, count: int) -> NDArray[np.int64]:
        """The numbers from 0 on (int64[count])."""

    def sort_positions(self, keys: Items, positions: Items | None = None) -> Items:
        """The positions (uint64[]; all, if None) in the order of their keys (uint64[n]); stable."""

    def item(self, array: Items, position: int) -> int:
        """One number of an array. Waits."""

    def ends(self, *arrays: Items) -> list[tuple[int, int]]:
        """The first and the last number of each array, all of one dtype and none empty. Waits once."""

    def address(self, array: Items) -> int:
        """The address of an array's first item."""

    def buffer(self, array: Items, size: int | None = None) -> Buffer:
        """The buffer of an array's bytes, or of the first `size` of them; not copied."""


Args = ParamSpec("Args")
Result = TypeVar("Result")


def on_its_device(function: Callable[Args, Result]) -> Callable[Args, Result]:
    """A function that leaves arithmetic to the array library, which then works where the bytes are. The
    first argument says which device: an array, several, or a target.
    """
    # Targets choose the device for what they do themselves. Within the function, its device is current, and
    # errors of the library are raised in colkern's words.

    @wraps(function)
    def called(*args: Args.args, **options: Args.kwargs) -> Result:
        first: Any = args[0]
        device = (first[0] if isinstance(first, (list, tuple)) else first).device
        if device == HOST:
            return function(*args, **options)
        from colkern.cuda import memory

        with memory.current(device):
            return function(*args, **options)

    return called


@on_its_device
def filled(target: Target, count: int, dtype: ItemType, value: int | np.uint64) -> Items:
    """An array of a target, with one value everywhere."""
    items = target.output(count, dtype)
    items[:] = value
    return items


@cache
def target_of(device: Device) -> Target:
    """The target for a device; its compiler is imported at the first call."""
    if device.kind == "cpu":
        from colkern.cpu.target import CpuTarget

        return CpuTarget()
    if device.kind != "cuda":
        raise UnsupportedError(f"no kernels for memory on {device}")
    from colkern.cuda import stand_in

    stand_in.when_changed.add(target_of.cache_clear)
    if stand_in.installed_library() is not None:
        from colkern.cuda.stand_in_target import StandInTarget

        return StandInTarget(device)
    from colkern.cuda.target import CudaTarget

    return CudaTarget(device)
