"""Kernels compiled ahead for a compute capability, without a GPU, for every choice of their types.

A kernel whose items are shared by groups of threads is compiled for each group size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from colkern.cache import compilations
from colkern.cuda import adapter
from colkern.cuda.compiler import compile_grid, grid_name, parameters
from colkern.cuda.device_code import KernelSource, Types
from colkern.cuda.target import schedule_for
from colkern.cuda.toolkit import find_library
from colkern.errors import DeviceUnavailableError, UnsupportedError
from colkern.kernels.kernel import KERNELS, Kernel
from colkern.kernels.together import TOGETHER
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


_TOGETHER = {grid_name([(kernel, 1) for kernel in group]): group for group in TOGETHER}


def warmed(kernels: Mapping[str, Kernel]) -> dict[str, int]:
    """The names that `warm` takes for kernels, alone and several in one launch, and their variants."""
    names = [name for name, group in _TOGETHER.items() if kernels.keys() >= {k.name for k in group}]
    return {name: len(list(_variants(name))) for name in (*kernels, *names)}


def _variants(name: str) -> Iterator[tuple[KernelSource, Types]]:
    """The sources and types that are compiled for a name: for each group size, each choice of types."""
    group = _TOGETHER.get(name) or (KERNELS[name],)
    schedule = schedule_for(1)
    cuts = {tuple([schedule.cut(k, 1, least) for k in group]) for least, _ in schedule.lanes}
    for cut in cuts:
        members = tuple([(kernel, own.lanes) for kernel, own in zip(group, cut, strict=True)])
        source = compile_grid(members, cut[0].threads)
        for chosen in product(*[kernel.variants() for kernel in group]):
            yield source, parameters(group, chosen)


def warm(name: str, capability: tuple[int, int]) -> dict[str, int]:
    """Compile all variants of a name, or find them in the cache; returns the number of each."""
    before = compilations()
    for source, types in _variants(name):
        source.code(types, capability)
    return {what: count - before[what] for what, count in compilations().items()}
