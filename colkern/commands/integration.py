"""`colkern integration`: one conversion or comparison of Arrow's integration runner.

Integration testing: "Running integration tests".
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, TypeAlias

from colkern.commands.files import STANDARD, source_of, target_of, writing
from colkern.commands.parser import Commands, new_command

Source: TypeAlias = Path | BinaryIO

_QUIRKS = ("no_decimal_validate", "no_date64_validate", "no_times_validate")

_NEED_JSON = ("validate", "json-to-arrow")
_TAKE_JSON = (*_NEED_JSON, "arrow-to-json")
_MODES = (*_TAKE_JSON, "stream-to-file", "file-to-stream")


def add_command(commands: Commands) -> None:
    parser = new_command(
        commands,
        "integration",
        lambda options: _run(parser, options),
        "run a conversion or comparison of Arrow's integration tests",
    )
    parser.add_argument("--mode", choices=_MODES, required=True)
    parser.add_argument(
        "--arrow",
        metavar="PATH",
        help="the Arrow file (for validate and arrow-to-json, or stream); "
        "without it or with -, standard input or output",
    )
    parser.add_argument(
        "--json",
        metavar="PATH",
        help="the integration JSON file, or one with .gz; - for standard input or output",
    )
    parser.add_argument(
        "--quirk",
        choices=_QUIRKS,
        action="append",
        default=[],
        help="skip a check that files of old writers fail (for validate; may be repeated)",
    )


def _run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    _check(parser, options)
    # Imported late, as the parser is made for every command.
    from colkern.integration import conversions

    json, arrow = options.json or STANDARD, options.arrow or STANDARD
    match options.mode:
        case "validate":
            conversions.validate(source_of(json), source_of(arrow), options.quirk)
        case "json-to-arrow":
            _convert(conversions.json_to_file, json, arrow)
        case "arrow-to-json":
            _convert(conversions.arrow_to_json, arrow, json)
        case "stream-to-file":
            _convert(conversions.stream_to_file, STANDARD, arrow)
        case "file-to-stream":
            _convert(conversions.file_to_stream, arrow, STANDARD)


def _convert(convert: Callable[[Source, Source], None], source: str, target: str) -> None:
    with writing(target, source):
        convert(source_of(source), target_of(target))


def _check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    if options.json is None and options.mode in _NEED_JSON:
        parser.error(f"--mode {options.mode} needs --json")
    if options.json is not None and options.mode not in _TAKE_JSON:
        parser.error(f"--mode {options.mode} takes no --json")
    if options.quirk and options.mode != "validate":
        parser.error("--quirk goes with --mode validate")
    if options.mode == "validate" and options.json == STANDARD == (options.arrow or STANDARD):
        parser.error("--json and --arrow: only one of them can be standard input")
