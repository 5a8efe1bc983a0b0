"""Runs in a process of its own, with NUMBA_ENABLE_CUDASIM=1: writes what went wrong as JSON.

    python tests/jit/simulated_kernels.py OUTPUT

The cases of `device_kernels`, by their names.
"""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]


def main(output: str) -> None:
    from jit.device_kernels import CASES

    report: dict[str, str] = {}
    for case in CASES:
        try:
            case()
            report[case.__name__] = ""
        except Exception:  # noqa: BLE001 (whatever it is, it is this case's result)
            report[case.__name__] = traceback.format_exc()
    Path(output).write_text(json.dumps(report))


if __name__ == "__main__":
    main(sys.argv[1])
