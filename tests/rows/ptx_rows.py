"""Row functions over columns in host memory, by the PTX that they compile to: a machine in Python."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
from cuda.ptx_machine import Allocation
from cuda.ptx_machine import Kernel as Machine
from jit.ptx_kernels import memory_of, parameters

import colkern as ck
from colkern.cuda import adapter
from colkern.kernels.text_words import PAGE
from colkern.memory import HOST
from colkern.rows.device import Grid, OnDevice
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
        made, left = self._on_device._run(
            columns, columns[0].length, target, Grid(BLOCKS, THREADS), launch
        )
        made.validate(full=True)
        return made, {site.line if site else 0: count for site, count in left.items()}

    def _made(self, given: Sequence[Any]) -> Machine:
        if self._machine is None:
            signature = [(v.dtype.str[1:], isinstance(v, np.ndarray)) for v in given]
            with without_driver():
                text = adapter.ptx(self._on_device.function, signature, CAPABILITY)
            self._machine = Machine(text)
        return self._machine


def in_pages(memory: list[Allocation]) -> list[Allocation]:
    """The pages that allocations lie in, as bodies read what is behind a text in its page."""
    whole: list[Allocation] = []
    for begin, end in sorted((begin & -PAGE, -(-end & -PAGE)) for begin, end in memory):
        if whole and begin <= whole[-1][1]:
            begin, end = whole[-1][0], max(end, whole.pop()[1])
        whole.append((begin, end))
    return whole


@contextmanager
def without_driver() -> Iterator[None]:
    """Answers the compiler's question for the device that functions are compiled for."""
    adapter.compiler()
    device = types.SimpleNamespace(compute_capability=CAPABILITY)
    with patch("numba.cuda.dispatcher.get_current_device", lambda: device):
        yield


@cache
def by_ptx(function: Callable[..., Any], *columns: ck.DataType) -> ByPtx:
    """A function with its hints, for columns of those types.

    Raises:
        UnsupportedError: If it has no compiled form, or none for a device.
    """
    plan = ck.udf(function)._row_plan(columns)
    if not isinstance(plan, Plan):
        raise ck.UnsupportedError(f"{function.__name__} is not compiled")
    return ByPtx(plan)
