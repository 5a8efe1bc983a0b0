"""`colkern schema FILE`: one line for each field, never cut; reads no more than the schema."""

from __future__ import annotations

import argparse

from colkern.commands.files import opened
from colkern.commands.output import printable
from colkern.commands.parser import Commands, new_command


def add_command(commands: Commands) -> None:
    parser = new_command(commands, "schema", _run, "the schema alone, one line for each field")
    parser.add_argument("file", help="an Arrow file or stream; - for standard input")


def _run(options: argparse.Namespace) -> None:
    with opened(options.file) as reader:
        for field in reader.schema:
            print(printable(str(field)))
