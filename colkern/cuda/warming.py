"""Kernels compiled ahead for a compute capability, without a GPU, for every choice of their types.

A kernel whose items are shared by groups of threads is compiled for each group size.
"""

from __future__ import annotations

from colkern.cache import compilations
from colkern.cuda import adapter
from colkern.cuda.compiler import compile_kernel, parameters
from colkern.cuda.target import Cut, schedule_for
from colkern.cuda.toolkit import find_library
from colkern.errors import DeviceUnavailableError, UnsupportedError
from colkern.kernels.kernel import KERNELS, Kernel
from colkern.names import why_missing


def require_capability(capability: tuple[int, int]) -> None:
    """Raise unless kernels can be compiled for a compute capability here, and stored."""
    if not adapter.loads_kernels():
        raise UnsupportedError("numba-cuda alone compiles kernels ahead, and not in its simulator")
    adapter.compiler()
    for library in map(find_library, ("nvvm", "nvrtc")):
        if library.error:
            why = why_missing(RuntimeError(library.error), adapter.MODULES[adapter.NUMBA_CUDA])
            raise DeviceUnavailableError(f"no CUDA compiler: {why}")
    known = adapter.capabilities()
    if capability not in known:
        names = ", ".join(f"sm_{major}{minor}" for major, minor in known)
        major, minor = capability
        raise UnsupportedError(f"sm_{major}{minor}: the CUDA toolkit here compiles for {names}")


def cuts(kernel: Kernel) -> set[Cut]:
    """The cuts of ranges for which a kernel has code of its own."""
    schedule = schedule_for(1)
    return {schedule.cut(kernel, 1, least) for least, _ in schedule.lanes}


def warm(name: str, capability: tuple[int, int]) -> dict[str, int]:
    """Compile all variants of a kernel, or find them in the cache; returns the number of each."""
    before = compilations()
    kernel = KERNELS[name]
    for cut in cuts(kernel):
        source = compile_kernel(kernel, cut.threads, cut.lanes)
        for variant in kernel.variants():
            source.code(parameters(kernel, variant), capability)
    return {what: count - before[what] for what, count in compilations().items()}
