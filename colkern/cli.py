"""The `colkern` command.

Errors are one line on standard error; the exit status is 1 for bad data, 2 for bad use.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from colkern.errors import ColkernError, InvalidArrowError

if TYPE_CHECKING:
    from colkern.arrays import RecordBatch
    from colkern.spark.demo.job import Run

BAD_DATA, BAD_USE, INTERRUPTED = 1, 2, 130

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class UsageError(Exception):
    """The command cannot do what it was asked for: exit status 2."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status.

    Args:
        arguments: The words after the command's name; None for those of this process.
    """
    _escape_what_the_output_cannot_spell()
    try:
        options = _parser().parse_args(arguments)
        run: Callable[[argparse.Namespace], None] = options.run
        run(options)
        # Not `sys.stdout.flush()`: it is None where the process was started without one.
        print(end="", flush=True)
    except UsageError as error:
        return _fail(error, BAD_USE)
    except (ColkernError, OSError, RuntimeError) as error:
        if isinstance(error, BrokenPipeError):
            return _closed_output()
        return _fail(error, BAD_DATA)
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _escape_what_the_output_cannot_spell() -> None:
    """Names and values are any text; the encoding of a terminal or a pipe may be narrower."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _fail(error: Exception, status: int) -> int:
    message = str(error)
    if isinstance(error, OSError) and error.filename is not None:
        message = f"{os.fspath(error.filename)}: {error.strerror}"
    print(f"colkern: {' '.join(message.split())}", file=sys.stderr)
    return status


def _closed_output() -> int:
    """The reader of a pipe has gone: nothing more to say, and nothing for Python to flush."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="colkern",
        description="Arrow columns through Numba kernels, on the CPU and on the GPU.",
    )
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    demo = commands.add_parser(
        "demo", help="three functions in local Spark: pandas_udf, arrow_udf and colkern compared"
    )
    size = demo.add_mutually_exclusive_group()
    size.add_argument("--rows", type=_positive, metavar="N", help="the first N rows of lineitem")
    size.add_argument(
        "--scale", type=_positive_float, default=1.0, metavar="S", help="TPC-H's scale factor (1)"
    )
    demo.add_argument("--master", default="local[*]", help="Spark's master URL (local[*])")
    demo.add_argument(
        "--input",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="your own Parquet or Arrow files or folders, with lineitem's columns",
    )
    demo.add_argument(
        "--output",
        type=Path,
        default=Path("output"),
        metavar="DIR",
        help="for the result files, the chart and Spark's log (./output)",
    )
    demo.add_argument("--json", type=Path, metavar="FILE", help="write all figures to FILE")
    demo.add_argument(
        "--repeat", type=_positive, default=3, metavar="N", help="time everything N times (3)"
    )
    demo.set_defaults(run=_demo)

    info = commands.add_parser("info", help="versions, cache, devices")
    info.set_defaults(run=_info)

    for name, run, help_ in (
        ("schema", _schema, "the schema of an Arrow file or stream"),
        ("show", _show, "the first rows; long values are cut"),
        (
            "validate",
            _validate,
            "check every slot: offsets, views, runs, indices, null counts, text, decimals, times",
        ),
    ):
        command = commands.add_parser(name, help=help_)
        command.add_argument("file", help="an Arrow file or stream; - for standard input")
        command.set_defaults(run=run)
        if name == "show":
            command.add_argument(
                "-n", "--rows", type=_positive, default=10, metavar="N", help="how many (10)"
            )
        if name == "validate":
            command.add_argument(
                "--skip",
                action="append",
                default=[],
                metavar="RULE",
                help="a rule that old writers broke: dates, decimals, times, utf8; may be repeated",
            )
    return parser


class _Version(argparse.Action):
    def __init__(self, option_strings: Sequence[str], dest: str, **_: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        import colkern

        print(f"colkern {colkern.__version__}")
        parser.exit()


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


_positive.__name__ = "positive number"


def _positive_float(text: str) -> float:
    number = float(text)
    if not 0 < number < float("inf"):
        raise ValueError
    return number


_positive_float.__name__ = "positive number"


# Files


def _source(name: str) -> Any:
    if name != "-":
        return Path(name)
    # None where the process was started without one.
    if sys.stdin is None:
        raise UsageError("standard input is closed")
    return sys.stdin.buffer


@contextlib.contextmanager
def _placed(name: str) -> Iterator[None]:
    """Errors say which file they are about."""
    try:
        yield
    except InvalidArrowError as error:
        raise error.at(name) from None


def _schema(options: argparse.Namespace) -> None:
    from colkern import ipc

    with _placed(options.file), ipc.open(_source(options.file)) as reader:
        for field in reader.schema:
            print(_printable(str(field)))


def _batches(options: argparse.Namespace) -> Iterator[RecordBatch]:
    from colkern import ipc

    with _placed(options.file), ipc.open(_source(options.file)) as reader:
        yield from reader


def _show(options: argparse.Namespace) -> None:
    from rich.console import Console

    from colkern.display import MOST_MEMBERS
    from colkern.values import preview

    left = options.rows
    console = Console()
    made: Any = None
    for batch in _batches(options):
        made = made or _rows_table(batch)
        rows = batch.slice(0, min(left, batch.num_rows))
        columns = (preview(column, MOST_MEMBERS + 1) for column in rows.columns)
        for values in zip(*columns, strict=True):
            made.add_row(*map(_cell, values))
        left -= rows.num_rows
        if left == 0:
            break
    if made is None:
        print("no rows")
    else:
        console.print(made)


def _rows_table(batch: RecordBatch) -> Any:
    from rich.markup import escape
    from rich.table import Table

    made = Table()
    for field in batch.schema:
        name, type_ = (escape(_printable(text)) for text in (field.name, str(field.type)))
        made.add_column(f"{name}\n[dim]{type_}[/dim]")
    return made


def _cell(value: Any) -> Any:
    from rich.text import Text

    from colkern.display import cell_text

    return Text(_printable(cell_text(value)), style="dim" if value is None else "")


def _printable(text: str) -> str:
    """Control characters as escapes: what a file says must not steer the terminal."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def _validate(options: argparse.Namespace) -> None:
    from colkern.operations.value_checks import skipped_rules

    try:
        skipped_rules(options.skip)
    except ValueError as error:
        raise UsageError(f"--{error}") from None
    batches = rows = 0
    for batch in _batches(options):
        try:
            batch.validate(full=True, skip=options.skip)
        except InvalidArrowError as error:
            raise error.at(f"{options.file}, batch {batches}") from None
        batches += 1
        rows += batch.num_rows
    print(f"{options.file}: valid; record batches: {batches:,}, rows: {rows:,}")


