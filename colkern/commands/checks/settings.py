"""The environment variables that colkern and its libraries read."""

from __future__ import annotations

import os
from collections.abc import Iterator

from colkern.commands.checks.finding import Finding, ok

_VARIABLES = {
    "COLKERN_CACHE_DIR": "where compiled kernels are kept",
    "COLKERN_NUM_THREADS": "how many threads share a large column",
    "COLKERN_POOL_BYTES": "how much host memory is kept for the next result",
    "COLKERN_CUDA_COMPILER": "which compiler makes kernels for the GPU",
    "COLKERN_DIRECT_STORAGE": "0 reads without GPUDirect Storage",
    "COLKERN_SPARK_READER": "1 lets colkern read what Spark sends to its Python workers",
    "CK_CHECKED": "1 checks positions in users' compiled functions",
    "NUMBA_CACHE_DIR": "where compiled kernels are kept, after COLKERN_CACHE_DIR",
    "NUMBA_CPU_FEATURES": "which instructions compiled code may use",
    "NUMBA_CPU_NAME": "which processor code is compiled for",
    "NUMBA_DISABLE_JIT": "1 runs kernels as plain Python, a hundred times slower",
    "NUMBA_ENABLE_CUDASIM": "1 runs kernels for the GPU in Numba's simulator",
    "NUMBA_OPT": "how hard the compiler works",
    "CUDA_VISIBLE_DEVICES": "which GPUs this process sees, and in which order",
    "CUDA_HOME": "where the CUDA toolkit is",
    "CUDA_PATH": "where the CUDA toolkit is",
    "KVIKIO_COMPAT_MODE": "ON reads without GPUDirect Storage",
}


def findings() -> Iterator[Finding]:
    """The section about the environment: the variables that are set."""
    chosen = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    for name, value in chosen.items():
        yield ok(name, f"{value} ({_VARIABLES[name]})")
    if not chosen:
        yield ok("variables", "none of colkern's is set")
