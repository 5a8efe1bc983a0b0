"""From plain Python to CUDA: kernel bodies as grids of threads.

A range is cut into tiles of `TILE` items, one for each block. A thread gets items of its tile that are
a block's width apart, from its own place on: so neighbouring threads read neighbouring items, and a
thread still keeps state from one item to the next. A `grouped` kernel has a group of neighbouring
threads, its lanes, in place of each thread; they share the bytes to be copied.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from functools import cache, partial

import numpy as np

from colkern.cuda import adapter
from colkern.cuda.device_code import KernelSource
from colkern.cuda.loops import with_plain_loops
from colkern.generated import function_of_text
from colkern.kernels.arguments import Argument
from colkern.kernels.kernel import HELPERS, Kernel
from colkern.kernels.primitives import PRIMITIVES

THREADS = 256
"""The threads of a block; a power of two."""

_KERNELS = "colkern.kernels"

_START = "block * tile + u8(cuda.threadIdx.x) // lanes"
# The step is a constant, so what a body computes from it is computed at compile time.
_RANGE = f"{_START}, min((block + u8(1)) * tile, count), u8(threads) // lanes"

_MAP = """
def {name}(count, tile, {names}):
    block = u8(cuda.blockIdx.x)
    body({range}, {passed})
"""

# A tree over shared memory; `threads` is a power of two.
_REDUCE = """
def {name}(count, tile, {names}, partials):
    block = u8(cuda.blockIdx.x)
    shared = cuda.shared.array(threads, partial)
    me = cuda.threadIdx.x
    shared[me] = body({range}, {passed})
    cuda.syncthreads()
    half = threads // 2
    while half > 0:
        if me < half:
            shared[me] = {combine}
        cuda.syncthreads()
        half //= 2
    if me == 0:
        partials[block] = shared[0]
"""

COMBINE = {
    "add": "shared[me] + shared[me + half]",
    "min": "min(shared[me], shared[me + half])",
    "max": "max(shared[me], shared[me + half])",
}


def grid_function(kernel: Kernel, threads: int, lanes: int) -> types.FunctionType:
    """The function of one thread: `count, tile, *arguments[, partial results]`; `lanes` share an item."""
    # Not by their own names, which may be used by the grid function itself.
    arguments = [(f"a{number}", argument) for number, argument in enumerate(kernel.arguments)]
    source = (_REDUCE if kernel.returns else _MAP).format(
        name=kernel.name,
        names=", ".join(name for name, _ in arguments),
        passed=", ".join(name if a.array else f"{a.item}({name})" for name, a in arguments),
        range=_RANGE,
        combine=COMBINE[kernel.combine],
    )
    namespace: dict[str, object] = {
        "__name__": __name__,
        "cuda": adapter.compiler(),
        "body": _device_function(kernel.body, lanes),
        "threads": threads,
        "lanes": np.uint64(lanes),
        "partial": np.dtype(kernel.returns or "u8").type,
        "u8": np.uint64,
        **{
            name: _device_function(replacement, lanes)
            for name, replacement in adapter.replaced_builtins().items()
        },
        **{a.item: np.dtype(a.item).type for a in kernel.arguments if not a.array},
    }
    return function_of_text(kernel.name, source, namespace, f"kernel {kernel.name}")


@cache
def compile_kernel(kernel: Kernel, threads: int, lanes: int) -> KernelSource:
    """The kernel, ready for launching."""

    def key() -> str | None:
        # The hash of the package is the key of all of its kernels.
        is_own = kernel.body.__module__.startswith(f"{_KERNELS}.")
        return f"{kernel.body.__module__} {threads} {lanes}" if is_own else None

    make = partial(grid_function, kernel, threads, lanes)
    return KernelSource(kernel.name, make, key, apart=True)


def parameters(kernel: Kernel, variant: Iterable[Argument]) -> list[tuple[str, bool]]:
    """The types of a grid's parameters, as launches pass them: type codes, and which are arrays."""
    arguments = [(argument.item, argument.array) for argument in variant]
    partials = [(kernel.returns, True)] if kernel.returns else []
    return [("u8", False), ("u8", False), *arguments, *partials]


def ptx(
    kernel: Kernel,
    variant: tuple[Argument, ...],
    capability: tuple[int, int],
    threads: int = THREADS,
    lanes: int = 8,
) -> str:
    """The PTX of a kernel for one of its `variants()`; needs the compiler but no GPU."""
    function = grid_function(
        kernel, 1 if kernel.sequential else threads, lanes if kernel.grouped else 1
    )
    return adapter.ptx(function, parameters(kernel, variant), capability, apart=True)


def primitive(name: str) -> object:
    """A primitive of `colkern.cuda.primitives`, for users' kernels to call."""
    shared = adapter.primitive(name)
    return adapter.device_function(shared) if isinstance(shared, types.FunctionType) else shared


def device_function(function: Callable[..., object]) -> Callable[..., object]:
    """A helper of `colkern.kernels` for users' kernels to call."""
    return _device_function(function, 1)


@cache
def _device_function(function: Callable[..., object], lanes: int) -> Callable[..., object]:
    """A body, a helper or a primitive written in Python, compiled into its callers."""
    plain = with_plain_loops(function, _target_globals(function, lanes))
    return adapter.device_function(plain)


def _target_globals(function: Callable[..., object], lanes: int) -> dict[str, object]:
    """The globals that a function uses, in their versions for this target."""
    namespace: dict[str, object] = {"__name__": __name__}
    if function.__module__ == "colkern.cuda.primitives":
        # Names that primitives use to learn about their thread.
        namespace |= {"cuda": adapter.within_functions(), "LANES": np.uint64(lanes)}
    replaced = adapter.replaced_builtins()
    for name in function.__code__.co_names:
        if name in replaced:
            namespace[name] = _device_function(replaced[name], lanes)
        elif name in function.__globals__ and name not in namespace:
            namespace[name] = _device_value(function.__globals__[name], lanes)
    return namespace


def _device_value(value: object, lanes: int) -> object:
    """A global of a body in the form that the compiler needs; constants and types stay as they are."""
    if not callable(value) or isinstance(value, type):
        return value
    if isinstance(value, types.FunctionType) and value in HELPERS:
        return _device_function(value, lanes)
    # Imported late: it loads Numba.
    from colkern.cuda import primitives

    name = getattr(value, "__name__", "")
    if value in PRIMITIVES or vars(primitives).get(name) is value:
        shared = vars(primitives).get(name, value)
        # A primitive written in Python is the same for every compiler.
        if isinstance(shared, types.FunctionType):
            return _device_function(shared, lanes)
        return adapter.primitive(name)
    return value
