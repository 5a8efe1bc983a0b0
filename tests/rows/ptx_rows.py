"""Row functions over columns in host memory, by the PTX that they compile to: a machine in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from cuda.ptx_machine import Kernel as Machine
from jit.ptx_kernels import in_pages, memory_of, parameters

import colkern as ck
from colkern.cuda import adapter
from colkern.cuda.target import Grid
from colkern.memory import HOST
from colkern.rows.device import OnDevice
from colkern.rows.plan import Plan
from colkern.targets import target_of

CAPABILITY = (9, 0)
BLOCKS, THREADS = 1, 2


class ByPtx:
    """A row function for columns of certain types.

    Raises:
        UnsupportedError: If it has a column or results that kernels do not cover.
    """

    def __init__(self, plan: Plan) -> None:
        self._on_device = OnDevice(plan)
        self._machine: Machine | None = None

    def run(self, columns: Sequence[ck.Array]) -> tuple[ck.Array, dict[int, int]]:
        """The results, and how many rows were left to Python, by line."""
        given_columns = [array for column in columns for array in memory_of(column)]

        def launch(blocks: int, *given: Any) -> None:
            arrays = [value for value in given if isinstance(value, np.ndarray)]
            values: list[int] = []
            for value in given:
                is_array = isinstance(value, np.ndarray)
                values += parameters(value) if is_array else [int(value) % (1 << 64)]
            arrays += [*self._on_device._pools.values(), *given_columns]
            memory = [(a.ctypes.data, a.ctypes.data + a.nbytes) for a in arrays if a.nbytes]
            arenas, row_bytes = int(given[3]), int(given[4])
            memory.append((arenas, arenas + blocks * THREADS * row_bytes))
            self._made(given).launch(blocks, THREADS, values, in_pages(memory))

        target = target_of(HOST)
        result, left = self._on_device._run(
            columns, columns[0].length, target, Grid(BLOCKS, THREADS), launch
        )
        result.validate(full=True)
        return result, {site.line if site else 0: count for site, count in left.items()}

    def _made(self, given: Sequence[Any]) -> Machine:
        if self._machine is None:
            signature = [(v.dtype.str[1:], isinstance(v, np.ndarray)) for v in given]
            self._machine = Machine(
                adapter.ptx(self._on_device.kernel.function, signature, CAPABILITY)
            )
        return self._machine


@cache
def by_ptx(function: Callable[..., Any], *columns: ck.DataType) -> ByPtx:
    """A function with its hints, for columns of those types.

    Raises:
        UnsupportedError: If it has no compiled form, or none for a device.
    """
    plan = ck.udf(function).plan(*columns)
    if not isinstance(plan, Plan):
        raise ck.UnsupportedError(f"{function.__name__} is not compiled")
    return ByPtx(plan)
