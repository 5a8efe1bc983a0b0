"""Two threads beside one: `python -m benchmarks.threads --json FILE`.

The same operation on the same data, in turn, in one process.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from benchmarks import machine
from benchmarks.case import Comparison
from benchmarks.cases import COMPARISONS
from benchmarks.timing import Work, medians
from colkern.cpu.threads import num_threads, set_num_threads

ROWS = 10_000_000
"""Enough that waking threads costs nothing beside the work."""

QUICK_ROWS = 1_000_000

NUMPY_COPIES = "copies by NumPy"
"""The name of the row without colkern."""


def contestants(comparison: Comparison, rows: int) -> dict[str, Work]:
    """The usual case with one thread and with two."""
    case = comparison.make(**comparison.usual(rows))
    work = case.contestants["colkern"]

    def with_threads(count: int) -> None:
        # Only where it changes: the threads that there are would be replaced by others.
        if num_threads() != count:
            set_num_threads(count)
        work()

    return {"1": lambda: with_threads(1), "2": lambda: with_threads(2)}


def copies(rows: int) -> dict[str, Work]:
    """Two copies by NumPy, one after the other and at once: what the memory of the machine allows."""
    sources = [np.ones(rows // 2) for _ in range(2)]
    outs = [np.empty_like(source) for source in sources]
    pool = ThreadPoolExecutor(2)
    return {
        "1": lambda: [*map(np.copyto, outs, sources)],
        "2": lambda: [*pool.map(np.copyto, outs, sources)],
    }


def main() -> None:
    """Measure, print, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--case", default="", help="only comparisons whose name contains this")
    parser.add_argument("--rows", type=int, help=f"slots of each array ({ROWS:,})")
    parser.add_argument("--rounds", type=int, help="times that each is measured (9)")
    parser.add_argument("--quick", action="store_true", help="small data and few rounds")
    options = parser.parse_args()
    slots = options.rows or (QUICK_ROWS if options.quick else ROWS)
    rounds = options.rounds or (3 if options.quick else 9)
    rows = []
    # Formats have sizes of their own.
    names = [name for name, each in COMPARISONS.items() if max(each.rows) >= ROWS]
    for name in [NUMPY_COPIES, *names]:
        if options.case not in name:
            continue
        works = copies(slots) if name == NUMPY_COPIES else contestants(COMPARISONS[name], slots)
        seconds = medians(works, rounds)
        rows.append({"operation": name, "seconds": seconds})
        print(f"{name:32}{seconds['1'] * 1e3:10.2f} ms{seconds['1'] / seconds['2']:8.2f}×")
    if options.json:
        result = {**machine.facts(threads=2), "slots": slots, "rows": rows}
        machine.write_json(options.json, result)


if __name__ == "__main__":
    main()
