"""`colkern schema FILE`: one line a field, never cut; nothing behind the schema is read."""

from __future__ import annotations

import argparse
from typing import Any

from colkern.commands.files import opened
from colkern.commands.output import printable


def add_command(commands: Any) -> None:
    """Add the subcommand to an argparse parser's subparsers."""
    parser = commands.add_parser("schema", help="the schema alone, one line a field")
    parser.add_argument("file", help="an Arrow file or stream; - for standard input")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    with opened(options.file) as reader:
        for field in reader.schema:
            print(printable(str(field)))
