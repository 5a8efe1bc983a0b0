"""Kernels compiled ahead: which, how many, and that no second process compiles any again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from kernels.cases import variants

from colkern.kernels import KERNELS, offsets

RUN_EVERY_OPERATION = """
import json, sys
sys.path[:0] = sys.argv[1:]
import numba
from cuda.on_device import OPERATIONS
from operations.samples import ints, sample
from colkern.cache import compilations
for name, run in OPERATIONS.values():
    run(sample(name).slice(3, 7), ints([6, 0, 3, 3]))
print(json.dumps(compilations()))
"""


def compiled_by_every_operation() -> dict[str, int]:
    tests = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", RUN_EVERY_OPERATION, str(tests)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, int] = json.loads(done.stdout)
    return result


def test_a_second_process_compiles_no_kernel_of_any_operation() -> None:
    # In the cache of the tests, where most of them are already.
    compiled_by_every_operation()
    second = compiled_by_every_operation()
    assert second["compiled"] == 0
    assert second["loaded"] > 20


def test_a_warmed_kernel_is_loaded(tmp_path: Path) -> None:
    code = (
        "from colkern.cpu.compiler import warm; import json; print(json.dumps(warm('lengths_of')))"
    )
    environment = os.environ | {"COLKERN_CACHE_DIR": str(tmp_path)}
    actual = [
        json.loads(subprocess.check_output([sys.executable, "-c", code], env=environment))
        for _ in range(2)
    ]
    count = len(list(offsets.lengths_of.variants()))
    assert actual[0] == {"compiled": count, "loaded": 0, "saved": count}
    assert actual[1] == {"compiled": 0, "loaded": count, "saved": 0}


def test_the_number_of_specialisations_is_bounded() -> None:
    # What a warm-up compiles; the most are all numbers to both floats. Raise it for a reason.
    assert max(len(list(kernel.variants())) for kernel in KERNELS.values()) <= 20
    assert len(variants()) <= 8 * len(KERNELS)
