"""Rows built in parallel: each thread appends a range of rows to a builder of its own."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

import numpy as np

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.cpu.threads import run_ranges
from colkern.cuda import memory
from colkern.errors import UnsupportedError
from colkern.jit.building.arrays import built_array
from colkern.jit.building.builder import Builder
from colkern.memory import HOST, Device
from colkern.operations import concat
from colkern.targets import target_of


def build_rows(
    function: Callable[..., None], count: int, *arguments: object, returns: s.DataType
) -> Array:
    """The array of the values that `function(i, *arguments, out)` appends for each `i`, by all threads::

        @numba.njit
        def squares(i, limits, out):
            for k in range(limits[i]):
                out.values.append(k * k)
            out.end_list()

        limits = np.array([3, 0, 1])
        ck.jit.build_rows(squares, 3, limits, returns=ck.list_(ck.int64()))
        # [[0, 1, 4], [], [0]]

    `out` is what a `Builder` is to compiled code. A call may append any number of values, and must
    complete them: each list and struct that it starts. They stand in the array in the order of `i`.
    Each thread has a builder of its own for a range of rows; with several threads, their arrays are
    copied into one.

    It runs where the arguments are: on a CUDA device if columns, batches or arrays are in device
    memory, where the array comes to be as well. There the function's source is translated, as that of
    a `cuda_jit` kernel, and a thread goes over rows of its own. The function is called twice for each
    `i`, first to measure, then to write, and must append the same both times. What is raised is known
    by its first row.

    Args:
        function: A function for Numba, compiled or plain.
        count: How often to call it.
        arguments: Any that Numba takes: columns, batches, NumPy arrays, numbers … On a device: columns and
            batches, arrays of CuPy, numbers.
        returns: The data type of the array.

    Raises:
        CompileError: If the function does not compile: the line and the construct.
        ValueError: If a call leaves a list or struct incomplete; on a device, if its second run appends
            other values than its first.
        OverflowError: If a number is out of the range of its type.
        LimitExceededError: If the values do not fit 32-bit offsets.
        UnsupportedError: If builders do not have the type, or arguments are in different memories.

    What the function raises itself comes through, with a note that says in which row: for which `i`; on a
    device, with the line as well.
    """
    count = operator.index(count)
    if count < 0:
        raise ValueError(f"count: must not be negative, got {count}")
    device = _device_of(arguments)
    if device is not None:
        from colkern.jit.device.rows import rows_on_device

        return rows_on_device(function, count, arguments, returns, device)
    return _rows_on_host(function, count, arguments, returns)


def _rows_on_host(
    function: Callable[..., None], count: int, arguments: tuple[object, ...], returns: s.DataType
) -> Array:
    from colkern.jit.building.row_compiler import row_loop

    name = getattr(function, "__name__", "the function")
    loop, wholes = row_loop(function, arguments, returns)

    def build_range(start: int, stop: int) -> Array:
        out, row = Builder(returns), np.array([-1])
        out._expect(stop - start)
        try:
            if not loop(start, stop, row, out._state, wholes, arguments):
                out._require_complete()
        except Exception as error:
            if row[0] >= 0:
                error.add_note(f"{name}: row {row[0]}")
            raise
        return built_array(out._taken(), target_of(HOST))

    return concat(run_ranges(build_range, count, ()))


def _device_of(arguments: Sequence[object]) -> Device | None:
    """The device that has the bytes of the columns and arrays, if one has."""
    for argument in arguments:
        parts = argument.columns if isinstance(argument, RecordBatch) else [argument]
        for part in parts:
            if isinstance(part, Array):
                if part.device.kind == "cuda":
                    return part.device
            elif hasattr(part, "__cuda_array_interface__"):
                return _device_of_array(part)
    return None


def _device_of_array(array: object) -> Device:
    device = memory.device_of(array)
    if device is None:
        name = f"{type(array).__module__}.{type(array).__qualname__}"
        raise UnsupportedError(
            f"{name} is no array of CuPy: pass `cupy.asarray(array)`, which copies nothing"
        )
    return device
