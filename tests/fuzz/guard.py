"""The resources that a process may use, and has used."""

from __future__ import annotations

import resource
from pathlib import Path

MEMORY_BYTES = 512 << 20


def limit_memory() -> None:
    """Let this process take 512 MiB more than it has; more is a `MemoryError`."""
    most = memory("VmSize") + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def memory(name: str) -> int:
    """A figure of this process's memory (VmSize, VmRSS, VmHWM), in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) << 10
    raise KeyError(name)
