"""Output does not depend on the earlier contents of memory: none of them leave the process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent


def digest(dirt: int) -> str:
    """The digest of what a child writes whose fresh memory is full of that byte."""
    path = os.pathsep.join([str(TESTS), str(TESTS.parent)])
    child = subprocess.run(
        [sys.executable, "-m", "fuzz.write_corpus"],
        env=os.environ | {"PYTHONPATH": path, "MALLOC_PERTURB_": str(dirt)},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert child.returncode == 0, child.stderr
    return child.stdout


def test_files_do_not_depend_on_what_memory_held() -> None:
    assert digest(0x5A) == digest(0xA5)
