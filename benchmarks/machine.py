"""The machine of a measurement, and the bandwidth of its memory."""

from __future__ import annotations

import json
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

from colkern.machine import machine, versions


def facts(threads: int) -> dict[str, Any]:
    """The machine and the versions, for the head of a result file."""
    return {"machine": machine() | _vectors(), "versions": versions(), "threads": threads}


def _vectors() -> dict[str, str]:
    """The widest vectors that the processor has: ratios differ with them."""
    try:
        flags = set(Path("/proc/cpuinfo").read_text().split())
    except OSError:
        return {}
    known = {"avx512f": "AVX-512", "avx2": "AVX2", "asimd": "NEON"}
    return {"vectors": next((name for flag, name in known.items() if flag in flags), "")}


def earlier(path: Path, head: dict[str, Any], part: str) -> dict[str, Any] | None:
    """A result file that was measured under the same conditions; None if there is no file.

    Args:
        path: The file.
        head: The conditions, as the file is to say them.
        part: What it must have besides.

    Raises:
        ValueError: If the conditions are others, or the file is not one that was written here.
    """
    if not path.exists():
        return None
    try:
        report: dict[str, Any] = json.loads(path.read_text())
        conditions = {name: report[name] for name in [part, *head]}
    except (ValueError, LookupError, TypeError) as error:
        raise ValueError(f"{path} is not what --json writes: {error!r}") from None
    for name, value in head.items():
        if value != conditions[name]:
            raise ValueError(f"{path} has other {name}: {conditions[name]}; here {value}")
    return report


def memory_bandwidth(size: int = 1 << 28, repeats: int = 9) -> float:
    """Bytes a second that one thread copies, reads and writes counted, far out of cache."""
    source = np.ones(size // 8, np.uint64)
    target = np.zeros_like(source)
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        np.copyto(target, source)
        seconds.append(time.perf_counter() - begin)
    return 2 * size / statistics.median(seconds)


def write_json(path: Path, result: object) -> None:
    """Write the figures of a run to a file, whose folder is made if need be; it is whole at any time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.part")
    unfinished.write_text(json.dumps(result, indent=1) + "\n")
    unfinished.replace(path)
