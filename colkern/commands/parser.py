"""The parser of the command line, and options of several commands; wrong use raises `UsageError`."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NoReturn, TypeAlias

from colkern.commands.failures import UsageError

Commands: TypeAlias = "argparse._SubParsersAction[_Parser]"
"""The subparsers of the command."""

AddCommand = Callable[[Commands], None]
"""Adds a subcommand."""

Run = Callable[[argparse.Namespace], int | None]
"""Runs a subcommand with its options; returns the exit status, or None for 0."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


class _Version(argparse.Action):
    def __init__(self, option_strings: Sequence[str], dest: str, **_: object) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        import colkern

        print(f"colkern {colkern.__version__}")
        parser.exit()


def command_parser(add_commands: Iterable[AddCommand]) -> argparse.ArgumentParser:
    """Returns the parser of `colkern` with subcommands; raises `UsageError` where argparse would exit."""
    parser = _Parser(
        prog="colkern",
        description="Arrow columns through Numba kernels, on the CPU and on the GPU.",
    )
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add_command in add_commands:
        add_command(commands)
    return parser


def new_command(
    commands: Commands, name: str, run: Run, summary: str, description: str = "", keys: str = ""
) -> argparse.ArgumentParser:
    """Add a subcommand and return its parser. `keys` describes its JSON documents, below the options."""
    parser = commands.add_parser(
        name,
        help=summary,
        description=description or summary,
        epilog=keys,
        formatter_class=argparse.RawDescriptionHelpFormatter if keys else argparse.HelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def add_timeout(parser: argparse.ArgumentParser, summary: str) -> None:
    """Add the option `--timeout SECONDS`, 30 by default."""
    parser.add_argument(
        "--timeout", type=positive_float, default=30.0, metavar="SECONDS", help=f"{summary} (30)"
    )


def positive(text: str) -> int:
    """Returns a whole number of 1 or more."""
    if text.isdecimal() and int(text):
        return int(text)
    raise argparse.ArgumentTypeError(f"expected a whole number of 1 or more, got {text!r}")


def positive_float(text: str) -> float:
    """Returns a finite number above zero."""
    with contextlib.suppress(ValueError):
        if 0 < float(text) < float("inf"):
            return float(text)
    raise argparse.ArgumentTypeError(f"expected a number above zero, got {text!r}")


TOKEN_VARIABLE = "COLKERN_TOKEN"


def add_token(parser: argparse.ArgumentParser, summary: str) -> None:
    """Add the option; `given_token` reads it."""
    parser.add_argument(
        "--token",
        # Command lines are visible to every user of the machine.
        help=f"{summary}; by default, the variable {TOKEN_VARIABLE}, which other users cannot see",
    )


def given_token(options: argparse.Namespace) -> str:
    """Returns the token from the option, else from the environment; empty if neither has one."""
    token: str | None = options.token
    return os.environ.get(TOKEN_VARIABLE, "") if token is None else token


_CODECS: dict[str, Literal["lz4", "zstd"] | None] = {"none": None, "lz4": "lz4", "zstd": "zstd"}


def codec_and_level(words: str | None) -> tuple[str | None, int | None]:
    """Returns codec (or "none") and level from `CODEC[:LEVEL]`; None for what is not given."""
    if words is None:
        return None, None
    from colkern.ipc import WriteOptions

    codec, colon, level = words.partition(":")
    if codec not in _CODECS:
        raise UsageError(f"--compression: expected none, lz4 or zstd, got {codec!r}")
    try:
        number = int(level) if colon else None
    except ValueError:
        raise UsageError(f"--compression: the level must be a number, got {level!r}") from None
    try:
        WriteOptions(compression=_CODECS[codec], compression_level=number)
    except ValueError as error:
        raise UsageError(f"--compression: {error}") from None
    return codec, number
