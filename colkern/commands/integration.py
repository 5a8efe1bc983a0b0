"""`colkern integration`: one conversion or comparison of Arrow's integration runner.

Integration testing: "Running integration tests".
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

_QUIRKS = ("no_decimal_validate", "no_date64_validate", "no_times_validate")


_NEED_JSON = ("validate", "json-to-arrow")
_TAKE_JSON = (*_NEED_JSON, "arrow-to-json")
_MODES = (*_TAKE_JSON, "stream-to-file", "file-to-stream")


def add_command(commands: Any) -> None:
    """Add the subcommand to an argparse parser's subparsers; `options.run(options)` runs it."""
    parser = commands.add_parser(
        "integration", help="convert and compare as Arrow's integration tests ask"
    )
    parser.add_argument("--mode", choices=_MODES, required=True)
    parser.add_argument(
        "--arrow",
        type=Path,
        metavar="PATH",
        help="the Arrow file (for validate and arrow-to-json, or stream); "
        "without it, standard input or output",
    )
    parser.add_argument(
        "--json", type=Path, metavar="PATH", help="the integration JSON file, or one with .gz"
    )
    parser.add_argument(
        "--quirk",
        choices=_QUIRKS,
        action="append",
        default=[],
        help="leave out a check that files of old writers fail (validate; may be repeated)",
    )
    parser.set_defaults(run=lambda options: _run(parser, options))


def _run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    _check(parser, options)
    # Imported late, as the parser is made for every command.
    from colkern.integration import conversions

    json, arrow = options.json, options.arrow
    match options.mode:
        case "validate":
            conversions.validate(json, arrow or _input(parser), options.quirk)
        case "json-to-arrow":
            conversions.json_to_file(json, arrow or _output(parser))
        case "arrow-to-json":
            conversions.arrow_to_json(arrow or _input(parser), json or _output(parser))
        case "stream-to-file":
            conversions.stream_to_file(_input(parser), arrow or _output(parser))
        case "file-to-stream":
            conversions.file_to_stream(arrow or _input(parser), _output(parser))


def _check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    if options.json is None and options.mode in _NEED_JSON:
        parser.error(f"--mode {options.mode} needs --json")
    if options.json is not None and options.mode not in _TAKE_JSON:
        parser.error(f"--mode {options.mode} takes no --json")
    if options.quirk and options.mode != "validate":
        parser.error("--quirk goes with --mode validate")


def _input(parser: argparse.ArgumentParser) -> Any:
    # None where the process was started without one.
    if sys.stdin is None:
        parser.error("standard input is closed")
    return sys.stdin.buffer


def _output(parser: argparse.ArgumentParser) -> Any:
    if sys.stdout is None:
        parser.error("standard output is closed")
    return sys.stdout.buffer
