"""The primitives with an implementation for each compiler, for the simulator: in plain Python.

For primitives that bodies use, the simulator takes the definitions in `colkern.kernels.primitives`;
this module has those that other primitives use.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple, SupportsInt
from weakref import WeakKeyDictionary

from numpy import uint8, uint64
from numpy.typing import NDArray

from colkern.kernels import primitives
from colkern.memory import Items


class _Group(NamedTuple):
    """Threads that wait for each other, and the value that each shows the others."""

    barrier: threading.Barrier
    values: dict[int, object]


_groups: WeakKeyDictionary[object, dict[tuple[int, int], _Group]] = WeakKeyDictionary()
"""Block of the simulator → its groups."""

_groups_lock = threading.Lock()

_LONGEST_WAIT = 60
"""The seconds after which a thread stops waiting for another one, which must have failed."""


class Thread:
    """The compiler's module for the running thread; the simulator itself provides it only to kernels."""

    def __init__(self, module_of_kernel: Callable[[], object]) -> None:
        self._module_of_kernel = module_of_kernel

    def __getattr__(self, name: str) -> Any:
        """Anything else of that module."""
        return getattr(self._module_of_kernel(), name)

    @property
    def threadIdx(self) -> Any:
        """The thread's place in the block."""
        return threading.current_thread().threadIdx  # type: ignore[attr-defined]

    def syncwarp(self, lanes: SupportsInt) -> None:
        """Wait for the threads of this warp whose bits are set; the simulator has no such function."""
        self._group(lanes).barrier.wait(_LONGEST_WAIT)

    def shfl_xor_sync(self, lanes: SupportsInt, value: object, away: SupportsInt) -> object:
        """The value of the thread whose number differs in some bits; also missing in the simulator."""
        group, me = self._group(lanes), self.threadIdx.x
        group.values[me] = value
        group.barrier.wait(_LONGEST_WAIT)
        other = group.values[me ^ int(away)]
        group.barrier.wait(_LONGEST_WAIT)
        return other

    def _group(self, lanes: SupportsInt) -> _Group:
        mask = int(lanes)
        block = threading.current_thread()._manager  # type: ignore[attr-defined]
        with _groups_lock:
            of_block = _groups.setdefault(block, {})
            key = (self.threadIdx.x // 32, mask)
            if key not in of_block:
                of_block[key] = _Group(threading.Barrier(mask.bit_count()), {})
            return of_block[key]


def product(left: float, right: float) -> float:
    """`left * right`."""
    return left * right


def rounded(value: float) -> float:
    """The same number: Python rounds each product, and fuses none with an addition."""
    return value


def floor_quotient(left: int, right: int) -> int:
    """`left // right`."""
    return left // right


def quotient_and_rest(left: int, right: int) -> tuple[int, int]:
    """`divmod(left, right)`."""
    return left // right, left % right


def address_of(array: Items, position: SupportsInt) -> uint64:
    """The address of item `position` of an array."""
    return uint64(int(array.ctypes.data) + int(position) * array.itemsize)


def store_word(out: NDArray[uint8], position: SupportsInt, word: SupportsInt) -> None:
    """A uint64 to eight bytes of `out` (uint8[])."""
    for k in range(8):
        out[int(position) + k] = int(word) >> 8 * k & 255


def __getattr__(name: str) -> Any:
    return getattr(primitives, name)
