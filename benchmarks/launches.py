"""Python's time for launches: `python -m benchmarks.launches --json FILE`. Needs a C compiler, no GPU.

Kernels and operations start over a driver that runs nothing (`tests/cuda/silent_device.py`), so what is
measured is colkern, numba-cuda and cuda.core; CuPy is replaced by memory of the host. Figures are
microseconds: the best of several rounds, over arrays of a thousand slots.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import sys
import tempfile
import timeit
import warnings
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine
from tests.cuda import silent_device

KERNELS = ("lengths_of", "copy_bits", "add_words", "count_set_bits", "take_bytes")

CALLS, ROUNDS = 100, 100

SLOTS = 1000


def main() -> int:
    """Measure in a process over the driver, print, and write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = json.loads(
            silent_device.process(Path(folder), "-m", "benchmarks.launches", "within")
        )
    for row in rows:
        counts = f"{row['launches']:4} launches{row['waits']:4} waits"
        print(f"{row['case']:28}{row['microseconds']:8.2f} µs{counts}")
    if options.json:
        machine.write_json(options.json, {**machine.facts(threads=1), "rows": rows})
    return 0


def _of_user(out: Any, more: Any, given: Any) -> None:
    out[0] = given[0] + more


def measured() -> list[dict[str, Any]]:
    """The rows, in a process over the driver."""
    driver = silent_device.install()
    import colkern as ck
    from colkern import kernels
    from colkern.cuda import memory, plans
    from colkern.cuda.device_code import KernelSource
    from colkern.memory import Buffer, Device
    from colkern.targets import target_of

    device = Device("cuda")
    target: Any = target_of(device)
    launched = [ctypes.c_ulong.in_dll(driver, f"calls_cuLaunchKernel{end}") for end in ("", "Ex")]
    fetched = [0]
    on_host = memory.on_host

    def counting(array: Any) -> Any:
        fetched[0] += 1
        return on_host(array)

    memory.on_host = counting

    def counted(call: Callable[[], object]) -> dict[str, int]:
        # The first call compiles.
        call()
        before = sum(count.value for count in launched), fetched[0]
        call()
        return {
            "launches": sum(count.value for count in launched) - before[0],
            "waits": fetched[0] - before[1],
        }

    def column(values: Any) -> ck.Array:
        made = ck.array(values)
        there = [
            None if buffer is None else Buffer(silent_device.SilentArray(buffer.array), device)
            for buffer in made.buffers
        ]
        return ck.Array(made.type, made.length, there, null_count=made.null_count)

    calls: dict[str, Callable[[], object]] = {}
    for name in KERNELS:
        kernel = kernels.KERNELS[name]
        variant = next(kernel.variants())
        args = [target.output(SLOTS, a.item) if a.array else 0 for a in variant]
        start = partial(target.partials if kernel.returns else target.map, kernel, SLOTS, *args)
        calls[f"launch of {name}"] = start
    kernel = KernelSource("of_user", lambda: _of_user, lambda: None)
    out = target.output(SLOTS, np.int64)
    calls["launch of a user's kernel"] = lambda: plans.launch(kernel, 4, 256, 0, (out, 3, out))
    plain, nulls = column(range(SLOTS)), column([None, *range(1, SLOTS)])
    others = column([*range(1, SLOTS), None])
    choices = column([None, *(k % 3 == 0 for k in range(1, SLOTS))])
    prices = column([None, *(Decimal(k) for k in range(1, SLOTS))])
    floats = column([float(k) for k in range(SLOTS)])
    calls |= {
        "add": lambda: ck.add(plain, plain),
        "add, nulls": lambda: ck.add(nulls, nulls),
        "add, two bitmaps": lambda: ck.add(nulls, others),
        "less, two bitmaps": lambda: ck.less(nulls, others),
        "if_else, nulls": lambda: ck.if_else(choices, nulls, others),
        "add of decimals": lambda: ck.add(prices, prices),
        "multiply of floats": lambda: ck.multiply(floats, floats),
        "equal": lambda: ck.equal(plain, plain),
        "cast to int32, unchecked": lambda: ck.cast(plain, ck.int32(), safe=False),
        "sum": lambda: ck.sum(plain),
    }
    counts = {case: counted(call) for case, call in calls.items()}
    best = dict.fromkeys(calls, float("inf"))
    # In turn: what else the machine does falls on all of them.
    for _ in range(ROUNDS):
        for case, call in calls.items():
            best[case] = min(best[case], timeit.timeit(call, number=CALLS) / CALLS)
    return [
        {"case": case, "microseconds": round(best[case] * 1e6, 2), **counts[case]} for case in calls
    ]


if __name__ == "__main__":
    if sys.argv[1:] == ["within"]:
        warnings.simplefilter("ignore")
        print(json.dumps(measured()))
    else:
        raise SystemExit(main())
