"""How long a launch takes on the device, and how long copying as many bytes does: one method for both.

A round is several launches in a row between two CUDA events. The device is held up by other work until
all of them are in its queue, so that what the host takes to start them is not in the time of a kernel.
What a kernel returns is left on the device. A figure is the median of the rounds.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.gpu.case import GRAIN, TARGETS, Measurement
from benchmarks.gpu.turns import device_alone

IN_A_ROW = 8
"""The launches of a round."""

HOLDING = 1 << 26
"""Bytes of the copies that hold the device up: they take longer than it takes to start them."""

Start = Callable[[], object]


class Clock:
    """Times what starts work on the device and returns before that has ended.

    Args:
        rounds: How many rounds a figure is the median of.
    """

    def __init__(self, rounds: int) -> None:
        import cupy

        self._rounds = rounds
        self._held = [cupy.zeros(HOLDING // 8, np.uint64) for _ in range(2)]
        self._copy_seconds = 0.0
        self._copy_seconds = self.seconds(self._copy)

    def seconds(self, start: Start) -> float:
        """The seconds that the device takes for what is started."""
        # The first time compiles it.
        start()
        _wait()
        begin = time.perf_counter()
        self._in_a_row(start)
        host = time.perf_counter() - begin
        _wait()
        return statistics.median(self._round(start, host) for _ in range(self._rounds))

    def _round(self, start: Start, host: float) -> float:
        import cupy

        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        self._hold(2 * host)
        begin.record()
        self._in_a_row(start)
        end.record()
        end.synchronize()
        spent: float = cupy.cuda.get_elapsed_time(begin, end)
        return spent / 1e3 / IN_A_ROW

    def _hold(self, seconds: float) -> None:
        """Keep the device busy for about so long."""
        if self._copy_seconds:
            for _ in range(int(seconds / self._copy_seconds) + 1):
                self._copy()

    def _copy(self) -> None:
        import cupy

        cupy.copyto(*self._held)

    def _in_a_row(self, start: Start) -> None:
        for _ in range(IN_A_ROW):
            start()


def copy_bandwidth(clock: Clock, size: int) -> float:
    """Bytes a second of a copy within the device that reads and writes `size` bytes in all."""
    import cupy

    free()
    source, target = (cupy.zeros(size // 16, np.uint64) for _ in range(2))
    moved: int = source.nbytes + target.nbytes
    return moved / clock.seconds(lambda: cupy.copyto(target, source))


def row(
    measurement: Measurement,
    target: Any,
    clock: Clock,
    size: int,
    bandwidth: float,
    turn: Path | None = None,
) -> dict[str, Any]:
    """A row of the table; with `error` in the place of figures if the launch fails.

    Args:
        measurement: What is launched.
        target: Where.
        clock: What times it.
        size: The bytes that the launch is to work on.
        bandwidth: That of a copy, in bytes a second.
        turn: The file that other processes lock while they measure.
    """
    head = {
        "case": measurement.name,
        "kernel": measurement.kernel.name,
        "kind": measurement.kind,
        "target": TARGETS.get(measurement.kind),
    }
    try:
        # Compiles it, while others measure.
        measurement.at(target, GRAIN).start(target)
        with device_alone(turn):
            figures = _figures(measurement, target, clock, size, bandwidth)
            free()
        return head | figures
    except Exception as error:  # noqa: BLE001 (whatever it is, the other rows are worth having)
        return head | {"error": f"{type(error).__name__}: {error}"}


def _figures(
    measurement: Measurement, target: Any, clock: Clock, size: int, bandwidth: float
) -> dict[str, Any]:
    # What the launch before had is of other sizes.
    free()
    launch = measurement.at(target, measurement.slots_for(target, size))
    spent = clock.seconds(lambda: launch.start(target))
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

    _wait()
    cupy.get_default_memory_pool().free_all_blocks()


def _wait() -> None:
    import cupy

    cupy.cuda.Device().synchronize()
