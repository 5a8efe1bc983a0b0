"""Rows built on a CUDA device: the two kernels of a user's function, and the sums between them."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.cuda import adapter, memory, plans
from colkern.cuda.target import schedule_of
from colkern.errors import UnsupportedError
from colkern.jit.building.arrays import built_array
from colkern.jit.device.building_kernels import (
    NOTHING_RAISED,
    PLACE_BITS,
    RowKernels,
    row_kernels,
)
from colkern.jit.device.emitter import Built, Need
from colkern.jit.device.kernels import Specialisation, explained, type_of
from colkern.jit.device.launching import (
    common_device,
    made_for,
    needed,
    parted,
    read_arrays,
    require_readable,
)
from colkern.jit.device.tree import Tree
from colkern.jit.environment import is_checked
from colkern.memory import Device
from colkern.targets import target_of


def rows_on_device(
    function: Callable[..., None],
    count: int,
    arguments: tuple[Any, ...],
    returns: s.DataType,
    device: Device,
) -> Array:
    """The result of `build_rows`, in the memory of a device.

    Args:
        function: The user's function.
        count: How many rows there are.
        arguments: Columns, batches, arrays in the memory of the device, numbers.
        returns: The type of the array.
        device: The device.

    Raises:
        As `build_rows`.
    """
    adapter.require_device()
    plain = getattr(function, "py_func", function)
    if not isinstance(plain, types.FunctionType):
        raise TypeError(f"function: expected a Python function, got {type(function).__name__}")
    tree = Tree(returns, plain.__name__)
    if any(isinstance(part.type.storage, s.Union) for part in tree.parts):
        raise UnsupportedError(
            f"{returns} as the type of rows on a device: unions are built on the CPU"
        )
    given = tuple(map(type_of, arguments))
    checked = adapter.is_simulated() or is_checked()
    kernels = row_kernels(plain, given, tree, checked, _error_model(function))
    columns, others = parted(kernels.names, arguments, given)
    for name, argument in others.items():
        if isinstance(argument, np.ndarray) and not adapter.is_simulated():
            raise UnsupportedError(
                f"{name} is an array of NumPy, in host memory, and other arguments are on a device: "
                f"make it one of CuPy"
            )
    read = read_arrays(columns, [*kernels.measure.needs, *kernels.write.needs])
    device = common_device(read, others, device)
    schedule = schedule_of(device)
    blocks = max(min(-(-count // schedule.threads), schedule.blocks), 1)

    def start(kernel: Specialisation, arguments: tuple[Any, ...]) -> None:
        with explained(tree.name):
            plans.launch(kernel.kernel, blocks, schedule.threads, device.ordinal, arguments)

    call = RowsCall(
        tree, kernels, count, columns, [*others.values()], device, blocks * schedule.threads, start
    )
    with memory.current(device):
        require_readable(read)
        return call.run()


def _error_model(function: Callable[..., None]) -> str:
    """A division by zero as an exception of a function that `njit` has made, as on the CPU."""
    options = getattr(function, "targetoptions", None)
    return "numpy" if options is None else str(options.get("error_model", "python"))


@dataclass(frozen=True)
class RowsCall:
    """One call of the kernels.

    Args:
        tree: What is built.
        kernels: The kernels.
        count: How many rows there are.
        columns: The arguments that are columns and batches, by name.
        others: The other arguments.
        device: Where the memory is.
        threads: How many threads a launch has.
        start: Launches a kernel with its arguments.
    """

    tree: Tree
    kernels: RowKernels
    count: int
    columns: dict[str, Any]
    others: list[Any]
    device: Device
    threads: int
    start: Callable[[Specialisation, tuple[Any, ...]], None]

    def run(self) -> Array:
        """The array."""
        tree, target = self.tree, target_of(self.device)
        starts = target.allocate(tree.counters * (self.count + 1), np.int64)
        lines = starts.reshape(tree.counters, self.count + 1)
        null_counts = self._launch(self.kernels.measure, starts, len(tree.parts))
        tree.require_complete(lines[:, 1:])
        for line in lines:
            target.accumulate(line)
        tree.allocate(lines[:, -1].tolist(), null_counts, target.allocate)
        self._launch(self.kernels.write, starts, 0)
        return built_array(tree.parts[0], target)

    def _launch(self, kernel: Specialisation, starts: Any, counts: int) -> list[int]:
        """Run a kernel, and raise what was raised; the sums of what it counts."""
        target = target_of(self.device)
        partials = target.allocate((1 + counts) * self.threads, np.int64)
        shared = made_for(kernel, self.threads, self.device)
        numbers = [self._number(kernel, need, shared) for need in kernel.needs]
        self.start(kernel, (np.int64(self.count), *self.others, starts, partials, *numbers))
        lines = partials.reshape(1 + counts, self.threads)
        # Together, as each transfer is waited for.
        summary = target.allocate(1 + counts, np.int64)
        summary[0], summary[1:] = lines[0].min(), lines[1:].sum(axis=1)
        totals: list[int] = summary.tolist()
        self._raise(kernel, totals[0])
        return totals[1:]

    def _number(self, kernel: Specialisation, need: Need, shared: dict[Need, Any]) -> Any:
        if isinstance(need, Built):
            array = getattr(self.tree.parts[need.row], need.name)
            return np.uint64(0 if array is None else target_of(self.device).address(array))
        return needed(need, kernel, self.columns, shared, self.device)

    def _raise(self, kernel: Specialisation, raised: int) -> None:
        if raised == NOTHING_RAISED:
            return
        row, place = raised >> PLACE_BITS, raised & (1 << PLACE_BITS) - 1
        exception, text = kernel.program.places[place - 1]
        error = exception(text)
        error.add_note(f"{self.tree.name}: row {row}")
        raise error
