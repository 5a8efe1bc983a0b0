"""Kernels compiled ahead of the first call: each with every choice of its types.

The types are those that the target passes: arrays that are read are read-only, numbers are Python's.
"""

from __future__ import annotations

from colkern.cpu.compiler import compile_kernel, signature
from colkern.cpu.whole_files import compilations
from colkern.kernels.kernel import KERNELS


def warm(name: str) -> dict[str, int]:
    """Have every variant of one kernel compiled, or found in the cache; how many were which."""
    before = compilations()
    kernel = KERNELS[name]
    dispatcher = compile_kernel(kernel)
    for variant in kernel.variants():
        dispatcher.compile(signature(variant))
    return {what: count - before[what] for what, count in compilations().items()}
