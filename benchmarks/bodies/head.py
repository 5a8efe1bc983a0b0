"""Where figures were measured."""

from __future__ import annotations

import importlib.metadata
import subprocess
from typing import Any

from benchmarks import machine
from colkern.cpu.threads import num_threads
from colkern.cuda import direct_storage
from colkern.memory import Device

_PACKAGES = ("lz4", "zstandard", "kvikio-cu12", "kvikio-cu13", "cudf-cu12", "cudf-cu13")
"""The conditions of figures that `colkern.machine` does not name."""


def head(device: Device, size: int, rounds: int, *, stand_in: bool) -> dict[str, Any]:
    """The device, the machine and the releases of what is used."""
    facts = machine.facts(num_threads())
    facts["versions"] |= _versions()
    return {
        **({"device": "a stand-in over host memory"} if stand_in else _gpu(device)),
        **facts,
        "stand_in": stand_in,
        "direct_storage": direct_storage.is_available(),
        "size": size,
        "rounds": rounds,
    }


def _gpu(device: Device) -> dict[str, Any]:
    import cupy

    runtime = cupy.cuda.runtime
    return {
        "device": runtime.getDeviceProperties(device.ordinal)["name"].decode(),
        "driver": _driver(),
        "driver_cuda": runtime.driverGetVersion(),
        "cuda": runtime.runtimeGetVersion(),
    }


def _driver() -> str | None:
    """The driver's release, as its own tool tells it."""
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        said = subprocess.run(query, capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return None
    return said.stdout.split("\n")[0].strip() or None


def _versions() -> dict[str, str]:
    versions = {}
    for name in _PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions
