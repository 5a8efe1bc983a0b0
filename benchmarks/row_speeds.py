"""How much faster row functions are than CPython: `python -m benchmarks.row_speeds [pattern]`.

Each function of `tests/corpus` that compiles runs over its rows, again and again up to a number of rows: by
`ck.udf` on one thread, and as the plain function in a loop, in turn. Rows that raise are left out, as are
those of nulls that the function is not called for. Once over all kinds of values, some of which are left to
Python, and once over ordinary ones.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from itertools import starmap
from pathlib import Path
from typing import Any

import colkern as ck
from benchmarks import machine
from benchmarks.timing import medians
from colkern.cpu.threads import set_num_threads
from tests.corpus.cases import CASES, Case
from tests.corpus.runner import Raised, expected, storable, takes_none

SLOWEST = 10
"""How many of the slowest functions are listed."""

ROUNDS = 3

MOST_SECONDS = 5.0
"""A function that would take longer, by the time of its rows once, has fewer rows."""


def called_rows(case: Case) -> list[int]:
    """The rows that the function is called for and gives something for that a column holds."""
    takes = takes_none(case.function)
    return [
        row
        for row, (result, *values) in enumerate(
            zip(expected(case), *(column.values for column in case.columns), strict=True)
        )
        if not isinstance(result, Raised)
        and storable(result)
        and all(taken or value is not None for taken, value in zip(takes, values, strict=True))
    ]


def ratio(case: Case, rows: int) -> float | None:
    """How many times as fast the compiled function is; None if it does not compile."""
    called = called_rows(case)
    columns = case.taking(called).columns
    arrays = [ck.array(column.values, column.type) for column in columns]
    try:
        udf = ck.udf(case.function)
        udf(*arrays)
    except (ck.CompileError, ck.UnsupportedError, TypeError):
        return None
    begin = time.perf_counter()
    udf(*arrays)
    times = min(rows // len(called), int(MOST_SECONDS / (time.perf_counter() - begin)))
    arrays = [ck.concat([array] * max(times, 1)) for array in arrays]
    plain = list(zip(*(column.values for column in columns), strict=True)) * max(times, 1)
    seconds = medians(
        {
            "colkern": lambda: udf(*arrays),
            "Python": lambda: list(starmap(case.function, plain)),
        },
        ROUNDS,
    )
    return seconds["Python"] / seconds["colkern"]


def measure(pattern: str, rows: int, ordinary: bool) -> dict[str, Any]:
    """The ratio of each function, their median, and the slowest."""
    cases = [case for name, case in CASES.items() if pattern in name]
    found = {case.name: ratio(case.ascii_only() if ordinary else case, rows) for case in cases}
    ratios = {name: round(value, 2) for name, value in found.items() if value is not None}
    ascending = sorted(ratios, key=ratios.__getitem__)
    return {
        "functions": len(ratios),
        "refused": len(found) - len(ratios),
        "median": statistics.median(ratios.values()),
        "slowest": {name: ratios[name] for name in ascending[:SLOWEST]},
        "ratios": ratios,
    }


def main() -> None:
    """Measure, print, and write the figures as JSON if a file is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pattern", nargs="?", default="", help="a part of the functions' names")
    parser.add_argument("--rows", type=int, default=100_000, help="how many rows there are")
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args()
    set_num_threads(1)
    figures = {
        "all values": measure(options.pattern, options.rows, ordinary=False),
        "ordinary values": measure(options.pattern, options.rows, ordinary=True),
    }
    shown = {
        name: {key: value for key, value in each.items() if key != "ratios"}
        for name, each in figures.items()
    }
    print(json.dumps(shown, indent=1))
    if options.json:
        written = {**machine.facts(1), "rows": options.rows, **figures}
        options.json.write_text(json.dumps(written, indent=1) + "\n")


if __name__ == "__main__":
    main()
