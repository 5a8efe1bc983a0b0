"""The target that an operation runs on: the one where its input bytes live."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, wraps
from typing import Any, TypeVar, cast

from colkern.errors import UnsupportedError
from colkern.memory import HOST, Device

NOWHERE = (1 << 64) - 1
"""What a kernel that looks for the first slot of a kind returns if there is none."""


Function = TypeVar("Function", bound=Callable[..., Any])


def on_its_device(function: Function) -> Function:
    """A function that leaves arithmetic to the array library, which then works where the bytes are.

    Targets choose the device for what they do themselves. Within the function, its device is
    current, and errors of the library are raised in colkern's words.

    Args:
        function: Its first argument says which device: an array, several, or a target.
    """

    @wraps(function)
    def called(first: Any, *args: Any, **options: Any) -> Any:
        device = (first[0] if isinstance(first, Sequence) else first).device
        if device == HOST:
            return function(first, *args, **options)
        from colkern.cuda import memory

        with memory.current(device):
            return function(first, *args, **options)

    return cast("Function", called)


def target_of(device: Device) -> Any:
    """The target for a device; compilers are imported when it is first asked for.

    Raises:
        DeviceUnavailableError: If this process cannot use that device.
    """
    if device.kind == "cpu":
        return _cpu_target()
    if device.kind == "cuda":
        from colkern.cuda.stand_in import installed_library

        # For as long as one is installed.
        return _cuda_target(device) if installed_library() is None else _stand_in_target(device)
    raise UnsupportedError(f"no kernels for memory on {device}")


@cache
def _cpu_target() -> Any:
    from colkern.cpu.target import CpuTarget

    return CpuTarget()


@cache
def _cuda_target(device: Device) -> Any:
    from colkern.cuda.target import CudaTarget

    return CudaTarget(device)


def _stand_in_target(device: Device) -> Any:
    from colkern.cuda.stand_in_target import StandInTarget

    return StandInTarget(device)
