"""Runs in a process of its own, with NUMBA_ENABLE_CUDASIM=1: writes what went wrong as JSON.

    python tests/simulator.py OUTPUT

One process for all cases, as the simulator is chosen for a whole process. The input has the name of a test
in each line. What it writes is read by the fixture `simulated`: for each name the failures, in words.
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


ARITHMETIC = "test_arithmetic_of_the_array_library_is_on_the_device_of_its_arrays"
"""The test of what all operations do on the way."""

Run = Callable[[], Iterable[str]]


def outcome(run: Run) -> list[str]:
    try:
        return list(run())
    except Exception:  # noqa: BLE001 (whatever it is, it is this case's result)
        return [traceback.format_exc()]


def runs(target: Any) -> dict[str, Run]:
    """Everything that can run here, by the name of its test."""
    from cuda import device_operations as device
    from cuda.on_device import OPERATIONS
    from kernels.cases import variants
    from kernels.running import target_failures

    result: dict[str, Run] = {
        f"test_simulated[{name}]": partial(target_failures, name, target, MOST_CASES)
        for name in variants()
    }
    for what in OPERATIONS:
        result[f"test_simulated_operation[{what}]"] = partial(device.failures, what)
    return result | {
        "test_simulated_gather_union": device.union_failures,
        "test_simulated_validation": device.validation_failures,
        "test_simulated_writing": device.writing_failures,
    }


def main(output: str) -> None:
    from cuda.apart import required_apart
    from cuda.placed_arithmetic import noted_arithmetic

    from colkern.memory import Device
    from colkern.targets import target_of

    sys.setswitchinterval(SWITCH_SECONDS)
    known = runs(target_of(Device("cuda")))
    tests = sys.stdin.read().splitlines()
    with noted_arithmetic() as off_the_device, required_apart():
        report = {name: outcome(known[name]) for name in tests if name != ARITHMETIC}
    report[ARITHMETIC] = sorted(off_the_device)
    Path(output).write_text(json.dumps(report))


if __name__ == "__main__":
    main(sys.argv[1])
