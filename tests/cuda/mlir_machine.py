"""Runs in a process of its own, with numba-cuda-mlir as the compiler: writes what went wrong as JSON.

    python tests/cuda/mlir_machine.py OUTPUT [--all]

Compiles a variant of each kernel (or all of them) with numba-cuda-mlir, and runs the PTX on the machine
in Python. No GPU is needed, nor a driver: the compiler wants to know the device's compute capability
whatever it compiles for, and is told one.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path

TESTS = Path(__file__).parent.parent
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

CAPABILITY = (8, 0)


def without_driver() -> None:
    """Answer the compiler's question for the device."""
    from numba_cuda_mlir import tools

    tools._cached_cc = CAPABILITY
    assert tools.get_gpu_compute_capability(tuple) == CAPABILITY


def main(output: str, *flags: str) -> None:
    os.environ["COLKERN_CUDA_COMPILER"] = "numba-cuda-mlir"
    without_driver()
    from cuda.ptx_running import compiled, one_of_each, ptx_failures
    from kernels.cases import variants

    report = {}
    for name in variants() if "--all" in flags else one_of_each():
        try:
            report[name] = list(ptx_failures(name, compiled(name, CAPABILITY), most=12))
        except Exception:  # noqa: BLE001 (whatever it is, it is this kernel's result)
            report[name] = [traceback.format_exc()]
    Path(output).write_text(json.dumps(report))


if __name__ == "__main__":
    main(*sys.argv[1:])
