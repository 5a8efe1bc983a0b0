"""Rows built in parallel: a function runs once to measure what it appends, and once to write it.

What each row appends to each node of the tree is counted, sums of the counts say where each row
writes, and then rows do so independently of each other: the pattern *two-pass* of the targets.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.cpu.threads import run_ranges
from colkern.errors import UnsupportedError
from colkern.jit.building.arrays import built_array
from colkern.jit.building.nodes import ROW, State
from colkern.jit.building.tree import CHANGED, Part, Tree
from colkern.jit.row_notes import run_noted
from colkern.memory import Device, allocate


def build_rows(
    function: Callable[..., None], count: int, *arguments: object, returns: s.DataType
) -> Array:
    """The array of what `function(i, *arguments, out)` appends for each `i`, all threads at work::

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
    Nothing is grown or copied: the function is called twice for each `i`, first to measure, then to
    write, and must append the same both times.

    It runs where the arguments are: on a CUDA device if columns, batches or arrays are in device
    memory, where the array comes to be as well. There the function's source is translated, as that of
    a `cuda_jit` kernel, a thread goes over rows of its own, and what is raised is known by its first row.

    Args:
        function: A function for Numba, compiled or plain.
        count: How often to call it.
        arguments: Any that Numba takes: columns, batches, NumPy arrays, numbers … On a device: columns and
            batches, arrays of CuPy, numbers.
        returns: The data type of the array.

    Raises:
        CompileError: If the function does not compile: the line and the construct.
        ValueError: If a call leaves a list or struct incomplete, or its second run appends other
            values than its first.
        OverflowError: If a number is out of the range of its type.
        LimitExceededError: If the values do not fit 32-bit offsets.
        UnsupportedError: If builders do not have the type, or arguments are in different memories.

    What the function raises itself comes through, with a note that says in which row: for which `i`; on a
    device, with the line as well.
    """
    return rows_and_offsets(function, count, arguments, returns)[0]


def rows_and_offsets(
    function: Callable[..., None], count: int, arguments: Sequence[object], returns: s.DataType
) -> tuple[Array, NDArray[np.int64]]:
    """As `build_rows`, and where the values of each `i` stand: int64[count + 1].

    Raises:
        As `build_rows`.
    """
    count = operator.index(count)
    if count < 0:
        raise ValueError(f"count: must not be negative, got {count}")
    device = _device_of(arguments)
    if device is not None:
        from colkern.jit.device.rows import rows_on_device

        return rows_on_device(function, count, tuple(arguments), returns, device)
    return _rows_on_host(function, count, tuple(arguments), returns)


def _rows_on_host(
    function: Callable[..., None], count: int, arguments: tuple[object, ...], returns: s.DataType
) -> tuple[Array, NDArray[np.int64]]:
    tree = Tree(returns, getattr(function, "__name__", "the function"))
    places = _places(tree)
    # What is measured for a row stands one further on: the running sums are where rows start.
    starts = np.zeros((len(places), count + 1), np.int64)
    null_counts = np.zeros(len(tree.parts), np.int64)
    if count:
        from colkern.jit.building.row_compiler import row_loops

        measure, write = row_loops(function, arguments, returns)
        measured = _run(measure, tree.name, count, (places, starts, arguments))
        null_counts = _null_counts(measured)
        tree.require_complete(starts[:, 1:])
        np.cumsum(starts, axis=1, out=starts)
        tree.allocate(starts[:, -1], null_counts, allocate)
        try:
            written = _run(write, tree.name, count, (_pointers(tree), places, starts, arguments))
        except ValueError as error:
            if error.args == (CHANGED,):
                error.args = (f"{tree.name}: {CHANGED}",)
            raise
        changed, states = zip(*written, strict=True)
        if any(changed) or (_null_counts(states) != null_counts).any():
            raise ValueError(f"{tree.name}: {CHANGED}")
    else:
        tree.allocate(starts[:, -1], null_counts, allocate)
    return _array(tree.parts[0]), starts[0]


def _run(
    loop: Callable[..., Any], name: str, count: int, arguments: tuple[object, ...]
) -> list[Any]:
    """The results of a loop of `row_loops`, one for each range of rows; its errors get a note."""

    def run_range(start: int, stop: int) -> Any:
        return loop(start, stop, *arguments)

    return run_ranges(lambda start, stop: run_noted(run_range, name, start, stop, "row"), count, ())


def _null_counts(states: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The number of nulls of each node, by the states of all ranges."""
    counts: NDArray[np.int64] = sum(states).reshape(-1, ROW)[:, State.NULL_COUNT]  # type: ignore[union-attr]
    return counts


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
    from colkern.cuda import memory

    device = memory.device_of(array)
    if device is None:
        name = f"{type(array).__module__}.{type(array).__qualname__}"
        raise UnsupportedError(
            f"{name} is no array of CuPy: pass `cupy.asarray(array)`, which copies nothing"
        )
    return device


def _places(tree: Tree) -> NDArray[np.int64]:
    """Where the numbers that the tree counts stand in its state."""
    places = []
    for part in tree.parts:
        places.append(part.row * ROW + State.LENGTH)
        if part.node.has_offsets:
            places.append(part.row * ROW + State.USED)
    return np.array(places, np.int64)


def _pointers(tree: Tree) -> NDArray[np.int64]:
    """A state that says where the memory of each node is."""
    state = np.zeros((len(tree.parts), ROW), np.int64)
    for part in tree.parts:
        for number, array in (
            (State.ITEMS, part.items),
            (State.NULLS, part.nulls),
            (State.BYTES, part.data),
        ):
            if array is not None:
                state[part.row, number] = array.ctypes.data
    return state.reshape(-1)


def _array(part: Part) -> Array:
    """The array of a node."""
    children = [_array(child) for child in part.children]
    return built_array(
        part.type, part.length, part.null_count, part.nulls, part.items, part.data, children
    )
