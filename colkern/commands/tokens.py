"""The option `--token`: the secret that a service asks its clients for."""

from __future__ import annotations

import argparse
import os

TOKEN_VARIABLE = "COLKERN_TOKEN"


def add_token(parser: argparse.ArgumentParser, summary: str) -> None:
    """Add the option; `given_token` reads it."""
    parser.add_argument(
        "--token",
        # Every user of the machine can see the words of a command.
        help=f"{summary}; else the variable {TOKEN_VARIABLE}, which other users do not see; or none",
    )


def given_token(options: argparse.Namespace) -> str:
    """The token of the option, else that of the environment; empty for none."""
    token: str | None = options.token
    return os.environ.get(TOKEN_VARIABLE, "") if token is None else token
