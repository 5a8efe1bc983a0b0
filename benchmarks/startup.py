"""The costs of a process before its first result: `python -m benchmarks.startup`.

Every figure is the median over fresh processes. The kernels are compiled once before, into a cache
of their own; then each process must find them there, and says how many it compiled.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import machine

IMPORT = """
import time
begin = time.perf_counter()
import {module}
print(time.perf_counter() - begin)
"""

KERNELS = """
import json, time
import numpy as np
import colkern as ck
from colkern.memory import Buffer

bits = Buffer(np.ones(64, np.uint8))
views = ck.array(["short", "much longer than twelve"], ck.utf8_view())
runs = ck.array([1, 1, 2], ck.run_end_encoded(ck.int32(), ck.int64()))
steps = (
    lambda: ck.operations.count_set_bits(bits, 0, 512),
    lambda: ck.views_to_offsets(views),
    lambda: ck.run_end_decode(runs),
)
begin = time.perf_counter()
import numba
seconds = [time.perf_counter() - begin]
from colkern.cpu.compiler import compilations
kernels = []
for step in steps:
    begin = time.perf_counter()
    step()
    seconds.append(time.perf_counter() - begin)
    counts = compilations()
    kernels.append(counts["loaded"] + counts["compiled"])
print(json.dumps({"seconds": seconds, "kernels": kernels, **counts}))
"""

FIRST_CALLS = """
import json, sys, time
import numpy as np
import colkern as ck
from colkern.memory import Buffer

bits = Buffer(np.ones(64, np.uint8))
column = ck.array([1.0, None, 3.0])
import numba

RATE = 0.93

def discount(x):
    return x * RATE

def kernel():
    return lambda: ck.operations.count_set_bits(bits, 0, 512)

def udf():
    @ck.udf
    def price(x):
        return discount(x)

    return lambda: price(column)

def njit():
    @ck.njit
    def total(prices):
        total_price = 0.0
        for i in range(len(prices)):
            if prices.is_valid(i):
                total_price += discount(prices.value(i))
        return total_price

    return lambda: total(column)

def reducer():
    @ck.reducer
    class mean:
        def init():
            return 0.0, 0

        def update(state, x):
            return state[0] + discount(x), state[1] + 1

        def merge(left, right):
            return left[0] + right[0], left[1] + right[1]

        def finish(state):
            return state[0] / state[1] if state[1] else None

    return lambda: mean(column)

def generator():
    @ck.generator
    def prices(x):
        yield x
        yield discount(x)

    return lambda: prices(column)

definitions = {define.__name__: define for define in (kernel, udf, njit, reducer, generator)}
first = definitions.pop(FIRST)
seconds = {}
for define in (first, *definitions.values()):
    begin = time.perf_counter()
    call = define()
    defined = time.perf_counter()
    call()
    seconds[define.__name__] = [defined - begin, time.perf_counter() - defined]
from colkern.cpu.compiler import compilations
print(json.dumps({"seconds": seconds, **compilations()}))
"""


def run(code: str, **environment: str) -> str:
    """The output of a fresh process."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        # As installed packages are, compiled to bytecode.
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def import_ratio(rounds: int) -> dict[str, float]:
    """`import colkern` beside `import numpy`, in turn."""
    seconds: dict[str, list[float]] = {"numpy": [], "colkern": []}
    for _ in range(rounds):
        for module, measured in seconds.items():
            measured.append(float(run(IMPORT.format(module=module))))
    numpy, colkern = (statistics.median(measured) for measured in seconds.values())
    return {"numpy": numpy, "colkern": colkern, "ratio": colkern / numpy}


def cached_kernels(rounds: int) -> dict[str, Any]:
    """The first kernel of a process that finds it compiled, and each further one."""
    with tempfile.TemporaryDirectory() as cache:
        cold = json.loads(run(KERNELS, COLKERN_CACHE_DIR=cache))
        warm = [json.loads(run(KERNELS, COLKERN_CACHE_DIR=cache)) for _ in range(rounds)]
    numba, first, *further = (
        statistics.median(process["seconds"][k] for process in warm)
        for k in range(len(warm[0]["seconds"]))
    )
    loaded = warm[0]["kernels"][-1] - warm[0]["kernels"][0]
    return {
        "cold_compiled": cold["compiled"],
        "cold_seconds": sum(cold["seconds"]),
        "compiled": max(process["compiled"] for process in warm),
        "import_numba": numba,
        "first_kernel": first,
        "first_kernel_with_import": numba + first,
        "further_kernel": sum(further) / loaded,
        "further_kernels": loaded,
    }


def users_functions(rounds: int) -> dict[str, Any]:
    """The first call of a user's function, defined there and compiled by an earlier process.

    Each of a built-in kernel and the kinds of functions is in turn the first thing that a process
    calls, with all imports but those of Numba and `colkern` in it; and one after another. Figures are
    seconds for the definition, for the call, and for the least that both took in any process.
    """
    kinds = ("kernel", "udf", "njit", "reducer", "generator")
    with tempfile.TemporaryDirectory() as cache:

        def process(first: str) -> dict[str, Any]:
            code = FIRST_CALLS.replace("FIRST", repr(first))
            result: dict[str, Any] = json.loads(run(code, COLKERN_CACHE_DIR=cache))
            return result

        process("kernel")
        done = [{first: process(first) for first in kinds} for _ in range(rounds)]

    def medians(first: str, kind: str) -> dict[str, float]:
        pairs = [processes[first]["seconds"][kind] for processes in done]
        definition, call = map(statistics.median, zip(*pairs, strict=True))
        return {"definition": definition, "call": call, "least": min(map(sum, pairs))}

    return {
        "compiled": max(processes[kind]["compiled"] for processes in done for kind in kinds),
        "first": {kind: medians(kind, kind) for kind in kinds},
        "after_kernel": {kind: medians("kernel", kind) for kind in kinds[1:]},
    }


def main() -> None:
    """Measure, print, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    imports = import_ratio(options.rounds)
    kernels = cached_kernels(options.rounds)
    users = users_functions(options.rounds)
    print(
        f"import numpy {imports['numpy'] * 1e3:.0f} ms, "
        f"import colkern {imports['colkern'] * 1e3:.0f} ms: {imports['ratio']:.2f}×"
    )
    print(
        f"cold: {kernels['cold_compiled']} kernels compiled in {kernels['cold_seconds']:.1f} s\n"
        f"second process: {kernels['compiled']} compiled; first kernel "
        f"{kernels['first_kernel'] * 1e3:.0f} ms "
        f"({kernels['first_kernel_with_import'] * 1e3:.0f} ms with import numba), each of "
        f"{kernels['further_kernels']} further ones {kernels['further_kernel'] * 1e3:.1f} ms"
    )
    print(f"user's functions in a second process: {users['compiled']} compiled")
    for when, what in (("first", "as the first call"), ("after_kernel", "after a kernel's")):
        figures = [
            f"{kind} {seconds['call'] * 1e3:.0f} ms (defined in {seconds['definition'] * 1e3:.0f}, "
            f"both in {seconds['least'] * 1e3:.0f} at least)"
            for kind, seconds in users[when].items()
        ]
        print(f"{what}: {', '.join(figures)}")
    if options.json:
        result = {
            **machine.facts(threads=1),
            "import": imports,
            "cached_kernels": kernels,
            "users_functions": users,
        }
        machine.write_json(options.json, result)


if __name__ == "__main__":
    main()
