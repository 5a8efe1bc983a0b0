"""`colkern validate`: every slot of one file or of many, against the format."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from colkern.commands.failures import BAD_DATA, DATA_ERRORS, UsageError, error_text, report
from colkern.commands.files import (
    ARROW_SUFFIXES,
    opened,
    require_files,
    size_of,
    with_files_of_folders,
)
from colkern.commands.output import print_json, printable
from colkern.errors import ColkernError, InvalidArrowError

if TYPE_CHECKING:
    from colkern.ipc import FileReader, StreamReader

Advance = Callable[[float], None]
"""Is told how many bytes of the current file have been checked."""


def add_command(commands: Any) -> None:
    """Add the subcommand to an argparse parser's subparsers."""
    parser = commands.add_parser(
        "validate",
        help="check every slot: offsets, views, runs, indices, null counts, text",
        description="Check every slot of Arrow files and streams. Exit status: 0 all are valid, 1 "
        "one is not or cannot be read, 2 wrong use.",
        epilog="""\
keys of the JSON documents:
  file            the name
  status          "valid", "invalid", or "unreadable": not opened, not supported, over a limit
  format          "file" or "stream"; null where it was not opened
  record_batches  how many were checked and are valid
  rows            how many they have
  error           what is wrong, after its place; null
""",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="Arrow files or streams; folders, for all *" + ", *".join(ARROW_SUFFIXES) + " below "
        "them; - for standard input",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="metadata, counts and sizes alone, and whether buffers decompress; not their content",
    )
    parser.add_argument(
        "--skip",
        action="append",
        default=[],
        metavar="RULE",
        help="a rule that old writers broke: dates, decimals, times, utf8; may be repeated",
    )
    parser.add_argument("--json", action="store_true", help="one JSON document a line for each")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int | None:
    _check_rules(options.skip)
    names = with_files_of_folders(options.files)
    status = None
    with _progress(names) as begin:
        for name in names:
            result = {
                "file": name,
                "status": "valid",
                "format": None,
                "record_batches": 0,
                "rows": 0,
                "error": None,
            }
            try:
                _check(name, result, begin(name), not options.quick, options.skip)
            except DATA_ERRORS as error:
                result["status"] = _status_of(error)
                result["error"] = error_text(error)
                report(error)
                status = BAD_DATA
            if options.json:
                print_json(result)
            elif result["status"] == "valid":
                print(
                    f"{printable(name)}: valid; record batches: {result['record_batches']:,}, "
                    f"rows: {result['rows']:,}"
                )
    return status


def _status_of(error: BaseException) -> str:
    return "invalid" if isinstance(error, InvalidArrowError) else "unreadable"


def _check_rules(rules: list[Any]) -> None:
    from colkern.operations.value_checks import skipped_rules

    try:
        skipped_rules(rules)
    except ValueError as error:
        raise UsageError(f"--{error}") from None


def _check(
    name: str, result: dict[str, Any], advance: Advance, full: bool, skip: list[Any]
) -> None:
    """Validate one file; `result` counts what has been found valid."""
    from colkern.ipc import FileReader

    require_files(name)
    size = size_of(name)
    with opened(name) as reader:
        result["format"] = "file" if isinstance(reader, FileReader) else "stream"
        for number, batch in enumerate(reader):
            try:
                batch.validate(full=full, skip=skip)
            except InvalidArrowError as error:
                raise error.at(f"batch {number}") from None
            result["record_batches"] += 1
            result["rows"] += batch.num_rows
            advance(_bytes_done(reader, number, size or 0))


def _bytes_done(reader: StreamReader | FileReader, number: int, size: int) -> float:
    from colkern.ipc import StreamReader

    if isinstance(reader, StreamReader):
        return reader.position
    return size * (number + 1) / len(reader)


@contextlib.contextmanager
def _progress(names: list[str]) -> Iterator[Callable[[str], Advance]]:
    """On a terminal a bar below the lines that are printed; elsewhere the lines alone.

    Yields what is called with the name of each file, and gives what its progress is told to.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda name: lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    sizes = {name: _size_or_none(name) for name in names}
    total = None if None in sizes.values() else sum(size or 0 for size in sizes.values())
    behind = 0.0
    with Progress(
        # The name comes from a folder: it must be neither markup nor an escape sequence.
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        # Lines of a pipe stay in the pipe.
        redirect_stdout=sys.stdout is not None and sys.stdout.isatty(),
    ) as progress:
        task = progress.add_task("", total=total)

        def begin(name: str) -> Advance:
            nonlocal behind
            before = behind
            behind += sizes[name] or 0
            progress.update(task, description=printable(name), completed=before)
            return lambda done: progress.update(task, completed=before + done)

        yield begin


def _size_or_none(name: str) -> int | None:
    with contextlib.suppress(OSError, ColkernError):
        return size_of(name)
    return None
