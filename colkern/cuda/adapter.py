"""The one place where colkern meets the CUDA compiler.

numba-cuda is in maintenance and its successor has other extension interfaces, so what colkern uses of
either is kept to this module: compile a device function, compile a kernel, launch it, print PTX.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from colkern.errors import DeviceUnavailableError

HINT = "install colkern[cuda12] or colkern[cuda13] to match the driver"


def is_simulated() -> bool:
    """Whether kernels run in Numba's simulator, as plain Python over host memory."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")


@cache
def compiler() -> Any:
    """The `cuda` module of Numba.

    Raises:
        DeviceUnavailableError: If it cannot be imported, with what is missing.
    """
    if not hasattr(np, "row_stack"):
        # numba-cuda up to 0.30 looks for a function that NumPy 2.5 removed.
        np.row_stack = np.vstack
    try:
        # numba-cuda takes the place of Numba's own, deprecated target through a .pth file, which
        # PYTHONPATH and `pip --target` installs do not run.
        import _numba_cuda_redirector  # type: ignore[import-untyped]  # noqa: F401
        from numba import cuda
    except (ImportError, RuntimeError) as error:
        raise DeviceUnavailableError(f"no CUDA compiler: {error}; {HINT}") from error
    return cuda


def require_device() -> None:
    """Raise `DeviceUnavailableError` unless kernels can be launched, saying what is missing."""
    cuda = compiler()
    if not is_simulated() and not cuda.is_available():
        raise DeviceUnavailableError(
            "no CUDA device: the driver does not load or finds none; see `nvidia-smi`"
        )


def device_function(function: Callable[..., Any]) -> Any:
    """A function that kernels call; inlined, as a nested compilation would need a driver."""
    if is_simulated():
        return function
    return compiler().jit(device=True, inline="always")(function)


def kernel(function: Callable[..., Any]) -> Any:
    """A kernel that can be launched; compiled at its first launch for each set of types."""
    return compiler().jit(function)


def launch(kernel: Any, blocks: int, threads: int, stream: int, args: tuple[Any, ...]) -> None:
    """Run a kernel on a stream (a `cudaStream_t` as an integer); returns before it has ended."""
    if is_simulated():
        kernel[blocks, threads](*args)
    else:
        kernel[blocks, threads, compiler().external_stream(stream)](*args)


def ptx(function: Callable[..., Any], types: tuple[Any, ...], capability: tuple[int, int]) -> str:
    """The PTX of a kernel for those Numba types and a compute capability; needs no GPU."""
    from numba import void

    text, _ = compiler().compile(
        function, void(*types), device=False, cc=capability, abi="numba", output="ptx"
    )
    return str(text)
