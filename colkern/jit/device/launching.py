"""The arguments that a launch passes to a kernel, and the errors that it finds afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from colkern.arrays import Array, RecordBatch
from colkern.cuda import memory
from colkern.errors import UnsupportedError
from colkern.forks import Lock
from colkern.jit.device.emitter import Member, Need, Program, Shared
from colkern.jit.device.kernels import Specialisation, Types
from colkern.jit.views import records
from colkern.memory import HOST, Device
from colkern.operations import require_valid
from colkern.targets import target_of

_MAKING = Lock()
"""A launch of one thread must not lose its numbers to that of another."""


def array_at(column: Array | RecordBatch, steps: tuple[int, ...]) -> Array | RecordBatch:
    """The array that some steps lead to: children, columns, 0 for a dictionary."""
    for step in steps:
        if isinstance(column, RecordBatch):
            column = column.column(step)
        elif column.dictionary is not None:
            column = column.dictionary
        else:
            column = column.children[step]
    return column


class Record:
    """The numbers of one array that launches have used, and the owners of the memory behind them."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}
        self._owners: list[object] = []

    def number(self, array: Array, name: str) -> Any:
        """A number by its name: uint64 for addresses and offsets, int64 for counts."""
        if name not in self._known:
            as_number = np.int64 if name in records.COUNTS else np.uint64
            self._known[name] = as_number(records.number_of(array, name, self._owners))
        return self._known[name]


def number_of(column: Array | RecordBatch, steps: tuple[int, ...], name: str) -> Any:
    """A number of an array within a column or a batch in device memory; kept with the array."""
    array = array_at(column, steps)
    if isinstance(array, RecordBatch):
        return np.int64(array.num_rows)
    with _MAKING:
        record: Record | None = getattr(array, "_device_record", None)
        if record is None:
            record = array._device_record = Record()
        return record.number(array, name)


class BoundArguments:
    """The arguments of a launch.

    Args:
        names: The names of its parameters.
        kinds: The types of those that are columns and batches.
        otherwise: The device if no argument has bytes.

    Attributes:
        columns: The columns and batches, by name.
        others: The other arguments, arrays of CuPy among them, by name.
        device: The device of all columns that are read, and of all arrays.

    Raises:
        UnsupportedError: If a column is in host memory, or two arguments are on different devices.
    """

    def __init__(
        self,
        kernel: Specialisation,
        names: Sequence[str],
        arguments: Sequence[Any],
        kinds: Types,
        otherwise: Device,
    ) -> None:
        self.columns: dict[str, Any] = {}
        self.others: dict[str, Any] = {}
        for name, argument, kind in zip(names, arguments, kinds, strict=True):
            (self.others if kind is None else self.columns)[name] = argument
        self._read = _read_arrays(self.columns, kernel.needs)
        self.device = _common_device(self._read, self.others, otherwise)

    def require_valid(self) -> None:
        """Make sure that columns are valid, on the current device and stream.

        Raises:
            InvalidArrowError: If a position in one leads outside its memory.
        """
        for name, array in self._read.items():
            require_valid(array, name)


def _read_arrays(columns: dict[str, Array | RecordBatch], needs: list[Need]) -> dict[str, Array]:
    """The columns that a kernel reads, and the columns that it reads of batches, by name."""
    read: dict[str, Array] = {}
    for need in needs:
        if not isinstance(need, Member):
            continue
        name, column = need.path.root, columns[need.path.root]
        if isinstance(column, Array):
            read[name] = column
        elif need.path.steps:
            k = need.path.steps[0]
            read[f"{name}[{column.schema.names[k]!r}]"] = column.column(k)
    return read


def _common_device(read: dict[str, Array], others: dict[str, Any], otherwise: Device) -> Device:
    devices = {name: array.device for name, array in read.items() if any(_buffers(array))}
    for name, device in devices.items():
        if device == HOST:
            raise UnsupportedError(
                f"{name} is in host memory, and a CUDA kernel reads device memory: copy it with "
                f"colkern.to_device"
            )
    arrays = {name: memory.device_of(value) for name, value in others.items()}
    devices |= {name: device for name, device in arrays.items() if device is not None}
    device_of_all = next(iter(devices.values()), otherwise)
    for name, device in devices.items():
        if device != device_of_all:
            raise UnsupportedError(f"{name} is on {device}, and others are on {device_of_all}")
    return device_of_all


def _buffers(array: Array) -> list[Any]:
    buffers = [buffer for buffer in array.buffers if buffer is not None and buffer.size]
    parts = array.children if array.dictionary is None else (array.dictionary,)
    return buffers + [buffer for part in parts for buffer in _buffers(part)]


def needed(
    need: Need,
    kernel: Specialisation,
    columns: dict[str, Array | RecordBatch],
    shared: dict[Need, Any],
    device: Device,
) -> Any:
    """The value of a need of a kernel; `shared` has the memory of the launch."""
    if isinstance(need, Member):
        return number_of(columns[need.path.root], need.path.steps, need.name)
    if need == Shared("errors"):
        return shared[need]
    target = target_of(device)
    if need == Shared("arena"):
        return np.int64(target.address(shared[need]))
    if device not in kernel.literals:
        # With one byte more, so that there is one.
        array = target.table([*kernel.program.literals, 0], np.uint8)
        # Other launches find it, on whichever stream they are.
        memory.finish(device)
        kernel.literals[device] = array, np.uint64(target.address(array))
    return kernel.literals[device][1]


def made_for(kernel: Specialisation, threads: int, device: Device) -> dict[Need, Any]:
    """The memory that a launch of so many threads needs, and has to keep.

    The noted failure: int64[1], 0 for none. The arenas: int64[].
    """
    target = target_of(device)
    values: dict[Need, Any] = {}
    if Shared("errors") in kernel.needs:
        values[Shared("errors")] = target.allocate(1, np.int64)
    if Shared("arena") in kernel.needs:
        words = threads * kernel.program.thread_bytes // 8
        values[Shared("arena")] = target.output(words, np.int64)
    return values


def raise_noted(errors: Any, program: Program) -> None:
    """Wait for a launch, and raise the failure that it has noted, if there is one."""
    noted = int(memory.on_host(errors)[0])
    if noted:
        exception, text = program.places[noted - 1]
        raise exception(text)
