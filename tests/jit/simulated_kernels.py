"""Runs in a process of its own, with NUMBA_ENABLE_CUDASIM=1: writes what went wrong as JSON.

    python tests/jit/simulated_kernels.py OUTPUT

Users' kernels over Arrow columns: each case is a function here that ends with an assertion.
"""

from __future__ import annotations

import json
import linecache
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from colkern.cuda import adapter

cuda = adapter.compiler()

import pyarrow as pa
from arrow_strategies import arrays
from hypothesis import HealthCheck, Phase, given, settings
from jit.checksums import checksum, kernel_source

import colkern as ck
from colkern.cuda.memory import to_device


def kernel_of(source: str) -> Any:
    """The kernel `checksums` of a source that stands in no file, as that of a notebook's cell."""
    name = f"<kernel {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    namespace = {"cuda": cuda, "__name__": __name__}
    exec(compile(source, name, "exec"), namespace)
    return ck.cuda_jit(namespace["checksums"])


@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(arrays(depth=3))
def each_type_at_three_levels(array: pa.Array) -> None:
    column = ck.interchange.import_array(array)
    out = np.zeros(len(array), np.int64)
    if len(array):
        kernel_of(kernel_source({"a": column.type}))[1, len(array)](out, to_device(column))
    assert out.tolist() == [checksum(array, i) for i in range(len(array))]


CASES: list[Callable[[], None]] = [each_type_at_three_levels]


def main(output: str) -> None:
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
