"""The one module that uses a CUDA compiler, of which there are two.

numba-cuda is in maintenance, and its successor numba-cuda-mlir has other extension interfaces.
COLKERN_CUDA_COMPILER says which one compiles the bodies: `numba-cuda` (the default) or
`numba-cuda-mlir`. Only this module uses them (to compile a device function, compile a kernel to PTX,
launch it), and the modules of their primitives: `primitives` and `mlir_primitives`.

What is known of numba-cuda-mlir 0.6, without a GPU: it compiles every body to PTX, and that PTX, run by
an interpreter over the tests' cases, computes what the oracles expect (tests/cuda). It is not known
whether its kernels can be launched with CuPy's arrays and streams, and how fast they are: `make
test-gpu` runs the kernel matrix with it if both are there.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import cache, lru_cache
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import DTypeLike

from colkern.cuda.driver import has_device
from colkern.cuda.toolkit import CUBIN
from colkern.errors import DeviceUnavailableError
from colkern.forks import hold_over_forks
from colkern.names import why_missing

NUMBA_CUDA = "numba-cuda"
NUMBA_CUDA_MLIR = "numba-cuda-mlir"

MODULES = {NUMBA_CUDA: "numba_cuda", NUMBA_CUDA_MLIR: "numba_cuda_mlir"}
"""Compiler → its module."""


class Launchable(Hashable, Protocol):
    """A kernel of the compiler."""

    def __getitem__(self, launch: tuple[object, ...]) -> Callable[..., object]:
        """The kernel with blocks, threads, stream and bytes of shared memory, ready to be called."""


def chosen_compiler() -> str:
    """The compiler that COLKERN_CUDA_COMPILER names."""
    chosen = os.environ.get("COLKERN_CUDA_COMPILER") or NUMBA_CUDA
    if chosen not in MODULES:
        raise ValueError(
            f"COLKERN_CUDA_COMPILER: expected {' or '.join(map(repr, MODULES))}, got {chosen!r}"
        )
    return chosen


def is_mlir() -> bool:
    """Whether numba-cuda-mlir compiles the bodies. The simulator is numba-cuda's."""
    return chosen_compiler() == NUMBA_CUDA_MLIR and not is_simulated()


def is_simulated() -> bool:
    """Whether kernels run in Numba's simulator, as plain Python over host memory."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")


@cache
def compiler() -> ModuleType:
    """The `cuda` module of the chosen compiler."""
    if not hasattr(np, "row_stack"):
        # numba-cuda up to 0.30 uses a function that NumPy 2.5 removed.
        np.row_stack = np.vstack
    try:
        if is_mlir():
            from numba_cuda_mlir import cuda as mlir

            return cast("ModuleType", mlir)
        # numba-cuda replaces Numba's own, deprecated target through a .pth file, which PYTHONPATH
        # and `pip --target` installs do not run.
        import _numba_cuda_redirector  # type: ignore[import-untyped]  # noqa: F401
        from numba import cuda
    except (ImportError, RuntimeError) as error:
        why = why_missing(error, MODULES[chosen_compiler()])
        raise DeviceUnavailableError(f"no CUDA compiler: {why}") from error
    if is_simulated():
        _make_shared_arrays_once()
    else:
        from numba.cuda.core.compiler_lock import global_compiler_lock

        hold_over_forks(global_compiler_lock)
    return cast("ModuleType", cuda)


def _make_shared_arrays_once() -> None:
    """Keep the threads of a simulated block from creating a shared array twice, when they ask at once."""
    from numba import types
    from numba.cuda.simulator.kernelapi import FakeCUDAShared
    from numba.np.numpy_support import as_dtype

    making = threading.Lock()
    plain = FakeCUDAShared.array

    def array(
        self: FakeCUDAShared,
        shape: int | tuple[int, ...],
        dtype: types.Type | DTypeLike,
        alignment: int | None = None,
    ) -> object:
        if shape == 0 or alignment is not None:
            return plain(self, shape, dtype, alignment)
        frame = sys._getframe(1)
        # The simulator, too, identifies an array by the line that asks for it.
        place = frame.f_code.co_filename, frame.f_lineno
        item = as_dtype(dtype) if isinstance(dtype, types.Type) else dtype
        with making:
            if place not in self._allocations:
                self._allocations[place] = np.empty(shape, item)
            return self._allocations[place]

    FakeCUDAShared.array = array


def require_device() -> None:
    """Raise `DeviceUnavailableError` unless kernels can be launched, saying what is missing."""
    # If there is a device, the compiler is not needed before a kernel that no process has compiled
    # yet.
    if loads_kernels() and _has_packages() and has_device():
        return
    cuda = compiler()
    if not is_simulated() and not cuda.is_available():
        raise DeviceUnavailableError(
            "no CUDA device: the driver does not load or finds none; see `nvidia-smi`"
        )


def _has_packages() -> bool:
    """Whether numba-cuda, and the package that launches its kernels, are installed."""
    # A submodule can only be found in its package, which is imported for that.
    with suppress(ModuleNotFoundError):
        return None not in map(find_spec, ("_numba_cuda_redirector", "cuda.core"))
    return False


def within_functions() -> object:
    """The compiler's module, as functions that kernels call see it."""
    if is_simulated():
        from colkern.cuda.simulated_primitives import Thread

        return Thread(simulated_module)
    return compiler()


