"""Runs in a process of its own, with NUMBA_ENABLE_CUDASIM=1: writes what went wrong as JSON.

    python tests/jit/simulated_kernels.py MODULE OUTPUT

The cases of a module beside this one, by their names.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]


def main(module: str, output: str) -> None:
    cases = importlib.import_module(f"jit.{module}").CASES
    report: dict[str, str] = {}
    for case in cases:
        try:
            case()
            report[case.__name__] = ""
        except (Exception, pytest.fail.Exception):  # whatever it is, it is this case's result
            report[case.__name__] = traceback.format_exc()
    Path(output).write_text(json.dumps(report))


def reported(module: str, folder: Path) -> dict[str, str]:
    """What went wrong, by case: a process runs them all."""
    output = folder / "report.json"
    done = subprocess.run(
        [sys.executable, __file__, module, output],
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        timeout=290,
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, str] = json.loads(output.read_text())
    return report


if __name__ == "__main__":
    main(*sys.argv[1:])
