"""From plain Python to CUDA: kernel bodies as grids of threads.

A range is cut into tiles of `TILE` items, one for each block. A thread gets items of its tile that are
a block's width apart, from its own place on: so neighbouring threads read neighbouring items, and a
thread still keeps state from one item to the next. A `grouped` kernel has a group of neighbouring
threads, its lanes, in place of each thread; they share the bytes to be copied.

Several kernels may be one grid: each has its own blocks of it, one kernel after the other.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import TypeAlias

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

# The step is a constant, so what a body computes from it is computed at compile time.
_BODY = (
    "body{k}({block} * u8(tile{k}) + u8(cuda.threadIdx.x) // lanes{k}, "
    "min(({block} + u8(1)) * u8(tile{k}), u8(count{k})), u8(threads) // lanes{k}, {passed})"
)

_ALONE = """
def {name}({names}):
    block = u8(cuda.blockIdx.x)
    {body}
"""

# The blocks of each kernel end where those of the next one begin.
_TOGETHER = """
def {name}({names}):
    block = u8(cuda.blockIdx.x)
    {branches}
"""

# A tree over shared memory; `threads` is a power of two.
_REDUCE = """
def {name}({names}, partials):
    block = u8(cuda.blockIdx.x)
    shared = cuda.shared.array(threads, partial)
    me = cuda.threadIdx.x
    shared[me] = {body}
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


Member: TypeAlias = tuple[Kernel, int]
"""A kernel of a grid, and how many threads share an item of it: its lanes."""


def grid_function(members: Sequence[Member], threads: int) -> types.FunctionType:
    """The function of one thread.

    It takes `count, tile, *arguments` of each kernel. Of several, each also has the number of the block
    behind its own, after its tile; alone, one that returns has the array of partial results at the end.
    """
    names: list[str] = []
    bodies: list[str] = []
    namespace: dict[str, object] = {
        "__name__": __name__,
        "cuda": adapter.compiler(),
        "threads": threads,
        "u8": np.uint64,
        **{
            name: _device_function(replacement, 1)
            for name, replacement in adapter.replaced_builtins().items()
        },
    }
    for k, (kernel, lanes) in enumerate(members):
        # Not by their own names, which may be used by the grid function itself.
        arguments = [(f"a{k}_{number}", each) for number, each in enumerate(kernel.arguments)]
        passed = [name if a.array else f"{a.item}({name})" for name, a in arguments]
        block = f"(block - u8(end{k - 1}))" if k else "block"
        bodies.append(_BODY.format(k=k, block=block, passed=", ".join(passed)))
        ends = [f"end{k}"] if len(members) > 1 else []
        names += [f"count{k}", f"tile{k}", *ends, *[name for name, _ in arguments]]
        namespace |= {
            f"body{k}": _device_function(kernel.body, lanes),
            f"lanes{k}": np.uint64(lanes),
            **{a.item: np.dtype(a.item).type for a in kernel.arguments if not a.array},
        }
    alone = members[0][0]
    text = {"name": grid_name(members), "names": ", ".join(names), "body": bodies[0]}
    if len(members) > 1:
        branches = [f"elif block < u8(end{k}):\n        {b}" for k, b in enumerate(bodies)]
        source = _TOGETHER.format(**text, branches="\n    ".join(branches).removeprefix("el"))
    elif alone.returns:
        namespace["partial"] = np.dtype(alone.returns).type
        source = _REDUCE.format(**text, combine=COMBINE[alone.combine])
    else:
        source = _ALONE.format(**text)
    return function_of_text(text["name"], source, namespace, f"kernel {text['name']}")


def grid_name(members: Sequence[Member]) -> str:
    """The name of a grid of kernels."""
    return "_and_".join(kernel.name for kernel, _ in members)


@cache
def compile_grid(members: tuple[Member, ...], threads: int) -> KernelSource:
    """One kernel, or several that are launched as one, ready for that."""

    def key() -> str | None:
        # The hash of the package is the key of all of its kernels.
        modules = [kernel.body.__module__ for kernel, _ in members]
        are_own = all(module.startswith(f"{_KERNELS}.") for module in modules)
        lanes = [lanes for _, lanes in members]
        return f"{modules} {threads} {lanes}" if are_own else None

    make = partial(grid_function, members, threads)
    return KernelSource(grid_name(members), make, key, apart=True)


def parameters(
    kernels: Sequence[Kernel], variants: Iterable[Iterable[Argument]]
) -> list[tuple[str, bool]]:
    """The types of a grid's parameters, as launches pass them: type codes, and which are arrays.

    Args:
        kernels: Those of the grid.
        variants: The arguments of each, from its `variants()`.
    """
    numbers = [("u8", False)] * (2 if len(kernels) == 1 else 3)
    types = [each for own in variants for each in (*numbers, *[(a.item, a.array) for a in own])]
    alone = kernels[0] if len(kernels) == 1 else None
    return [*types, (alone.returns, True)] if alone and alone.returns else types


def ptx(
    kernel: Kernel,
    variant: tuple[Argument, ...],
    capability: tuple[int, int],
    threads: int = THREADS,
    lanes: int = 8,
) -> str:
    """The PTX of a kernel for one of its `variants()`; needs the compiler but no GPU."""
    member = kernel, lanes if kernel.grouped else 1
    function = grid_function([member], 1 if kernel.sequential else threads)
    return adapter.ptx(function, parameters([kernel], [variant]), capability, apart=True)


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
    if value in PRIMITIVES or getattr(primitives, name, None) is value:
        shared = getattr(primitives, name, value)
        # A primitive written in Python is the same for every compiler.
        if isinstance(shared, types.FunctionType):
            return _device_function(shared, lanes)
        return adapter.primitive(name)
    return value
