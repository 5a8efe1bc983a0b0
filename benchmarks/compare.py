"""colkern beside its peers, in one process, taking turns: `python -m benchmarks.compare`.

One thread each unless told otherwise, on the same buffers. The ratio is the peer's median time over
colkern's: above 1, colkern is faster. The share is of the bandwidth at which one thread copies memory,
measured first.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
from rich.console import Console
from rich.table import Table

from benchmarks import machine
from benchmarks.case import Case
from benchmarks.cases import cases
from benchmarks.timing import medians
from colkern.cpu.threads import set_num_threads


def measure(case: Case, rounds: int, bandwidth: float) -> dict[str, Any]:
    """One row: seconds of each, ratio to the fastest peer, bytes a second, share of the bandwidth."""
    seconds = medians(case.contestants, rounds)
    peer = min(value for name, value in seconds.items() if name != "colkern")
    rate = case.nbytes / seconds["colkern"]
    return {
        "case": case.name,
        "seconds": seconds,
        "ratio": peer / seconds["colkern"],
        "target": case.target,
        "bytes_per_second": rate,
        "bandwidth_share": rate / bandwidth,
    }


def table(rows: list[dict[str, Any]], bandwidth: float, threads: int) -> Table:
    """The rows for a terminal."""
    made = Table(title=f"Threads: {threads}; one copies memory at {bandwidth / 1e9:.1f} GB/s")
    columns = ("case", "colkern", "best peer", "ratio", "target", "GB/s", "share of bandwidth")
    for name in columns:
        made.add_column(name, justify="left" if name == "case" else "right")
    for row in rows:
        peer = row["ratio"] * row["seconds"]["colkern"]
        made.add_row(
            row["case"],
            f"{row['seconds']['colkern'] * 1e6:,.1f} µs",
            f"{peer * 1e6:,.1f} µs",
            f"{row['ratio']:.2f}×",
            f"{row['target']:.1f}×",
            f"{row['bytes_per_second'] / 1e9:.1f}",
            f"{row['bandwidth_share']:.0%}",
        )
    return made


def main() -> None:
    """Run the cases, print the table, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--case", default="", help="only cases whose name contains this")
    parser.add_argument("--quick", action="store_true", help="small data and few rounds")
    parser.add_argument("--threads", type=int, default=1, help="for colkern and each peer (1)")
    options = parser.parse_args()
    # As wide as the table, also where the output is no terminal.
    console = Console(width=130)
    set_num_threads(options.threads)
    pa.set_cpu_count(options.threads)
    bandwidth = machine.memory_bandwidth()
    rows = []
    for make in cases(options.quick):
        case = make()
        if options.case in case.name:
            with console.status(case.name):
                rows.append(measure(case, 5 if options.quick else 21, bandwidth))
    console.print(table(rows, bandwidth, options.threads))
    if options.json:
        result = {
            **machine.facts(threads=options.threads),
            "copy_bytes_per_second": bandwidth,
            "rows": rows,
        }
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
