"""Measurements on a GPU: launches of kernels, declared by concern.

    streaming(kernels.lengths_of, lambda d: (d.n, d.offsets("i4", 8), d.out("i8")))

The function makes the range and the kernel's arguments, the output last, for `d.n` slots; how many
slots make the bytes that a launch is to work on is found by itself. `each` names several sets of data:

    streaming(kernels.first_descent, lambda d, t: (d.n, d.offsets(t, 4)), each=("i4", "i8"))

`tests/cuda/test_gpu_benchmarks.py` runs all launches with few slots, compares what they compute with
the CPU, and fails when a kernel is neither launched nor in `benchmarks.gpu.unmeasured`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from benchmarks.gpu.data import Data
from colkern.kernels import Kernel

STREAMING = "streaming"
"""Each item of the output follows from those at the same place of the inputs."""

GATHER = "byte gather"
"""Bytes of values that have a place of their own: strings, views, dictionaries."""

OTHER = "other"
"""Searches, compactions, scatters, single items and bits at random places; checks and hashes of text."""

TARGETS = {STREAMING: 0.8, GATHER: 0.3}
"""The target share of a copy's bandwidth; none is set for the other kind."""

GRAIN = 4096
"""Slots are a multiple of this: what is counted by blocks comes out even."""


class Launch:
    """One kernel on one set of data, which lives as long as this does.

    Args:
        kernel: The kernel.
        count: The range.
        args: The kernel's arguments, the output last.
        data: What made them.
        rewrites: Whether the kernel reads its output too.
    """

    def __init__(
        self, kernel: Kernel, count: int, args: tuple[Any, ...], data: Data, rewrites: bool
    ) -> None:
        self.kernel, self.count, self.args, self._data = kernel, count, args, data
        self._rewrites = rewrites

    @property
    def nbytes(self) -> int:
        """The bytes to be read and written: each array once, those behind addresses too.

        An array counts as a whole, as a memory's sectors do: none of 32 bytes has nothing that is read.
        """
        sizes = dict(self._data.addressed)
        for array in self.args:
            if hasattr(array, "nbytes"):
                place = self._data.target.address(array)
                sizes[place] = max(sizes.get(place, 0), array.nbytes)
        return sum(sizes.values()) + (self.args[-1].nbytes if self._rewrites else 0)

    @property
    def held(self) -> list[Any]:
        """The arrays that are read by their addresses."""
        return self._data.held

    @property
    def reaches(self) -> list[float]:
        """The share that each array's last offset has of the largest one of its type."""
        return self._data.reaches

    def run(self, target: Any) -> Any:
        """Run it on a target; what the kernel returns."""
        run = target.reduce if self.kernel.returns else target.map
        return run(self.kernel, self.count, *self.args)

    def start(self, target: Any) -> Any:
        """Start it on a device, and return before it has ended."""
        start = target.partials if self.kernel.returns else target.map
        return start(self.kernel, self.count, *self.args)


class Measurement:
    """The parts of a launch.

    Args:
        kernel: The kernel.
        kind: One of the kinds above.
        label: What is special about the data.
        make: Makes the range and the arguments.
        rewrites: Whether the kernel reads its output too.
    """

    def __init__(
        self,
        kernel: Kernel,
        kind: str,
        label: str,
        make: Callable[[Data], tuple[Any, ...]],
        rewrites: bool = False,
    ) -> None:
        self.kernel, self.kind, self._make, self._rewrites = kernel, kind, make, rewrites
        self.name = f"{kernel.name}, {label}" if label else kernel.name

    def at(self, target: Any, slots: int) -> Launch:
        """The launch over so many slots, its data in the memory of a target."""
        data = Data(target, slots)
        count, *args = self._make(data)
        return Launch(self.kernel, count, tuple(args), data, self._rewrites)

    def slots_for(self, target: Any, size: int) -> int:
        """How many slots a launch needs to work on so many bytes at least."""
        # Of two sizes, as tables do not grow with the slots.
        few, more = (self.at(target, slots).nbytes for slots in (GRAIN, 2 * GRAIN))
        return max(-(-(size - few) // (more - few)) + 1, 1) * GRAIN


MEASUREMENTS: list[Measurement] = []


def _measure(
    kind: str,
    kernel: Kernel,
    make: Callable[..., tuple[Any, ...]],
    *,
    each: Iterable[str] | dict[str, Any] = (),
    label: str = "",
    rewrites: bool = False,
) -> None:
    """Declare launches.

    Args:
        kind: One of the kinds above.
        kernel: The kernel.
        make: Makes the range and the arguments: called with `Data`, and with a value of `each`.
        each: Labels with a value each, or labels that are values, for one launch each.
        label: What is special about the data, if there is one launch.
        rewrites: Whether the kernel reads its output too.
    """
    values = each if isinstance(each, dict) else {name: name for name in each}
    if not values:
        MEASUREMENTS.append(Measurement(kernel, kind, label, make, rewrites))
    for name, value in values.items():
        called = partial(_with, make, value)
        MEASUREMENTS.append(Measurement(kernel, kind, name, called, rewrites))


def _with(make: Callable[..., tuple[Any, ...]], value: Any, data: Data) -> tuple[Any, ...]:
    return make(data, value)


streaming = partial(_measure, STREAMING)
gather = partial(_measure, GATHER)
other = partial(_measure, OTHER)
