"""Kernels compiled ahead of the first call: each with every choice of its types.

The types are those that the target passes: arrays that are read are read-only, numbers are Python's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.np.numpy_support import from_dtype

from colkern.cpu.compiler import compilations, compile_kernel
from colkern.kernels.kernel import KERNELS, Argument


def warm(name: str) -> dict[str, int]:
    """Have every variant of one kernel compiled, or found in the cache; how many were which."""
    before = compilations()
    kernel = KERNELS[name]
    dispatcher = compile_kernel(kernel)
    for variant in kernel.variants():
        dispatcher.compile(signature(variant))
    return {what: count - before[what] for what, count in compilations().items()}


def signature(variant: tuple[Argument, ...]) -> tuple[Any, ...]:
    """The Numba types of a call: of the range, and of the kernel's arguments."""
    return (types.int64, types.int64, *map(_type_of, variant))


def _type_of(argument: Argument) -> Any:
    dtype = np.dtype(argument.item)
    if argument.array:
        return types.Array(from_dtype(dtype), 1, "C", readonly=not argument.written)
    return types.float64 if dtype.kind == "f" else types.int64
