"""What commands print: text that cannot steer a terminal, sizes, tables, JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def printable(text: str) -> str:
    """Control characters as escapes: what a file says must not steer the terminal."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def text_of(data: bytes) -> str:
    """Bytes of custom metadata as text; what is not UTF-8 as `\\xNN`."""
    return data.decode(errors="backslashreplace")


def cut(text: str, most: int) -> str:
    """The text, its end left out where it is longer than `most` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def size_text(size: int) -> str:
    """A number of bytes for people: `512 B`, `1.5 KiB`."""
    if size < 1024:
        return f"{size} B"
    exponent = min((size.bit_length() - 1) // 10, len(_UNITS) - 1)
    return f"{size / 1024**exponent:.1f} {_UNITS[exponent]}"


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 row`, `2,000 rows`, `2 batches`."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def print_json(document: Any) -> None:
    """Print a document in one line, in ASCII: as good in every encoding of the output."""
    print(json.dumps(document, allow_nan=False))


def terminal_width() -> int:
    """How wide the output is, in columns: of a terminal, of `COLUMNS`, or 80."""
    from rich.console import Console

    return Console().width


def print_table(table: Any) -> None:
    """Print a table of rich, as wide as the terminal at most."""
    from rich.console import Console

    console = Console()
    # Not printed by rich: it ends the process where the reader of a pipe has gone.
    with console.capture() as captured:
        console.print(table)
    print(captured.get(), end="")


def plain_table(
    head: Iterable[str], rows: Iterable[Iterable[str]], *, fold: bool, numbers: Iterable[str] = ()
) -> Any:
    """A table of rich whose cells are text, taken as it is but for control characters.

    Args:
        head: The names of the columns.
        rows: The cells.
        fold: Whether long cells go on in a second line; else their ends are left out.
        numbers: The names of the columns that stand to the right.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table()
    overflow: Any = "fold" if fold else "ellipsis"
    for name in head:
        justify: Any = "right" if name in numbers else "left"
        table.add_column(name, justify=justify, overflow=overflow, no_wrap=not fold)
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table


def print_facts(facts: Mapping[str, str]) -> None:
    """Print names and values. Not a table: a path that somebody wants to copy must not be cut."""
    width = max(map(len, facts), default=0)
    for name, value in facts.items():
        print(f"{name:<{width}} {printable(value)}")
