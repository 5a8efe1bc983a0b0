"""colkern beside its peers, in one process, taking turns: `python -m benchmarks.compare`.

One thread each unless told otherwise, on the same buffers. The ratio is the fastest peer's median time
over colkern's: above 1, colkern is faster. The share is of the bandwidth at which one thread copies
memory, measured first, and told of operations alone that stream from memory.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
from rich.console import Console
from rich.table import Table

from benchmarks import machine
from benchmarks.case import CHOSEN, ROWS, Case, Comparison, Shape, label
from benchmarks.timing import Work, medians
from colkern.cpu.threads import set_num_threads

STREAMED = 1 << 28
"""From so many bytes on, as many as are copied for the bandwidth, an operation streams them from memory."""

MOST_SHARE = 1.25
"""An operation that seems to be faster than that does not look at the bytes: it has no share."""

QUICK_ROWS = 1_000_000
CHARTS = (".svg", ".png", ".pdf")
LARGE = 10_000_000
"""From so many rows on, only the usual shape is measured, in fewer rounds."""


def measure(case: Case, rounds: int, bandwidth: float) -> dict[str, Any]:
    """Seconds of each, the fastest peer and the ratio to it, bytes a second, share of the bandwidth."""
    able = {name: work for name, work in case.contestants.items() if _is_able(name, work)}
    seconds = medians(able, rounds)
    peers = {name: value for name, value in seconds.items() if name != "colkern"}
    best = min(peers, key=peers.__getitem__, default="")
    rate = case.nbytes / seconds["colkern"]
    return {
        "seconds": seconds,
        "best_peer": best,
        "ratio": peers[best] / seconds["colkern"] if best else None,
        "bytes_per_second": rate,
        "bandwidth_share": rate / bandwidth,
        **case.facts(),
    }


def _is_able(name: str, work: Work) -> bool:
    """Whether the work can be done: a peer may lack the operation for some type."""
    try:
        work()
    except NotImplementedError:
        if name == "colkern":
            raise
        return False
    return True


def shapes(comparison: Comparison, rows: list[int], quick: bool) -> Iterator[tuple[Shape, int]]:
    """The shapes to measure, each with its number of rounds."""
    # Sizes of a comparison's own go with the usual one.
    own = [size for size in comparison.rows if size not in ROWS] if ROWS[1] in rows else []
    chosen = [size for size in comparison.rows if size in rows or size in own]
    for size in [size for size in chosen if not quick or size <= QUICK_ROWS]:
        if quick or size >= LARGE:
            yield comparison.usual(size), 3 if quick else 5
        else:
            yield from ((shape, 15) for shape in comparison.shapes(size))


def share(row: dict[str, Any]) -> str:
    """The share of the bandwidth, of an operation that streams from memory; else empty."""
    nbytes = row["bytes_per_second"] * row["seconds"]["colkern"]
    streams = nbytes >= STREAMED and row["bandwidth_share"] <= MOST_SHARE
    return f"{row['bandwidth_share']:.0%}" if streams else ""


def front(results: Iterable[dict[str, Any]]) -> list[list[str]]:
    """The ratios of the chosen comparisons, each in the usual shape, by size; a head first."""
    ratios: dict[str, dict[int, float]] = {name: {} for name in CHOSEN}
    for row in itertools.chain.from_iterable(result["rows"] for result in results):
        if row["comparison"] in ratios and row["ratio"]:
            # The usual shape of a size comes first.
            ratios[row["comparison"]].setdefault(row["shape"]["rows"], row["ratio"])
    sizes = sorted({size for found in ratios.values() for size in found})
    table = [["case", *(f"{size:,} rows" for size in sizes)]]
    for name, found in ratios.items():
        if found:
            told = [f"{found[size]:.2f}×" if size in found else "" for size in sizes]
            table.append([name, *told])
    return table


def table(rows: list[dict[str, Any]], bandwidth: float, threads: int) -> Table:
    """The rows for a terminal."""
    result = Table(title=f"Threads: {threads}; one copies memory at {bandwidth / 1e9:.1f} GB/s")
    columns = ("case", "colkern", "best peer", "ratio", "target", "GB/s", "share of bandwidth")
    for name in columns:
        result.add_column(name, justify="left" if name == "case" else "right")
    for row in rows:
        peer = row["best_peer"]
        result.add_row(
            f"{row['comparison']}, {label(row['shape'])}",
            f"{row['seconds']['colkern'] * 1e6:,.1f} µs",
            f"{row['seconds'][peer] * 1e6:,.1f} µs {peer}" if peer else "",
            f"{row['ratio']:.2f}×" if peer else "",
            f"{row['target']:.1f}×" if peer else "",
            f"{row['bytes_per_second'] / 1e9:.1f}",
            share(row),
        )
    return result


def summary(rows: list[dict[str, Any]]) -> str:
    """How many cases there are, the median ratio, and how many are slower than a peer."""
    ratios = [row["ratio"] for row in rows if row["ratio"]]
    if not ratios:
        return ""
    slower = sum(ratio < 1 for ratio in ratios)
    return (
        f"{len(ratios)} cases with a peer: median ratio {statistics.median(ratios):.2f}×, "
        f"{slower} below 1×"
    )


def main() -> None:
    """Run the cases, print the table, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument(
        "--chart", type=Path, help=f"draw the ratios to this file ({', '.join(CHARTS)})"
    )
    parser.add_argument(
        "--case", nargs="+", default=[""], help="only comparisons whose name contains one of these"
    )
    parser.add_argument(
        "--keep",
        action="store_true",
        help="keep what the JSON file has of others, if it is of this machine",
    )
    parser.add_argument("--quick", action="store_true", help="small data and few rounds")
    parser.add_argument("--threads", type=int, default=1, help="for colkern and each peer (1)")
    parser.add_argument(
        "--rows",
        type=int,
        nargs="+",
        default=[1_000_000, 100_000_000],
        help="which of 10,000, 1,000,000 and 100,000,000 (the last two)",
    )
    options = parser.parse_args()
    if options.threads < 1:
        refuse(parser, f"--threads: expected a positive number, got {options.threads}")
    if options.chart and options.chart.suffix not in CHARTS:
        refuse(parser, f"--chart: expected one of {', '.join(CHARTS)}, got {options.chart}")
    facts = machine.facts(threads=options.threads)
    try:
        keeps = options.json and options.keep
        before = machine.earlier(options.json, facts, "rows") if keeps else None
    except ValueError as error:
        refuse(parser, f"--keep: {error}")
    kept = before["rows"] if before else []
    # As wide as the table, also where the output is no terminal.
    console = Console(width=150)
    set_num_threads(options.threads)
    pa.set_cpu_count(options.threads)
    os.environ["POLARS_MAX_THREADS"] = str(options.threads)
    # Imported late: polars reads the number of threads only then.
    from benchmarks.cases import COMPARISONS

    bandwidth = machine.memory_bandwidth()
    facts["copy_bytes_per_second"] = bandwidth
    chosen = [c for c in COMPARISONS.values() if any(part in c.name for part in options.case)]
    if not any(True for c in chosen for _ in shapes(c, options.rows, options.quick)):
        names = ", ".join(COMPARISONS)
        refuse(parser, f"nothing to measure; of those names and sizes there is none: {names}")
    rows: list[dict[str, Any]] = []
    for comparison in chosen:
        kept = [row for row in kept if row["comparison"] != comparison.name]
        for shape, rounds in shapes(comparison, options.rows, options.quick):
            with console.status(f"{comparison.name}, {label(shape)}"):
                measured = measure(comparison.make(**shape), rounds, bandwidth)
            head = {"comparison": comparison.name, "shape": shape, "target": comparison.target}
            rows.append(head | measured)
            if options.json:
                # Each time: a run that is stopped leaves what it has measured.
                machine.write_json(
                    options.json, facts | {"rows": in_order([*kept, *rows], COMPARISONS)}
                )
    console.print(table(rows, bandwidth, options.threads), summary(rows))
    if options.chart:
        # Imported late: it takes longer than many a case.
        from benchmarks.chart import draw

        draw(facts | {"rows": rows}, options.chart)


def refuse(parser: argparse.ArgumentParser, text: str) -> NoReturn:
    """Say in one line what is wrong with the arguments; exit status 2."""
    parser.exit(2, f"{parser.prog}: {text}\n")


def in_order(rows: list[dict[str, Any]], names: Iterable[str]) -> list[dict[str, Any]]:
    """The rows in the order of the comparisons; those that there are no more are left out."""
    places = {name: place for place, name in enumerate(names)}
    there = [row for row in rows if row["comparison"] in places]
    return sorted(there, key=lambda row: places[row["comparison"]])


if __name__ == "__main__":
    main()
