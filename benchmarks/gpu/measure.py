"""How long a launch takes on the device, and how long copying as many bytes does: one method for both.

A round is several launches in a row between two CUDA events: the host starts the next one while the
device is at work, so that what it takes to start one is not in the time of a kernel. What a kernel
returns is left on the device. A figure is the median of the rounds.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.gpu.case import TARGETS, Measurement

IN_A_ROW = 8
"""The launches of a round."""


def seconds(start: Callable[[], object], rounds: int) -> float:
    """The seconds of a launch; `start` returns before it has ended."""
    import cupy

    # The first launch compiles; the second one finds memory that has been touched.
    for _ in range(2):
        start()
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    spent = []
    for _ in range(rounds):
        begin.record()
        for _ in range(IN_A_ROW):
            start()
        end.record()
        end.synchronize()
        spent.append(cupy.cuda.get_elapsed_time(begin, end) / 1e3 / IN_A_ROW)
    return statistics.median(spent)


def copy_bandwidth(size: int, rounds: int) -> float:
    """Bytes a second of a copy within the device that reads and writes `size` bytes in all."""
    import cupy

    free()
    source, target = (cupy.zeros(size // 16, np.uint64) for _ in range(2))
    moved = source.nbytes + target.nbytes
    return moved / seconds(lambda: cupy.copyto(target, source), rounds)


def row(
    measurement: Measurement, target: Any, size: int, rounds: int, bandwidth: float
) -> dict[str, Any]:
    """A row of the table; with `error` in the place of figures if the launch fails."""
    head = {
        "case": measurement.name,
        "kernel": measurement.kernel.name,
        "kind": measurement.kind,
        "target": TARGETS.get(measurement.kind),
    }
    try:
        return head | _figures(measurement, target, size, rounds, bandwidth)
    except Exception as error:  # noqa: BLE001 (whatever it is, the other rows are worth having)
        return head | {"error": f"{type(error).__name__}: {error}"}


def _figures(
    measurement: Measurement, target: Any, size: int, rounds: int, bandwidth: float
) -> dict[str, Any]:
    # What the launch before had is of other sizes.
    free()
    launch = measurement.at(target, measurement.slots_for(target, size))
    spent = seconds(lambda: launch.start(target), rounds)
    share = launch.nbytes / spent / bandwidth
    least = TARGETS.get(measurement.kind)
    return {
        "items": launch.count,
        "bytes": launch.nbytes,
        "seconds": spent,
        "bytes_per_second": launch.nbytes / spent,
        "bandwidth_share": share,
        "meets_target": None if least is None else share >= least,
    }


def free() -> None:
    """Give back the memory of arrays that are gone."""
    import cupy

    cupy.cuda.Device().synchronize()
    cupy.get_default_memory_pool().free_all_blocks()