def simulated_module() -> object:
    """The compiler's module, as the kernel that the simulator runs sees it."""
    from numba.cuda.simulator.kernel import _get_kernel_context

    return _get_kernel_context()


def primitive(name: str) -> object:
    """A primitive with an implementation for each compiler: that of the chosen one."""
    if is_simulated():
        from colkern.cuda import simulated_primitives

        return getattr(simulated_primitives, name)
    if is_mlir():
        from colkern.cuda import mlir_primitives

        return getattr(mlir_primitives, name)
    from colkern.cuda import primitives

    return getattr(primitives, name)


def replaced_builtins() -> dict[str, Callable[..., object]]:
    """Built-in functions that the chosen compiler gets wrong, and their replacements."""
    if not is_mlir():
        return {}
    from colkern.cuda.mlir_primitives import greatest, least

    return {"min": least, "max": greatest}


def device_function(function: Callable[..., object]) -> Callable[..., object]:
    """A function that kernels call; inlined, since a nested compilation would need a driver."""
    if is_simulated():
        return function
    compiled = compiler().jit(device=True, inline="always")(function)
    return cast("Callable[..., object]", compiled)


def separate_function(function: Callable[..., object]) -> Callable[..., object]:
    """A function that kernels call, compiled separately: for many functions that call each other."""
    # To compile a kernel that calls it, numba-cuda asks the driver for the device's capability; see
    # `ptx`.
    if is_simulated():
        return function
    return cast("Callable[..., object]", compiler().jit(device=True)(function))


def kernel(function: Callable[..., object], **options: object) -> Launchable:
    """A kernel that can be launched; it is compiled at its first launch for each set of types."""
    jit = compiler().jit
    return cast("Launchable", jit(**options)(function) if options else jit(function))


def compile_errors() -> tuple[type[Exception], ...]:
    """The compiler's exceptions for code that it does not support."""
    compiler()
    if is_simulated() or is_mlir():
        return ()
    from numba import NumbaError

    return (NumbaError,)


@lru_cache(maxsize=256)
def stream(ordinal: int, pointer: int) -> object:
    """A stream of the current device (`ordinal`), from its `cudaStream_t` as an integer."""
    # Cached, since the compiler caches the configuration of a launch by the stream object.
    return None if is_simulated() else compiler().external_stream(pointer)


def launch(
    kernel: Launchable,
    blocks: int,
    threads: int,
    stream: object,
    args: tuple[object, ...],
    shared: int = 0,
) -> None:
    """Launch a kernel on a stream, with `shared` bytes of shared memory; does not wait for its end."""
    if is_simulated() or is_mlir():
        kernel[blocks, threads, stream or 0, shared](*args)
    else:
        _configured(kernel, blocks, threads, stream or 0, shared)(*args)


_configuring = threading.Lock()


@lru_cache(maxsize=1024)
def _configured(
    kernel: Launchable, blocks: int, threads: int, stream: object, shared: int
) -> Callable[..., object]:
    """A kernel with its grid, cached; numba-cuda does not warn of a small grid."""
    # By default, it warns of each grid of fewer than 128 blocks. A column of few items has such a
    # grid, and no other would be faster; users can do nothing about it. The option is for the whole
    # process, so it is restored at once, for kernels that are not colkern's.
    from numba import config

    with _configuring:
        before, config.CUDA_LOW_OCCUPANCY_WARNINGS = config.CUDA_LOW_OCCUPANCY_WARNINGS, 0
        try:
            return kernel[blocks, threads, stream, shared]
        finally:
            config.CUDA_LOW_OCCUPANCY_WARNINGS = before


def loads_kernels() -> bool:
    """Whether kernels can be loaded by `loaded`: only numba-cuda makes code for that."""
    return not is_simulated() and not is_mlir()


def has_plain_launches(options: Mapping[str, object]) -> bool:
    """Whether kernels with these options can be loaded by `loaded`, and need nothing else at launches."""
    debug = options.get("debug", os.environ.get("NUMBA_CUDA_DEBUGINFO", "0") not in ("", "0"))
    return loads_kernels() and not debug and options.keys() <= _PLAIN_OPTIONS


