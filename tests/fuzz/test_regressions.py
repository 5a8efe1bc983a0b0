"""The inputs that once broke Arrow's readers: a clean error or a clean reading, soon and small."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from golden import golden_files

CLEAN = {"read", "InvalidArrowError", "UnsupportedError", "LimitExceededError"}
GUARDED = Path(__file__).with_name("read_guarded.py")
PATTERNS = ["arrow-ipc-stream/c*", "arrow-ipc-file/c*", "arrow-ipc-tensor-stream/c*"]


@pytest.mark.parametrize("kind", PATTERNS)
def test_regressions_end_cleanly(kind: str) -> None:
    found = golden_files(kind)
    paths = [parameter.values[0] for parameter in found]
    if paths == [None]:
        pytest.skip(found[0].marks[0].kwargs["reason"])
    child = subprocess.run(
        [sys.executable, str(GUARDED), *map(str, paths)],
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )
    outcomes = [json.loads(line) for line in child.stdout.splitlines()]
    assert len(outcomes) == len(paths)
    assert [o for o in outcomes if o["outcome"] not in CLEAN] == []
    assert [o for o in outcomes if o["seconds"] > 1] == []
