"""Runs in a process of its own, with NUMBA_ENABLE_CUDASIM=1: writes what went wrong as JSON.

    python tests/simulated_launches.py OUTPUT

Launches that `benchmarks.gpu` measures, over few slots: what they compute in the simulator is compared
with what the CPU computes from the same arguments. The input has the name of a launch in each line.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from present import present

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

SLOTS = 192
"""Three words of a bitmap: the simulator starts a Python thread for each of a GPU's."""

NOWHERE = 2**64 - 1

SEEN_AS = {"extremes": lambda out: (out[::2].min(), out[1::2].max())}
"""The part of an output that follows from the data alone, not from how the range is cut."""


def on_cpu(launch: Any, out: Any) -> Any:
    """The body's output for the arguments in one range, as on one thread of a CPU; into `out`."""
    kernel = launch.kernel
    typed = [
        value if declared.array else np.dtype(declared.item).type(value)
        for value, declared in zip(launch.args, kernel.arguments, strict=True)
    ]
    if kernel.arguments[-1].written:
        typed[-1] = out
    # NumPy checks each index, and is silent about sums that wrap around.
    with np.errstate(all="ignore"):
        return kernel(np.uint64(0), np.uint64(launch.count), np.uint64(1), *typed)


def failures(measurement: Any, target: Any) -> Iterator[str]:
    launch = measurement.at(target, SLOTS)
    kernel, out = launch.kernel, launch.args[-1]
    written = kernel.arguments[-1].written
    expected = out.copy() if written else None
    result = launch.run(target)
    # A search that finds something stops early, and measures nothing.
    if kernel.name.startswith("first_") and result != NOWHERE:
        yield f"found {result}"
    returned = on_cpu(launch, expected)
    if kernel.returns and int(returned) != result:
        yield f"returned {result}, not {returned}"
    if written:
        seen = SEEN_AS.get(kernel.name, np.asarray)
        if not np.array_equal(seen(out), seen(expected)):
            yield f"wrote {out}, not {expected}"
        if not present(expected).any():
            yield "wrote zeros alone, which may be nothing at all"


def report(names: list[str]) -> dict[str, list[str]]:
    from simulator import SWITCH_SECONDS

    from benchmarks.gpu import MEASUREMENTS
    from colkern.memory import Device
    from colkern.targets import target_of

    sys.setswitchinterval(SWITCH_SECONDS)
    target, result = target_of(Device("cuda")), {}
    for measurement in MEASUREMENTS:
        if measurement.name not in names:
            continue
        try:
            result[measurement.name] = list(failures(measurement, target))
        except Exception:  # noqa: BLE001 (whatever it is, it is this launch's result)
            result[measurement.name] = [traceback.format_exc()]
    return result


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(report(sys.stdin.read().splitlines())))
