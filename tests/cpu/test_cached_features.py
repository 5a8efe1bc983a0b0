"""Machine code from the cache runs in a process that has compiled nothing: what it links to is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FUNCTIONS = {
    "hashes and text": "d = {}; d[str(x)] = hash(str(x) + 'b'); return d['7'] % 9 + len('b'.upper())",
    "mathematics": "return math.erf(x) + math.gamma(x) + np.log1p(x)",
    "arrays and random": "np.random.seed(x); return np.sort(np.random.random(x)).cumsum()[2]",
    "exceptions": "\n    if x > 9:\n        raise ValueError(x)\n    return len({x, x})",
}

RUN = """
import json, math, sys
import numpy as np
from colkern.cpu.compiler import jit
from colkern.cache import compilations
namespace = {"math": math, "np": np, "__name__": "colkern.cpu.compiler"}
exec(sys.argv[1], namespace)
print(json.dumps({"result": float(jit(namespace["f"])(7)), **compilations()}))
"""


def run(body: str, cache: Path) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", RUN, f"def f(x):\n    {body.strip()}\n"],
        env={**os.environ, "COLKERN_CACHE_DIR": str(cache), "PYTHONHASHSEED": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, float] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_process_runs_what_the_first_compiled(name: str, tmp_path: Path) -> None:
    first, second = (run(FUNCTIONS[name], tmp_path) for _ in range(2))
    assert first["compiled"] == 1
    assert (second["compiled"], second["loaded"]) == (0, 1)
    assert second["result"] == first["result"]
