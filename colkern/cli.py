"""The `colkern` command.

Errors are one line on standard error; the exit status is 1 for bad data, 2 for bad use.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

from colkern.commands import (
    convert,
    demo,
    doctor,
    fetch,
    head,
    info,
    integration,
    schema,
    serve,
    validate,
    warm,
)
from colkern.commands.failures import (
    BAD_DATA,
    BAD_USE,
    DATA_ERRORS,
    INTERRUPTED,
    UsageError,
    report,
)
from colkern.commands.parser import command_parser

COMMANDS = (
    info.add_command,
    schema.add_command,
    head.add_command,
    validate.add_command,
    convert.add_command,
    serve.add_command,
    fetch.add_command,
    demo.add_command,
    warm.add_command,
    doctor.add_command,
    integration.add_command,
)
"""The commands, in the order in which the help lists them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status."""
    # Escape characters that the encoding of the terminal or pipe does not have.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        options = command_parser(COMMANDS).parse_args(arguments)
        status: int | None = options.run(options)
        # Not `sys.stdout.flush()`: it is None where the process was started without one.
        print(end="", flush=True)
    except UsageError as error:
        report(error)
        return BAD_USE
    except BrokenPipeError:
        # The reader of a pipe has gone: leave Python nothing to flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (*DATA_ERRORS, RuntimeError) as error:
        report(error)
        return BAD_DATA
    except KeyboardInterrupt:
        return INTERRUPTED
    return status or 0


if __name__ == "__main__":
    sys.exit(main())
