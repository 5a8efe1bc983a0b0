"""The PTX of a kernel for several GPUs from one compilation: most of its time is not the GPU's."""

from __future__ import annotations

import os
from functools import cache
from typing import Any
from unittest import mock

from kernels.cases import variants
from tiers import QUARTERS, turn

from colkern.cuda import adapter
from colkern.cuda.compiler import ptx
from colkern.kernels import KERNELS, Argument, Kernel

Capability = tuple[int, int]


@cache
def capabilities() -> list[Capability]:
    """Volta or, where the toolchain has dropped it, the oldest that it has; Ampere, Hopper, Blackwell."""
    known = adapter.capabilities()
    oldest = (7, 0) if (7, 0) in known else known[0]
    return [oldest, *(wanted for wanted in ((8, 0), (9, 0), (10, 0)) if wanted in known)]


def everything_wanted() -> bool:
    """COLKERN_PTX=all: each variant of each kernel, and each GPU for each of them."""
    return os.environ.get("COLKERN_PTX") == "all"


def capabilities_in_turn(kernel: Kernel) -> list[Capability]:
    """Ampere, Hopper, and one of the others in turn: each takes a fifth of a second more."""
    others = [one for one in capabilities() if one not in ((8, 0), (9, 0))]
    if not everything_wanted():
        place = list(KERNELS).index(kernel.name)
        others = others[place % len(others) :][:1]
    return [one for one in capabilities() if one in ((8, 0), (9, 0), *others)]


def compiled_variants() -> list[str]:
    """A variant of every eighth kernel, in turn; all variants of all where COLKERN_PTX=all.

    Each takes more than a second. `test_machine` compiles one of each kernel, for blocks of few threads,
    and looks at it in the same way.
    """
    if everything_wanted():
        return list(variants())
    of_kernels: dict[str, list[str]] = {}
    for name, (kernel, _) in variants().items():
        of_kernels.setdefault(kernel.name, []).append(name)
    return [names[-(place % 2)] for place, names in enumerate(of_kernels.values())][
        turn() // QUARTERS % 8 :: 8
    ]


def capabilities_for(kernel: Kernel, variant: tuple[Argument, ...]) -> list[Capability]:
    """All of them for a kernel's first and last variant; the others differ in what they move."""
    first, *others = kernel.variants()
    return capabilities() if variant in (first, *others[-1:]) else [(9, 0)]


def ptx_of_each(
    kernel: Kernel, variant: tuple[Argument, ...], wanted: list[Capability], *blocks: int
) -> dict[Capability, str]:
    """The PTX for each of the capabilities that are wanted, the last of which it is compiled for.

    blocks: how many threads and lanes they have, if not as many as usual
    """
    from numba.cuda.codegen import CUDACodeLibrary

    texts: dict[Capability, str] = {}
    strings_for = CUDACodeLibrary.get_asm_strs

    def strings_for_each(library: Any, cc: Capability) -> list[str]:
        for capability in wanted:
            (texts[capability],) = strings_for(library, capability)
        return [texts[cc]]

    with mock.patch.object(CUDACodeLibrary, "get_asm_strs", strings_for_each):
        ptx(kernel, variant, wanted[-1], *blocks)
    return texts
