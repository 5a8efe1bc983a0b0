"""Rows built by the PTX that the kernel of a user's function compiles to: a machine in Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from cuda.ptx_machine import Kernel as Machine
from jit.ptx_kernels import in_pages, memory_of, parameters

from colkern import schema as s
from colkern.arrays import Array
from colkern.cuda import adapter
from colkern.jit.device.building_kernels import Tree, names_of, row_kernel
from colkern.jit.device.emitter import Member
from colkern.jit.device.kernels import Specialisation, type_of
from colkern.jit.device.rows import rows_of
from colkern.memory import HOST

BLOCKS, THREADS = 2, 2


def rows_by_ptx(
    function: Callable[..., None],
    count: int,
    *arguments: Array | int,
    returns: s.DataType,
    capability: tuple[int, int] = (9, 0),
) -> Array:
    """The results of `build_rows` for columns in host memory, and integers."""
    columns = [argument for argument in arguments if isinstance(argument, Array)]
    numbers = [argument for argument in arguments if isinstance(argument, int)]
    tree = Tree(returns, function.__name__)
    kernel = row_kernel(function, tuple(map(type_of, arguments)), tree, False)

    def start(given: tuple[Any, ...]) -> None:
        text = _ptx(kernel, len(numbers), capability)
        values: list[int] = []
        for argument in given:
            is_array = isinstance(argument, np.ndarray)
            values += parameters(argument) if is_array else [int(argument) % (1 << 64)]
        arrays = [a for a in given if isinstance(a, np.ndarray)]
        arrays += [a for part in tree.parts for a in (part.items, part.nulls, part.data)]  # type: ignore[misc]
        arrays += [table for table, _ in kernel.literals.values()]
        arrays += [array for column in columns for array in memory_of(column)]
        allocations = [(a.ctypes.data, a.ctypes.data + a.nbytes) for a in arrays if a is not None]
        Machine(text).launch(BLOCKS, THREADS, values, in_pages(allocations))

    named = {
        name: argument
        for name, argument in zip(names_of(function, len(arguments)), arguments, strict=True)
        if isinstance(argument, Array)
    }
    return rows_of(tree, kernel, count, named, list(numbers), HOST, BLOCKS * THREADS, start)


@cache
def _ptx(kernel: Specialisation, numbers: int, capability: tuple[int, int]) -> str:
    """The PTX of a kernel; of its parameters, the counts of columns and what counts rows have a sign."""
    counts = ("length", "null_count")
    needs = [
        ("i8" if isinstance(need, Member) and need.name in counts else "u8", False)
        for need in kernel.needs
    ]
    signature = [("i8", False)] * (2 + numbers) + [("i8", True)] * 2 + needs
    return adapter.ptx(kernel.kernel.function, signature, capability)
