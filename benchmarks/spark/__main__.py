"""colkern in Spark beside Spark's own: `python -m benchmarks.spark --json FILE`.

Functions over rows of the shapes that Spark's asv suite has, and over groups, in one session: the rows lie
in Spark's cache, the results go to its `noop` sink. Each way to compute the same runs once, which is
reported by itself, and then all take turns; figures are medians of seconds. Then the data source beside
Parquet, lines of text that are computed where they are read, the pipelines of the examples, and native
plans beside hand-written expressions; at last the first batch in fresh Python processes, on an executor of
its own.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from benchmarks import machine
from benchmarks.spark import CASES, cold, lines, natives, pipelines, source, turns
from colkern.spark import start_session

ROWS = 10_000_000
SOURCE, LINES, PIPELINES = "source", "lines", "pipelines"
NATIVES, COLD = "natives", "cold"
SETTINGS = {"spark.driver.memory": "6g", "spark.sql.execution.arrow.maxRecordsPerBatch": "10000"}


def main() -> None:
    """Measure what was asked for, print it, write the JSON."""
    options = parsed()
    with tempfile.TemporaryDirectory() as folder:
        head = {**machine.facts(1), "master": options.master, "rounds": options.rounds}
        report: dict[str, Any] = head | {"rows": options.rows, "cases": []}
        if options.keep and options.json:
            report = kept(options.json, report)
        console = Console(width=120)
        if options.case != [COLD]:
            log = Path(folder, "spark.log")
            session = start_session(options.master, name="benchmark", config=SETTINGS, log=log)
            try:
                for case in measured(session, Path(folder), options):
                    put(report["cases"], case)
                    console.print(table(case))
                    write(options.json, report)
                if NATIVES in options.case:
                    found = report.setdefault("natives", [])
                    for figures in natives.measured(
                        session, options.rows, options.rounds, options.functions
                    ):
                        put(found, figures)
                        write(options.json, report)
                    console.print(natives_table(found))
            finally:
                session.stop()
        if COLD in options.case:
            # Of its own: what this process has compiled would be shipped, too.
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
                report["cold"] = process.submit(cold.measured, options.rounds).result()
            console.print(cold_table(report["cold"]))
            write(options.json, report)


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = [*CASES, SOURCE, LINES, PIPELINES, NATIVES, COLD]
    parser.add_argument("--case", nargs="+", choices=names, default=names, help="which (all)")
    parser.add_argument("--rows", type=int, default=ROWS, help=f"of the light cases ({ROWS:,})")
    known = [function.name for function in natives.FUNCTIONS]
    parser.add_argument(
        "--functions", nargs="+", choices=known, default=known, help=f"which of {NATIVES} (all)"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument(
        "--keep",
        action="store_true",
        help="keep what the JSON file has of others, if it was measured under the same conditions",
    )
    return parser.parse_args()


def kept(path: Path, report: dict[str, Any]) -> dict[str, Any]:
    """A report with what its file has; ends the program if that was measured in another way."""
    head = {name: value for name, value in report.items() if name != "cases"}
    try:
        before = machine.earlier(path, head, "cases")
    except ValueError as error:
        raise SystemExit(f"--keep: {error}") from None
    return before or report


def put(cases: list[dict[str, Any]], case: dict[str, Any]) -> None:
    """Put a case in the place of an earlier one of its name, or behind all."""
    names = [each["name"] for each in cases]
    if case["name"] in names:
        cases[names.index(case["name"])] = case
    else:
        cases.append(case)


def measured(
    session: SparkSession, folder: Path, options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """The figures of each case that is to be measured in a session."""
    for name in options.case:
        if name in CASES:
            yield turns.measured(CASES[name], session, options.rows, options.rounds)
    if SOURCE in options.case:
        yield from source.measured(session, folder, options.rows, options.rounds)
    if LINES in options.case:
        yield from lines.measured(session, folder, options.rows, options.rounds)
    if PIPELINES in options.case:
        yield from pipelines.measured(session, folder, options.rows, options.rounds)


def table(case: dict[str, Any]) -> Table:
    """A case for a terminal."""
    groups = f", {case['groups']:,} groups" if "groups" in case else ""
    result = Table(title=f"{case['name']}: {case['rows']:,} rows{groups}", min_width=80)
    result.add_column("way")
    for heading in ("first run", "median", "of colkern's", "runs"):
        result.add_column(heading, justify="right")
    for way, seconds in case["seconds"].items():
        first = case["first_seconds"].get(way)
        result.add_row(
            way,
            "" if first is None else f"{first:.2f} s",
            f"{seconds:.2f} s",
            f"{case['ratios'][way]:.2f}×",
            str(case["runs"][way]),
        )
    return result


def natives_table(figures: list[dict[str, Any]]) -> Table:
    """Native plans for a terminal."""
    result = Table(title="native plans", min_width=80)
    result.add_column("function")
    for heading in ("rows", "native", "of hand-written", "faster than the floor"):
        result.add_column(heading, justify="right")
    for each in figures:
        result.add_row(
            f"{each['name']} ({each['kind']})",
            f"{each['rows']:,}",
            f"{each['seconds'][turns.OURS]:.3f} s",
            f"{each['of_hand_written']:.2f}×",
            f"{each['faster_than_floor']:.1f}×",
        )
    result.caption = ", ".join(
        f"{name}: {value:.3g}" for name, value in natives.summary(figures).items()
    )
    return result


def cold_table(figures: dict[str, Any]) -> Table:
    """The first batches for a terminal."""
    result = Table(title="first batch in a fresh Python process", min_width=80)
    for heading in ("way", "median", "more"):
        result.add_column(heading, justify="left" if heading == "way" else "right")
    for way, seconds in figures["seconds"].items():
        result.add_row(way, f"{seconds:.2f} s", f"{figures['more_seconds'][way]:+.2f} s")
    return result


def write(path: Path | None, report: dict[str, Any]) -> None:
    """Write what there is so far: a run that is stopped leaves what it has measured."""
    if path is not None:
        machine.write_json(path, report)


if __name__ == "__main__":
    main()
