"""The inputs that once broke Arrow's readers: a clean error or a clean reading, soon and small."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fuzz.guard import MEMORY_BYTES
from fuzz.harness import SLOW_SECONDS
from golden import golden_files

TESTS = Path(__file__).resolve().parent.parent
ENDS = {"read", "invalid", "InvalidArrowError", "UnsupportedError", "LimitExceededError"}
PATTERNS = ["arrow-ipc-stream/c*", "arrow-ipc-file/c*", "arrow-ipc-tensor-stream/c*"]


def read_guarded(paths: list[Path]) -> list[dict[str, Any]]:
    child = subprocess.run(
        [sys.executable, "-m", "fuzz.read_guarded", *map(str, paths)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)])},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert child.returncode == 0, child.stderr
    return [json.loads(line) for line in child.stdout.splitlines()]


@pytest.mark.parametrize("kind", PATTERNS)
def test_regressions_end_cleanly_soon_and_small(kind: str) -> None:
    outcome = golden_files(kind)
    paths = [parameter.values[0] for parameter in outcome]
    if paths == [None]:
        pytest.skip(outcome[0].marks[0].kwargs["reason"])
    results = read_guarded(paths)
    assert [result["file"] for result in results] == [path.name for path in paths]
    assert [result for result in results if result["outcome"] not in ENDS] == []
    assert [result for result in results if result["seconds"] > SLOW_SECONDS] == []
    assert [result for result in results if result["bytes"] > MEMORY_BYTES] == []
