"""What a figure was measured on, and the bandwidth of its memory."""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np

from colkern.machine import machine, versions


def facts(threads: int) -> dict[str, Any]:
    """The machine and the versions, for the head of a result file."""
    return {"machine": machine(), "versions": versions(), "threads": threads}


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
