"""The PTX of a kernel for several GPUs from one compilation: most of its time is not the GPU's."""

from __future__ import annotations

import os
from functools import cache
from typing import Any
from unittest import mock

from kernels.cases import variants

from colkern.cuda import adapter
from colkern.cuda.compiler import ptx
from colkern.kernels import Argument, Kernel

Capability = tuple[int, int]


@cache
def capabilities() -> list[Capability]:
    """Volta or, where the toolchain has dropped it, the oldest that it has; Ampere, Hopper, Blackwell."""
    known = adapter.capabilities()
    oldest = (7, 0) if (7, 0) in known else known[0]
    return [oldest, *(wanted for wanted in ((8, 0), (9, 0), (10, 0)) if wanted in known)]


def compiled_variants() -> list[str]:
    """The first variant of a kernel, the last of the next one, and so on; all where COLKERN_PTX=all.

    They differ in the types of what they move, and each takes more than a second.
    """
    if os.environ.get("COLKERN_PTX") == "all":
        return list(variants())
    of_kernels: dict[str, list[str]] = {}
    for name, (kernel, _) in variants().items():
        of_kernels.setdefault(kernel.name, []).append(name)
    return [names[-(place % 2)] for place, names in enumerate(of_kernels.values())]


def capabilities_for(kernel: Kernel, variant: tuple[Argument, ...]) -> list[Capability]:
    """All of them for a kernel's first and last variant; the others differ in what they move."""
    first, *others = kernel.variants()
    return capabilities() if variant in (first, *others[-1:]) else [(9, 0)]


def ptx_of_each(kernel: Kernel, variant: tuple[Argument, ...]) -> dict[Capability, str]:
    """The PTX for each of `capabilities_for` it."""
    from numba.cuda.codegen import CUDACodeLibrary

    texts: dict[Capability, str] = {}
    strings_for = CUDACodeLibrary.get_asm_strs

    def strings_for_each(library: Any, cc: Capability) -> list[str]:
        for capability in capabilities_for(kernel, variant):
            (texts[capability],) = strings_for(library, capability)
        return [texts[cc]]

    with mock.patch.object(CUDACodeLibrary, "get_asm_strs", strings_for_each):
        ptx(kernel, variant, (9, 0))
    return texts
