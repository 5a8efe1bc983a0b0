"""`colkern validate`: checks every slot of one or many files against the format."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from typing import Any

from colkern.commands.description import Document
from colkern.commands.failures import BAD_DATA, DATA_ERRORS, UsageError, error_text, report
from colkern.commands.files import (
    ARROW_SUFFIXES,
    opened,
    require_files,
    size_of,
    with_files_of_folders,
)
from colkern.commands.output import print_json, printable, progress_line
from colkern.commands.parser import Commands, new_command
from colkern.errors import ColkernError, InvalidArrowError, placed


def add_command(commands: Commands) -> None:
    parser = new_command(
        commands,
        "validate",
        _run,
        "check every slot of files: offsets, views, runs, indices, null counts, text",
        "Check every slot of Arrow files and streams. Exit status: 0 if all are valid, 1 if one is not\n"
        "or cannot be read, 2 for wrong use.",
        """\
keys of the JSON documents:
  file            the name
  status          "valid", "invalid", or "unreadable" (cannot be opened, not supported, over a limit)
  format          "file" or "stream"; null if it cannot be opened
  record_batches  the number of batches found valid
  rows            the number of their rows
  error           the place and the error; null if valid
""",
    )
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="Arrow files or streams; folders, for all *" + ", *".join(ARROW_SUFFIXES) + " in them "
        "and in their subfolders; - for standard input",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="check only metadata, counts and sizes, and that buffers decompress; not their content",
    )
    parser.add_argument(
        "--skip",
        action="append",
        default=[],
        metavar="RULE",
        help="do not check a rule that old writers broke: dates, decimals, times or utf8; may be repeated",
    )
    parser.add_argument("--json", action="store_true", help="print one line of JSON per file")


def _run(options: argparse.Namespace) -> int | None:
    from colkern.operations.value_checks import skipped_rules

    try:
        skipped_rules(options.skip)
    except ValueError as error:
        raise UsageError(f"--{error}") from None
    names = with_files_of_folders(options.files)
    sizes = [_size_or_none(name) for name in names]
    total = None if None in sizes else sum(size or 0 for size in sizes)
    status, before = None, 0
    with progress_line("bar", total) as update:
        for name, size in zip(names, sizes, strict=True):
            update(description=printable(name), completed=before)
            result: Document = {"file": name, "status": "valid", "format": None}
            result |= {"record_batches": 0, "rows": 0, "error": None}
            try:
                for done in _checked(name, size or 0, result, not options.quick, options.skip):
                    update(completed=before + done)
            except DATA_ERRORS as error:
                is_invalid = isinstance(error, InvalidArrowError)
                result["status"] = "invalid" if is_invalid else "unreadable"
                result["error"] = error_text(error)
                report(error)
                status = BAD_DATA
            before += size or 0
            if options.json:
                print_json(result)
            elif result["error"] is None:
                print(
                    f"{printable(name)}: valid; record batches: {result['record_batches']:,}, "
                    f"rows: {result['rows']:,}"
                )
    return status


def _checked(
    name: str, size: int, result: Document, full: bool, skip: list[Any]
) -> Iterator[float]:
    """Validates one file: adds its counts to `result`, and yields the numbers of bytes checked."""
    from colkern.ipc import StreamReader

    require_files(name)
    with opened(name) as reader:
        is_stream = isinstance(reader, StreamReader)
        result["format"] = "stream" if is_stream else "file"
        for number, batch in enumerate(reader):
            with placed(f"batch {number}"):
                batch.validate(full=full, skip=skip)
            result["record_batches"] += 1
            result["rows"] += batch.num_rows
            if isinstance(reader, StreamReader):
                yield reader.position
            else:
                yield size * (number + 1) / len(reader)


def _size_or_none(name: str) -> int | None:
    with contextlib.suppress(OSError, ColkernError):
        return size_of(name)
    return None
