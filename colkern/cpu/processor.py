"""The processor of this machine, as LLVM knows it, and the one that Numba compiles for."""

from __future__ import annotations

import hashlib

from llvmlite.binding import get_host_cpu_features, get_host_cpu_name


def fast_features() -> set[str]:
    """The processor's features, without those in microcode, which take 100 cycles for an instruction."""
    features = {name for name, there in get_host_cpu_features().items() if there}
    return features - {"bmi2"} if get_host_cpu_name() in ("znver1", "znver2") else features


def compiled_for() -> str:
    """The processor for which this process compiles; imports Numba."""
    from numba.core.registry import cpu_target

    triple, processor, features = cpu_target.target_context.codegen().magic_tuple()
    digest = hashlib.sha256(str(features).encode()).hexdigest()[:8]
    return f"{triple} {processor} (features {digest})"