# The demo


def _demo(options: argparse.Namespace) -> None:
    try:
        from colkern.spark.demo import job, report
        from colkern.spark.java import find_java
    except ImportError as error:
        raise UsageError(
            f"the demo needs more packages ({error}): pip install 'colkern[demo]'"
        ) from error
    import json

    from rich.console import Console

    console = Console()
    options.output.mkdir(parents=True, exist_ok=True)
    asked = job.Options(
        options.output, options.scale, options.rows, options.input, options.master, options.repeat
    )
    run = _run_with_progress(job.run, asked, console)
    console.print(report.table(run))
    console.print(report.agreement(run))
    picture = options.output / "demo.png"
    report.chart(run, picture)
    console.print(f"Chart: {picture}", soft_wrap=True)
    console.print(
        f"Result: {run.result_rows:,} rows as Arrow files in {options.output / 'result'}, "
        f"read back and valid",
        soft_wrap=True,
    )
    if options.json:
        text = json.dumps(report.figures(run, find_java()), indent=2)
        options.json.write_text(text + "\n", encoding="utf-8")
        console.print(f"Figures: {options.json}", soft_wrap=True)


def _run_with_progress(run: Callable[..., Run], options: Any, console: Any) -> Run:
    """On a terminal a bar that moves; elsewhere a line for each step."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    if not console.is_terminal:
        return run(options, lambda doing, share: console.print(f"{share:4.0%} {doing}"))
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=1.0)

        def step(doing: str, share: float) -> None:
            progress.update(task, description=doing, completed=share)

        return run(options, step)


# The machine


def _info(options: argparse.Namespace) -> None:
    from colkern.cache import cache_dir
    from colkern.machine import machine, versions

    here = machine()
    facts = {
        **versions(),
        "processor": f"{here['processor']}, {here['cores']} cores",
        "memory": f"{here['memory_bytes'] / 2**30:.1f} GiB",
        "system": here["system"],
        "cuda": _cuda(),
        "cache": str(cache_dir()),
    }
    # Not a table: a terminal's width must not cut a path that somebody wants to copy.
    for name, value in facts.items():
        print(f"{name:<14} {value}")


def _cuda() -> str:
    from colkern.cuda.adapter import require_device
    from colkern.errors import DeviceUnavailableError

    try:
        require_device()
    except DeviceUnavailableError as error:
        return f"unavailable: {' '.join(str(error).split())}"
    return "available"


if __name__ == "__main__":
    sys.exit(main())
