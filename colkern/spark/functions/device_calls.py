"""Functions of rows on the GPU of a Spark task, if it has one."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import pyarrow as pa

from colkern.arrays import Array
from colkern.errors import CompileError, UnsupportedError
from colkern.interchange import import_array
from colkern.jit import Udf
from colkern.memory import HOST
from colkern.operations.moving import to_device, to_host
from colkern.spark.devices import task_device


class DeviceCalls:
    """Calls of one function: on the task's GPU where the function runs there, else on the CPU."""

    def __init__(self) -> None:
        self._stays_on_cpu = False

    def called(self, function: Udf, columns: Sequence[pa.Array | Array]) -> Array:
        """The function of the columns, in host memory.

        If the device does not support its types or its Python, it runs on the CPU from then on; a
        warning in the executor's log says why.

        Raises:
            DeviceUnavailableError: If the process cannot use the task's GPU.
            LimitExceededError: If it is out of memory.
        """
        device = HOST if self._stays_on_cpu else task_device()
        if device == HOST:
            return function(*columns)
        try:
            there = [to_device(import_array(column), device) for column in columns]
            return to_host(function(*there))
        except (CompileError, UnsupportedError) as error:
            self._stays_on_cpu = True
            warnings.warn(
                f"{function.name} runs on the CPU, not on {device}: {error}", stacklevel=2
            )
            return function(*columns)
