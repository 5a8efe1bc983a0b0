"""The cases of a kernel, run by the PTX that it compiles to on a machine in Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np
from cuda.ptx_machine import Kernel as Machine
from cuda.races import Races
from kernels.case import arguments
from kernels.cases import Case, combine, variants
from kernels.running import Plain, difference, sampled

from colkern.cuda import adapter, compiler
from colkern.kernels import KERNELS, Kernel

THREADS, LANES, TILE = 4, 2, 16
"""Few, so that small cases are cut into blocks, and threads go from item to item."""


MAY_RACE = {"mark_used": "each thread writes the same there"}
"""Kernels of which several threads may write a byte, and why."""


def one_of_each() -> list[str]:
    """A variant of each kernel; not all of them the first of theirs."""
    result: dict[str, list[str]] = {kernel: [] for kernel in KERNELS}
    for name, (kernel, _) in variants().items():
        result[kernel.name].append(name)
    return [names[number % len(names)] for number, names in enumerate(result.values())]


def compiled(name: str, capability: tuple[int, int]) -> str:
    """The PTX of a variant for blocks of few threads."""
    kernel, variant = variants()[name]
    return compiler.ptx(kernel, variant, capability, THREADS, LANES)


def ptx_failures(name: str, text: str, most: int) -> Iterator[str]:
    """The cases of a variant (at most that many of them) that its PTX gets wrong."""
    kernel, variant = variants()[name]
    machine = Machine(text)
    for case in sampled(name, most):
        given, alive = arguments(case, variant, Plain())
        races = Races()
        result = _launched(machine, kernel, case, given, alive, races)
        yield from difference(case, kernel, variant, given, result, "PTX")
        if kernel.name not in MAY_RACE:
            yield from (f"{case.label}: {race}" for race in races.reports)


def _launched(
    machine: Machine, kernel: Kernel, case: Case, given: list[Any], alive: Any, races: Races
) -> Any:
    """Run a case on the machine; the partial results combined, if there are any."""
    if case.count == 0 and not kernel.returns:
        return None
    tile = TILE // LANES if kernel.grouped else TILE
    threads = THREADS
    if kernel.sequential:
        threads, tile = 1, max(case.count, 1)
    blocks = max(-(-case.count // tile), 1)
    values, arrays = grid_values(kernel, case.count, tile, given, blocks)
    partials = arrays[-1]
    arrays += alive
    whole = [
        array.base if isinstance(array.base, np.ndarray) else array
        for array in arrays
        if isinstance(array, np.ndarray)
    ]
    memory = [(a.ctypes.data, a.ctypes.data + a.nbytes) for a in whole if a.nbytes]
    machine.launch(blocks, threads, values, memory, races)
    return reduce(combine(kernel), partials.tolist()) if kernel.returns else None


def grid_values(
    kernel: Kernel, count: int, tile: int, given: Sequence[Any], blocks: int
) -> tuple[list[Any], list[Any]]:
    """The parameters of a grid, and the arrays among its arguments; partial results are the last one."""
    values: list[Any] = [count, tile]
    for value, argument in zip(given, kernel.arguments, strict=True):
        values += _parameters(value) if argument.array else [_number(value, argument.item)]
    arrays = [value for value in given if isinstance(value, np.ndarray)]
    if kernel.returns:
        arrays.append(np.zeros(blocks, kernel.returns))
        values += _parameters(arrays[-1])
    return values, arrays


def _number(value: Any, code: str) -> Any:
    """A number as its parameter's register holds it."""
    dtype = np.dtype(code)
    return float(value) if dtype.kind == "f" else int(value) & ((1 << 8 * dtype.itemsize) - 1)


def _parameters(array: Any) -> list[int]:
    """The parameters that stand for an array in one dimension."""
    address, length, size = array.ctypes.data, len(array), array.itemsize
    if adapter.is_mlir():
        return [address, address, 0, length, 1]
    return [0, 0, length, size, address, length, size]
