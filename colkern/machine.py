"""This machine: the processor, the system, the releases of the packages that matter."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Any

import colkern

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
)


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
    """The releases of colkern, Python, and those packages that are installed; none is imported."""
    releases = {"colkern": colkern.__version__, "python": platform.python_version()}
    return releases | {name: there for name in _PACKAGES if (there := release(name)) is not None}


def release(package: str) -> str | None:
    """The release of a package; None if it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
