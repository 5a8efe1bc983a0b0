"""Runs in a process of its own, with NUMBA_ENABLE_CUDASIM=1: writes what went wrong as JSON.

    python tests/jit/simulated_kernels.py MODULE OUTPUT CASE...

Cases of a module such as `jit.device_kernels`, by their names.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from importlib import import_module
from pathlib import Path


def report_of(module: str, cases: list[str], output: Path) -> dict[str, str]:
    """The failures in the simulator, by case: one process runs them all."""
    done = subprocess.run(
        [sys.executable, __file__, module, output, *cases],
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        timeout=290,
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, str] = json.loads(output.read_text())
    return report


def main(module: str, output: str, *cases: str) -> None:
    report: dict[str, str] = {}
    for case in import_module(module).CASES:
        if case.__name__ not in cases:
            continue
        try:
            case()
            report[case.__name__] = ""
        except Exception:  # noqa: BLE001 (whatever it is, it is this case's result)
            report[case.__name__] = traceback.format_exc()
    Path(output).write_text(json.dumps(report))


if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]
    main(*sys.argv[1:])
