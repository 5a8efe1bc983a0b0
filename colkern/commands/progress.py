"""A line that says how far a command is."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

Tell = Callable[[str], None]
"""Is told what the line says from now on."""


@contextlib.contextmanager
def progress_line() -> Iterator[Tell]:
    """On a terminal, a line on standard error that goes when the block ends; elsewhere there is none."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    with Progress(
        SpinnerColumn(),
        # Names of files: they must not be markup.
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        # Lines of a pipe stay in the pipe.
        redirect_stdout=sys.stdout is not None and sys.stdout.isatty(),
    ) as progress:
        task = progress.add_task("", total=None)
        yield lambda text: progress.update(task, description=text)
