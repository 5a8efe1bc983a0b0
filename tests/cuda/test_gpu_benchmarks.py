"""What `python -m benchmarks.gpu` measures: in the simulator, with few bytes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.gpu import LAUNCHES
from colkern.kernels import KERNELS

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.parametrize("name", LAUNCHES)
def test_launches(name: str, simulated: dict[str, list[str]]) -> None:
    assert simulated[f"launches {name}"] == []


def test_what_is_measured_is_a_kernel(simulated: dict[str, list[str]]) -> None:
    assert set(simulated["launched"]) <= set(KERNELS)


def test_an_image_of_cuda_python_suffices() -> None:
    """NumPy, Numba and its CUDA compiler, CuPy and PyArrow: nothing else is imported."""
    hidden = ("rich", "polars", "pandas", "matplotlib", "lz4", "zstandard", "pyspark", "asv")
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({hidden}))\nimport benchmarks.gpu.__main__"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
