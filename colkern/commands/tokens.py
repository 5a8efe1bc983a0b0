"""The option `--token`: what the clients of a service must have."""

from __future__ import annotations

import argparse
import os

TOKEN_VARIABLE = "COLKERN_TOKEN"


def add_token(parser: argparse.ArgumentParser, help_: str) -> None:
    """Add the option; `given_token` tells its value."""
    parser.add_argument(
        "--token",
        # Words of a command are seen by every user of the machine.
        help=f"{help_}; else that of the environment's {TOKEN_VARIABLE}, which others do not see; or none",
    )


def given_token(options: argparse.Namespace) -> str:
    """The token of the option, else that of the environment; empty for none."""
    token: str | None = options.token
    return os.environ.get(TOKEN_VARIABLE, "") if token is None else token
