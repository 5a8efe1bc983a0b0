"""Output of commands: sizes, tables, JSON, and text that cannot control a terminal."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def printable(text: str) -> str:
    """Returns text with control characters escaped: text from a file must not control the terminal."""
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def text_of(data: bytes) -> str:
    """Returns bytes of custom metadata as text; bytes that are not UTF-8 become `\\xNN`."""
    return data.decode(errors="backslashreplace")


def cut(text: str, most: int) -> str:
    """Returns the text, cut to `most` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def size_text(size: int) -> str:
    """Returns a number of bytes as text: `512 B`, `1.5 KiB`."""
    if size < 1024:
        return f"{size} B"
    exponent = min((size.bit_length() - 1) // 10, len(_UNITS) - 1)
    return f"{size / 1024**exponent:.1f} {_UNITS[exponent]}"


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 row`, `2,000 rows`, `2 batches`."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def print_json(document: object) -> None:
    """Print a document on one line, in ASCII, which works in every encoding."""
    print(json.dumps(document, allow_nan=False))


def terminal_width() -> int:
    """The width of the terminal, or `COLUMNS`, or 80."""
    from rich.console import Console

    return Console().width


def print_table(table: Table) -> None:
    """Print a table, at most as wide as the terminal."""
    from rich.console import Console

    console = Console()
    # Not printed by rich, which ends the process if the reader of a pipe has closed it.
    with console.capture() as captured:
        console.print(table)
    print(captured.get(), end="")


def print_rows(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    texts: Collection[str],
    numbers: Collection[str],
    fold: bool,
) -> None:
    """Print a table, or nothing without rows; a narrow terminal cuts cells of `texts` unless `fold`."""
    from rich.table import Table
    from rich.text import Text

    cells = [[Text(printable(cell)) for cell in row] for row in rows]
    if not cells:
        return
    table = Table()
    for name in head:
        table.add_column(
            name,
            justify="right" if name in numbers else "left",
            overflow="fold",
            no_wrap=name not in texts,
        )
    if not fold:
        _cut_to_fit(head, cells, [head.index(name) for name in texts])
    for row in cells:
        table.add_row(*row)
    print_table(table)


FRAME = 3
"""The width that the frame of a table adds to each column."""


def _cut_to_fit(head: Sequence[str], rows: list[list[Text]], texts: Iterable[int]) -> None:
    """Cut the cells of some columns so that all columns fit; narrow columns keep their width."""
    widths = [max(len(head[i]), *(row[i].cell_len for row in rows)) for i in range(len(head))]
    by_width = sorted(texts, key=widths.__getitem__)
    others = sum(widths) - sum(widths[i] for i in by_width)
    room = terminal_width() - 1 - FRAME * len(head) - others
    for position, column in enumerate(by_width):
        share = room // (len(by_width) - position)
        width = max(min(widths[column], share), len(head[column]))
        for row in rows:
            row[column].truncate(width, overflow="ellipsis")
        room -= width


# Progress


class Update(Protocol):
    """Changes the progress line."""

    def __call__(
        self, *, description: str = ..., completed: float = ..., advance: float = ...
    ) -> None:
        """Set the text or the completed amount, or add to the completed amount."""


def _no_line(**changes: str | float) -> None:
    """Does nothing: standard error is not a terminal."""


@contextlib.contextmanager
def progress_line(
    shape: Literal["spinner", "bar", "count"], total: float | None = None
) -> Iterator[Update]:
    """Shows a progress line within the context, if standard error is a terminal.

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
        # Only output to a terminal is redirected above the bar; a pipe gets its lines directly.
        redirect_stdout=sys.stdout is not None and sys.stdout.isatty(),
    ) as progress:
        task = progress.add_task("", total=total)

        def update(**changes: str | float) -> None:
            # mypy cannot match these names with the parameters of rich.
            progress.update(task, **changes)  # type: ignore[arg-type]

        yield update
