"""Users' kernels over columns in host memory, by the PTX that they compile to: a machine in Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from cuda.ptx_machine import Allocation
from cuda.ptx_machine import Kernel as Machine

from colkern.arrays import Array, RecordBatch
from colkern.jit.device.emitter import Shared
from colkern.jit.device.kernels import CudaKernel, type_of
from colkern.jit.device.launching import made_for, needed
from colkern.kernels.text_words import PAGE
from colkern.memory import HOST


def run_ptx(kernel: CudaKernel, capability: tuple[int, int], out: Any, *columns: Any) -> list[Any]:
    """The output of a kernel of an array and some columns, with one thread for each item of the array."""
    text = kernel.ptx([out, *columns], capability)
    result = kernel._specialised(tuple(map(type_of, (out, *columns))), bool(kernel.checked))
    names = kernel.function.__code__.co_varnames[1:]
    named = dict(zip(names, columns, strict=False))
    kept = made_for(result, len(out), HOST)
    errors = kept.get(Shared("errors"), np.zeros(1, np.int64))
    numbers = [needed(need, result, named, kept, HOST) for need in result.needs]
    values = parameters(out)
    for need, number in zip(result.needs, numbers, strict=True):
        values += parameters(errors) if need == Shared("errors") else [int(number) % (1 << 64)]
    arrays = [out, *kept.values(), *(table for table, _ in result.literals.values())]
    arrays += [array for column in columns for array in memory_of(column)]
    allocations = [(a.ctypes.data, a.ctypes.data + a.nbytes) for a in arrays if a.nbytes]
    Machine(text).launch(1, len(out), values, in_pages(allocations))
    actual: list[Any] = out.tolist()
    return [*actual, int(errors[0])]


def in_pages(memory: list[Allocation]) -> list[Allocation]:
    """The pages that allocations lie in, as bodies read what is behind a text in its page."""
    whole: list[Allocation] = []
    for begin, end in sorted((begin & -PAGE, -(-end & -PAGE)) for begin, end in memory):
        if whole and begin <= whole[-1][1]:
            begin, end = whole[-1][0], max(end, whole.pop()[1])
        whole.append((begin, end))
    return whole


def parameters(array: Any) -> list[int]:
    """An array as a kernel's parameters."""
    address, length, size = array.ctypes.data, len(array), array.itemsize
    return [0, 0, length, size, address, length, size]


def memory_of(column: Array | RecordBatch) -> Iterator[Any]:
    """The memory that a column is read from."""
    if isinstance(column, RecordBatch):
        for part in column.columns:
            yield from memory_of(part)
        return
    yield from (buffer.array for buffer in column.buffers if buffer is not None)
    record = getattr(column, "_device_record", None)
    yield from () if record is None else record._owners
    parts = column.children if column.dictionary is None else (column.dictionary,)
    for part in parts:
        yield from memory_of(part)
