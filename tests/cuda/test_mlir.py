"""The successor of numba-cuda as the compiler; skipped where numba-cuda-mlir is not installed."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("numba_cuda_mlir") is None,
    reason="numba-cuda-mlir is not installed (colkern[mlir12] or colkern[mlir13])",
)


def run(*command: object, timeout: float = 290, **environment: str) -> None:
    chosen = {"COLKERN_CUDA_COMPILER": "numba-cuda-mlir"}
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        env=os.environ | chosen | environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=TESTS.parent,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_body_computes_what_is_expected(tmp_path: Path) -> None:
    output = tmp_path / "report.json"
    run(TESTS / "cuda" / "mlir_machine.py", output)
    report = json.loads(output.read_text())
    assert report
    assert {name: failures for name, failures in report.items() if failures} == {}


@pytest.mark.gpu
@pytest.mark.timeout(1800)
def test_kernel_matrix_on_a_gpu() -> None:
    matrix = TESTS / "kernels" / "test_target.py"
    run("-m", "pytest", "-q", matrix, timeout=1790, COLKERN_TEST_DEVICE="cuda")
