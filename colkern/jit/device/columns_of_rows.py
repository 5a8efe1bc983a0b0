"""A function of a row over columns on a device: a thread a row, and what goes wrong, with its row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.builders import array
from colkern.cuda.target import schedule_of
from colkern.errors import CompileError
from colkern.jit.device.result_columns import allocated, output_of
from colkern.jit.device.row_kernels import PLACE_BITS, Argument, row_kernel
from colkern.memory import Device
from colkern.operations import take
from colkern.operations.moving import to_device, to_host
from colkern.targets import target_of

_NO_ERROR = (1 << 64) - 1


class DevicePlan:
    """How a function runs over columns of certain types on a device.

    Args:
        name: The function's name, for messages.
        function: The plain function.
        arguments: How its columns are read.
        returns: The type of the results.
        default: The result where an argument is null that the function does not take as None: one
            slot in host memory; None to make it null.
        on_host: The same function of columns in host memory.

    Raises:
        UnsupportedError: If results of that type cannot be written on a device.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        arguments: Sequence[Argument],
        returns: s.DataType,
        default: Array | None,
        on_host: Callable[[list[Array]], Array],
    ) -> None:
        self._name = name
        self._output = output_of(name, s.field(name, returns))
        self._default = default
        self._on_host = on_host
        self._kernel = row_kernel(function, arguments, self._output)

    def run(self, columns: Sequence[Array], device: Device) -> Array:
        """The results for columns of one length on that device, there too.

        Raises:
            CompileError: If the function has no form for a device.
            InvalidArrowError: If a position in a column leads outside its memory.

        What the function raises on the host comes through, for the first row in which it does.
        """
        target, length = target_of(device), columns[0].length
        rooms = allocated(target, self._output, length, self._default)
        failed = target.table([_NO_ERROR], np.uint64)
        if length:
            written = [rooms[room.name] for room in self._output.rooms()]
            given = [np.int64(length), failed, *columns, *written]
            self._launch(given, length, device)
            error = target.item(failed, 0)
            if error != _NO_ERROR:
                raise self._raised(error, given, columns, device)
        return self._output.array(target, rooms, length)

    def ptx(self, columns: Sequence[Any], capability: tuple[int, int]) -> str:
        """The PTX for columns like these; needs no GPU. See `CudaKernel.ptx`."""
        written = [np.zeros(1, room.dtype) for room in self._output.rooms()]
        given = [np.int64(1), np.zeros(1, np.uint64), *columns, *written]
        return self._kernel.ptx(given, capability)

    def _launch(self, given: list[Any], length: int, device: Device) -> None:
        schedule = schedule_of(device)
        blocks = min(-(-length // schedule.threads), schedule.blocks)
        try:
            self._kernel[blocks, schedule.threads](*given)
        except CompileError as error:
            error.add_note(
                f"{self._name}: columns in device memory are read by a CUDA kernel; for columns in host "
                f"memory it may compile: copy them with colkern.to_host"
            )
            raise

    def _raised(
        self, noted: int, given: list[Any], columns: Sequence[Array], device: Device
    ) -> Exception:
        """The exception for what was noted of a row."""
        row, number = divmod(noted, 1 << PLACE_BITS)
        kind, text = self._kernel.noted(given, number)
        # An index out of range is looked for on the host only where it was checked there, too.
        error = None if kind is IndexError else self._raised_on_host(columns, row, device)
        error = error or kind(text)
        error.add_note(f"{self._name}: row {row}")
        return error

    def _raised_on_host(
        self, columns: Sequence[Array], row: int, device: Device
    ) -> Exception | None:
        """What the function raises of that row in host memory, where it makes exceptions of any kind."""
        position = to_device(array([row], s.int64()), device)
        rows = [to_host(take(column, position)) for column in columns]
        try:
            self._on_host(rows)
        except Exception as error:  # noqa: BLE001  # whatever the user's function raises
            # There it was the only row.
            error.__notes__ = []
            return error.with_traceback(None)
        return None
