"""Runs in a process of its own, with NUMBA_ENABLE_CUDASIM=1: writes what went wrong as JSON.

    python tests/simulator.py OUTPUT

One process for all cases, as the simulator is chosen for a whole process. What it writes is read by
the fixture `simulated`: for each name the failures, in words.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

MOST_CASES = 4
"""For each variant of a kernel: the simulator starts a Python thread for each of a GPU's."""

SWITCH_SECONDS = 1e-4
"""The simulator asks without a pause whether its threads are done: not for 5 ms, while these wait."""


def outcome(run: Callable[[], Iterable[str]]) -> list[str]:
    try:
        return list(run())
    except Exception:  # noqa: BLE001 (whatever it is, it is this case's result)
        return [traceback.format_exc()]


def kernel_runs(target: Any) -> dict[str, Callable[[], Iterable[str]]]:
    """What is run of kernels, by the name that the report has it under."""
    from kernels.cases import variants
    from kernels.running import target_failures

    return {
        f"kernel {name}": partial(target_failures, name, target, MOST_CASES) for name in variants()
    }


def main(output: str) -> None:
    from colkern.memory import Device
    from colkern.targets import target_of

    sys.setswitchinterval(SWITCH_SECONDS)
    target = target_of(Device("cuda"))
    report = {name: outcome(run) for name, run in kernel_runs(target).items()}
    from cuda import device_operations as device
    from cuda.placed_arithmetic import noted_arithmetic

    with noted_arithmetic() as off_the_device:
        for what in device.OPERATIONS:
            report[f"operation {what}"] = outcome(partial(device.failures, what))
        report["gather_union"] = outcome(device.union_failures)
        report["validation"] = outcome(device.validation_failures)
        report["writing"] = outcome(device.writing_failures)
    report["arithmetic off the device"] = sorted(off_the_device)
    Path(output).write_text(json.dumps(report))


if __name__ == "__main__":
    main(sys.argv[1])
