"""What LLVM knows of this machine's processor; imports LLVM, but not Numba."""

from __future__ import annotations

from llvmlite.binding import get_host_cpu_features, get_host_cpu_name


def fast_features() -> set[str]:
    """The processor's features, without those that it has in microcode: 100 cycles for an instruction."""
    features = {name for name, there in get_host_cpu_features().items() if there}
    return features - {"bmi2"} if get_host_cpu_name() in ("znver1", "znver2") else features
