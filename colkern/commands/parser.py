"""The parser of the command line; wrong use is an error of the command's own."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from colkern.commands.failures import UsageError

AddCommand = Callable[[Any], None]
"""Adds a subcommand to argparse's subparsers, and sets `run=`."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


class _Version(argparse.Action):
    def __init__(self, option_strings: Sequence[str], dest: str, **_: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        import colkern

        print(f"colkern {colkern.__version__}")
        parser.exit()


def command_parser(add_commands: Iterable[AddCommand]) -> argparse.ArgumentParser:
    """The parser of `colkern` with those subcommands, in that order.

    It raises `UsageError` where argparse would end the process.
    """
    parser = _Parser(
        prog="colkern",
        description="Arrow columns through Numba kernels, on the CPU and on the GPU.",
    )
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add_command in add_commands:
        add_command(commands)
    return parser


def positive(text: str) -> int:
    """A whole number from 1 on."""
    number = int(text)
    if number < 1:
        raise ValueError
    return number


positive.__name__ = "positive number"


def positive_float(text: str) -> float:
    """A number above zero, and not infinite."""
    number = float(text)
    if not 0 < number < float("inf"):
        raise ValueError
    return number


positive_float.__name__ = "positive number"
