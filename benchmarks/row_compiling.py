"""The time to define a row function: `python -m benchmarks.row_compiling [pattern]`.

Each function of `tests/corpus` is defined and called over no rows: once in a fresh cache by one process,
then by a second process that finds all of them compiled. The times are of the processor, on one core, so
that other processes on the machine count little.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import machine

SLOWEST = 15
"""How many of the slowest functions are listed."""


def measure(pattern: str, every: int) -> dict[str, Any]:
    """The milliseconds of each function's definition in this process, and how many it compiled."""
    import numba  # noqa: F401

    import colkern as ck
    from colkern.cache import compilations
    from tests.corpus.cases import CASES

    milliseconds, refused = {}, []
    for case in [case for name, case in CASES.items() if pattern in name][::every]:
        columns = [ck.array([], column.type) for column in case.columns]
        begin = time.process_time()
        try:
            ck.udf(case.function)(*columns)
        except (ck.CompileError, ck.UnsupportedError, TypeError):
            refused.append(case.name)
            continue
        milliseconds[case.name] = round(1e3 * (time.process_time() - begin), 2)
    return {"milliseconds": milliseconds, "refused": refused, **compilations()}


def _in_process(cache: str, pattern: str, every: int) -> dict[str, Any]:
    own = {"COLKERN_CACHE_DIR": cache, "COLKERN_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": ""}
    environment = {**os.environ, **own}
    code = (
        "import json\nfrom benchmarks.row_compiling import measure\n"
        f"print(json.dumps(measure({pattern!r}, {every})))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True
    )
    result: dict[str, Any] = json.loads(out.stdout.splitlines()[-1])
    return result


def summary(measured: dict[str, Any]) -> dict[str, Any]:
    """The median, the most and the slowest functions of what a process measured."""
    times = measured["milliseconds"]
    slowest = sorted(times, key=times.__getitem__, reverse=True)[:SLOWEST]
    return {
        "functions": len(times),
        "refused": len(measured["refused"]),
        "compiled": measured["compiled"],
        "loaded": measured["loaded"],
        "median_ms": statistics.median(times.values()),
        "most_ms": max(times.values()),
        "total_s": round(sum(times.values()) / 1e3, 1),
        "slowest_ms": {name: times[name] for name in slowest},
    }


def main() -> None:
    """Measure, print, and write the figures as JSON if a file is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pattern", nargs="?", default="", help="a part of the functions' names")
    parser.add_argument("--every", type=int, default=1, help="only one of so many functions")
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        runs = [_in_process(cache, options.pattern, options.every) for _ in range(2)]
    figures = {"cold": summary(runs[0]), "second process": summary(runs[1])}
    print(json.dumps(figures, indent=1))
    if options.json:
        options.json.write_text(json.dumps({**machine.facts(1), **figures}, indent=1) + "\n")


if __name__ == "__main__":
    main()
