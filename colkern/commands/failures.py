"""Failures of commands: one line on standard error, and an exit status."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from colkern.commands.output import printable
from colkern.errors import ColkernError

BAD_DATA, BAD_USE, INTERRUPTED = 1, 2, 130


class UsageError(Exception):
    """The command was used wrongly: exit status 2."""


class CommandError(Exception):
    """The command failed for this data: exit status 1."""


DATA_ERRORS = (CommandError, ColkernError, OSError, MemoryError)
"""The exceptions that data can cause; others are mistakes in colkern."""


@contextlib.contextmanager
def system_errors_of(name: str) -> Iterator[None]:
    """Raise operating system errors within as `CommandError`, with a name before the reason."""
    try:
        yield
    except ColkernError:
        raise
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror or error}") from error


def report(error: BaseException) -> None:
    """Print an error in one line on standard error."""
    # None where the process was started without one.
    if sys.stderr is not None:
        message = " ".join(error_text(error).split())
        print(f"colkern: {printable(message)}", file=sys.stderr)


def error_text(error: BaseException) -> str:
    """Returns the message of an error, after the name of its file."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    return str(error) or f"{type(error).__name__} without a message"
