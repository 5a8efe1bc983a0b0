"""Rows built on a CUDA device: two launches of the kernel of a function, and the sums between them."""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.cuda import adapter, memory, plans
from colkern.cuda.target import grid_of
from colkern.errors import UnsupportedError
from colkern.jit.building.arrays import built_array
from colkern.jit.device.building_kernels import (
    CHANGED,
    NOTHING_RAISED,
    PLACE_BITS,
    Tree,
    names_of,
    row_kernel,
)
from colkern.jit.device.emitter import Built, Need
from colkern.jit.device.kernels import Specialisation, type_of
from colkern.jit.device.launching import BoundArguments, made_for, needed
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
        count: How many rows there are.
        arguments: Columns, batches, arrays in the memory of the device, numbers.
        returns: The type of the array.

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
    kinds = tuple(map(type_of, arguments))
    checked = adapter.is_simulated() or is_checked()
    kernel = row_kernel(plain, kinds, tree, checked, _error_model(function))
    names = names_of(plain, len(arguments))
    bound = BoundArguments(kernel, names, arguments, kinds, device)
    for name, argument in bound.others.items():
        if isinstance(argument, np.ndarray) and not adapter.is_simulated():
            raise UnsupportedError(
                f"{name} is an array of NumPy, in host memory, and other arguments are on a device: "
                f"make it one of CuPy"
            )
    device, others = bound.device, [*bound.others.values()]
    grid = grid_of(device, count)
    start = partial(plans.launch, kernel.kernel, *grid, device.ordinal)
    threads = grid.blocks * grid.threads
    with memory.current(device):
        bound.require_valid()
        return rows_of(tree, kernel, count, bound.columns, others, device, threads, start)


def _error_model(function: Callable[..., None]) -> str:
    """A division by zero as an exception of a function that `njit` has made, as on the CPU."""
    options = getattr(function, "targetoptions", None)
    return "numpy" if options is None else str(options.get("error_model", "python"))


def rows_of(
    tree: Tree,
    kernel: Specialisation,
    count: int,
    columns: dict[str, Any],
    others: list[Any],
    device: Device,
    threads: int,
    start: Callable[[tuple[Any, ...]], None],
) -> Array:
    """The rows that a kernel builds.

    Args:
        tree: The nodes of the rows.
        columns: The arguments that are columns and batches, by name.
        device: The device of the memory.
        threads: The number of threads of a launch.
        start: Launches the kernel with its arguments.
    """
    target, nodes = target_of(device), len(tree.parts)
    starts = target.allocate(tree.counters * (count + 1), np.int64)
    lines = starts.reshape(tree.counters, count + 1)

    def number(need: Need, shared: dict[Need, Any]) -> Any:
        if isinstance(need, Built):
            array = getattr(tree.parts[need.row], need.name)
            return np.uint64(0 if array is None else target.address(array))
        return needed(need, kernel, columns, shared, device)

    def launch(writes: bool) -> list[int]:
        """Run the kernel, and raise the first failure; returns the number of nulls of each node."""
        partials = target.allocate((1 + nodes) * threads, np.int64)
        shared = made_for(kernel, threads, device)
        numbers = [number(need, shared) for need in kernel.needs]
        start((np.int64(count), np.int64(writes), *others, starts, partials, *numbers))
        by_line = partials.reshape(1 + nodes, threads)
        # Together, as each transfer is waited for.
        summary = target.allocate(1 + nodes, np.int64)
        summary[0], summary[1:] = by_line[0].min(), by_line[1:].sum(axis=1)
        totals: list[int] = summary.tolist()
        _raise(tree, kernel, totals[0])
        return totals[1:]

    null_counts = launch(writes=False)
    tree.require_complete(lines[:, 1:])
    for line in lines:
        target.accumulate(line)
    tree.allocate(lines[:, -1].tolist(), null_counts, target.allocate)
    if launch(writes=True) != null_counts:
        raise ValueError(f"{tree.name}: {CHANGED}")
    return built_array(tree.parts[0], target)


def _raise(tree: Tree, kernel: Specialisation, raised: int) -> None:
    if raised == NOTHING_RAISED:
        return
    row, place = raised >> PLACE_BITS, raised & (1 << PLACE_BITS) - 1
    exception, text = kernel.program.places[place - 1]
    error = exception(text)
    error.add_note(f"{tree.name}: row {row}")
    raise error
