"""A line on standard error that says how far a command is."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Literal, Protocol


class Update(Protocol):
    """Changes the line."""

    def __call__(
        self, *, description: str = ..., completed: float = ..., advance: float = ...
    ) -> None:
        """Set the text or the completed part, or add to the completed part."""


def _no_line(**changes: str | float) -> None:
    """There is no line: standard error is not a terminal."""


@contextlib.contextmanager
def progress_line(
    shape: Literal["spinner", "bar", "count"], total: float | None = None
) -> Iterator[Update]:
    """A line that goes when the block ends; there is none unless standard error is a terminal.

    Args:
        shape: A spinner, a bar, or a bar with the completed number.
        total: The number at which it is complete; None if unknown.
    """
    # None where the process was started without one.
    if sys.stderr is None or not sys.stderr.isatty():
        yield _no_line
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    columns: dict[str, list[ProgressColumn]] = {
        "spinner": [SpinnerColumn()],
        "bar": [BarColumn()],
        "count": [BarColumn(), MofNCompleteColumn()],
    }
    with Progress(
        # Names of files and kernels: they must not be markup.
        TextColumn("{task.description}", markup=False),
        *columns[shape],
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        # Lines of a pipe stay in the pipe.
        redirect_stdout=sys.stdout is not None and sys.stdout.isatty(),
    ) as progress:
        task = progress.add_task("", total=total)

        def update(**changes: str | float) -> None:
            # mypy cannot match these names with the parameters of rich.
            progress.update(task, **changes)  # type: ignore[arg-type]

        yield update