_PLAIN_OPTIONS = {"debug", "fastmath", "launch_bounds", "lineinfo", "opt"}


def loaded(image: bytes, entry: str) -> object:
    """A kernel of the current device, loaded from machine code or PTX by its name; for `launcher`."""
    from cuda.core import ObjectCode

    load = ObjectCode.from_cubin if image.startswith(CUBIN) else ObjectCode.from_ptx
    return load(image).get_kernel(entry)


def capability(ordinal: int) -> tuple[int, int]:
    """The compute capability of a device, such as (9, 0)."""
    from cuda.core import Device

    major, minor = Device(ordinal).compute_capability
    return major, minor


def launcher() -> Callable[..., None]:
    """The function that launches kernels: takes a `launch_stream`, a `grid`, the kernel and parameters."""
    from cuda.core import launch

    return cast("Callable[..., None]", launch)


def launch_stream(pointer: int) -> object:
    """A stream of the current device for `launcher`, from its `cudaStream_t` as an integer."""
    from cuda.core import Stream

    return Stream.from_handle(pointer)


def grid(threads: int, blocks: int, shared: int = 0) -> object:
    """A grid for `launcher`, with `shared` bytes of shared memory."""
    from cuda.core import LaunchConfig

    return LaunchConfig(grid=blocks, block=threads, shmem_size=shared)


def make_context(ordinal: int) -> bool:
    """Make the current device's context current in this thread: the driver needs one to launch kernels."""
    if loads_kernels():
        from cuda.core import Device

        Device(ordinal).set_current()
    return True


def capabilities() -> list[tuple[int, int]]:
    """The compute capabilities that the installed toolchain compiles for, the oldest first."""
    if is_mlir():
        from numba_cuda_mlir.numba_cuda.cudadrv.nvrtc import get_supported_ccs
    else:
        compiler()
        from numba.cuda.cudadrv.nvrtc import get_supported_ccs
    return sorted(get_supported_ccs())


def ptx(
    function: Callable[..., object],
    arguments: Sequence[tuple[str, bool]],
    capability: tuple[int, int],
    *,
    apart: bool = False,
    options: Mapping[str, object] | None = None,
) -> str:
    """A kernel's PTX, without a GPU. `arguments` are NumPy type codes, and whether each is an array."""
    flags = options or {}
    cuda, signature = compiler(), _signature(arguments)
    with _answering_for_device(capability), _apart() if apart else nullcontext():
        text, _ = cuda.compile(
            function, signature, device=False, cc=capability, abi="numba", output="ptx", **flags
        )
    return str(text)


def _signature(arguments: Sequence[tuple[str, bool]]) -> object:
    """The compiler's type for a kernel with such arguments."""
    if is_mlir():
        from numba_cuda_mlir import types
        from numba_cuda_mlir.numba_cuda.np.numpy_support import from_dtype
    else:
        from numba import types
        from numba.np.numpy_support import from_dtype

    items = [(from_dtype(np.dtype(code)), array) for code, array in arguments]
    return types.void(*(types.Array(i, 1, "C") if array else i for i, array in items))


@contextmanager
def _apart() -> Iterator[None]:
    """Within it, kernels are compiled that write only to arrays which overlap no other argument."""
    # The compiler may then read ahead of writes, so that a thread waits for several items at once,
    # and may read unchanging data through the cache.
    if not loads_kernels():
        yield
        return
    from numba.cuda.codegen import CUDACodeLibrary
    from numba.cuda.core.compiler_lock import global_compiler_lock

    plain = CUDACodeLibrary.add_ir_module

    def add_ir_module(library: Any, module: Any) -> None:
        for function in module.functions:
            for argument in function.args:
                # An array is passed as its owners, sizes, address (the fifth) and strides.
                if argument.type.is_pointer and argument.name.endswith(".4"):
                    argument.add_attribute("noalias")
        plain(library, module)

    # For one caller at a time.
    with global_compiler_lock:
        CUDACodeLibrary.add_ir_module = add_ir_module
        try:
            yield
        finally:
            CUDACodeLibrary.add_ir_module = plain


@contextmanager
def _answering_for_device(capability: tuple[int, int]) -> Iterator[None]:
    """Within it, separate functions are compiled for a capability, not for the current device's."""
    # The compiler calls a function of its module for this, so it compiles for one caller at a time.
    if not loads_kernels():
        yield
        return
    from numba.cuda import dispatcher
    from numba.cuda.core.compiler_lock import global_compiler_lock

    with global_compiler_lock:
        asked = dispatcher.get_current_device
        dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=capability)
        try:
            yield
        finally:
            dispatcher.get_current_device = asked
