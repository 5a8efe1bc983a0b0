"""Facts about this machine: processor, system, and the releases of packages."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Any, NamedTuple

import colkern
from colkern.pool import POOL

_PACKAGES = (
    "numpy",
    "numba",
    "llvmlite",
    "numba-cuda",
    "cupy-cuda12x",
    "cupy-cuda13x",
    "pyspark",
    "pyarrow",
    "pandas",
    "polars",
    "duckdb",
)

_VARIABLES = ("COLKERN_", "CK_", "NUMBA_", "CUDA_")
"""The prefixes of environment variables that change what colkern does."""


def machine() -> dict[str, Any]:
    """The processor, the cores that this process may use, the memory in bytes, the system."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": platform.platform(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def versions() -> dict[str, str]:
    """The releases of colkern, of Python, and of those packages that are installed; none is imported."""
    releases = {"colkern": colkern.__version__, "python": platform.python_version()}
    return releases | {name: there for name in _PACKAGES if (there := release(name)) is not None}


def show_versions() -> None:
    """Print the facts that a bug report needs: releases, device, threads, memory, settings."""
    from colkern.cpu.threads import num_threads

    facts: dict[str, object] = {**versions(), **machine(), "threads": num_threads()}
    facts |= memory_pool()._asdict()
    facts |= {name: os.environ[name] for name in sorted(os.environ) if name.startswith(_VARIABLES)}
    width = max(map(len, facts))
    print("\n".join(f"{name.ljust(width)}  {fact}" for name, fact in facts.items()))


class MemoryPool(NamedTuple):
    """The state of the pool of host memory for reuse."""

    kept_bytes: int  #: The memory that no array uses; the next output may take it.
    most_kept_bytes: int  #: The limit: `COLKERN_POOL_BYTES`.


def memory_pool() -> MemoryPool:
    """The memory kept for the next outputs, and its limit; see "Settings" in the documentation."""
    return MemoryPool(POOL.kept(), POOL.most)


def release(package: str) -> str | None:
    """The release of a package; None if it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
