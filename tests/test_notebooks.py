"""The notebook for GPUs with its columns in device memory: in the simulator, as it has no GPU to need."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).resolve().parent.parent / "notebooks" / "gpu_etl.ipynb"

SIZE = "ROWS, BATCHES = 2_000_000, 8"
"""The notebook's size of its data; the simulator runs one thread after the other."""


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The notebook's own account of its stages, as its cells give it on a device."""
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    assert SIZE in code
    code = code.replace(SIZE, "ROWS, BATCHES = 160, 2")
    # Kernels are made from their source, so it stands in a file.
    script = tmp_path_factory.mktemp("notebook") / "gpu_etl.py"
    script.write_text(f"{code}\nprint(summary.assign(device=device).to_json())\n")
    done = subprocess.run(
        [sys.executable, str(script)],
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def test_the_same_cells_run_on_a_device(summary: dict[str, Any]) -> None:
    assert set(summary["device"].values()) == {"cuda"}


def test_bytes_go_to_the_device_once_when_they_are_read(summary: dict[str, Any]) -> None:
    sent = summary["MB to device"]
    assert sent.pop("read") > 0
    # What other stages send are tables of a few addresses and of the bounds of digits, of one size for any
    # number of rows.
    assert max(sent.values()) < 0.005


def test_columns_come_back_for_files_alone(summary: dict[str, Any]) -> None:
    fetched = summary["MB to host"]
    columns = fetched.pop("write")
    # What others fetch are single numbers.
    assert max(fetched.values()) < columns / 4
