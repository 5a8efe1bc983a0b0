"""`colkern head FILE`: prints the first rows, as a table or as JSON."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from colkern.commands.failures import UsageError
from colkern.commands.files import opened
from colkern.commands.output import (
    FRAME,
    counted,
    print_json,
    print_table,
    printable,
    terminal_width,
)
from colkern.commands.parser import Commands, new_command, positive

if TYPE_CHECKING:
    from rich.text import Text

    from colkern.arrays import RecordBatch
    from colkern.ipc import FileReader, StreamReader
    from colkern.schema import Schema

_NARROWEST = 16
"""Wider columns may be cut to this many characters before the next column is left out."""

_MOST_ROWS = 1_000
"""The number of rows converted to text at once; they determine the widths of a table."""


def add_command(commands: Commands) -> None:
    parser = new_command(commands, "head", _run, "print the first rows; long values are cut")
    parser.add_argument("file", help="an Arrow file or stream; - for standard input")
    parser.add_argument(
        "-n", "--rows", type=positive, default=10, metavar="N", help="the number of rows (10)"
    )
    parser.add_argument("--columns", metavar="A,B", help="the columns to print, in this order")
    parser.add_argument(
        "--all",
        action="store_true",
        help="print all columns, in several tables if one would be too wide",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print a JSON object per row, values uncut; bytes as hexadecimal text, decimals as text, "
        'dates and times in ISO 8601, durations as seconds ("1.5s"), NaN and infinities as text',
    )


def _run(options: argparse.Namespace) -> None:
    with opened(options.file) as reader:
        positions = _positions(reader.schema, options.columns)
        rows = _first_rows(reader, options.rows)
        if options.json:
            _print_objects(rows, reader.schema, positions)
        else:
            _print_tables(rows, reader.schema, positions, options)


def _positions(schema: Schema, columns: str | None) -> list[int]:
    """The positions of the wanted columns."""
    if columns is None:
        return list(range(len(schema)))
    names = schema.names
    for name in columns.split(","):
        if names.count(name) != 1:
            raise UsageError(f"--columns: {names.count(name) or 'no'} columns named {name!r}")
    return [names.index(name) for name in columns.split(",")]


def _first_rows(reader: StreamReader | FileReader, rows: int) -> Iterator[RecordBatch]:
    """The first rows in parts; each is printed before the next one is read."""
    for batch in reader:
        count = min(rows, batch.num_rows)
        for start in range(0, count, _MOST_ROWS):
            yield batch.slice(start, min(count - start, _MOST_ROWS))
        rows -= count
        if rows == 0:
            return


def _print_objects(rows: Iterator[RecordBatch], schema: Schema, positions: list[int]) -> None:
    from colkern.commands.printed_values import json_value, marked

    names = [schema.fields[position].name for position in positions]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(
            f"--json: {names.count(twice)} columns named {twice!r}; choose others by --columns"
        )
    for batch in rows:
        columns = [
            marked(batch.column(position).to_pylist(), schema.fields[position].type)
            for position in positions
        ]
        for i in range(batch.num_rows):
            values = (json_value(column[i]) for column in columns)
            print_json(dict(zip(names, values, strict=True)))
        print(end="", flush=True)


def _together(rows: Iterator[RecordBatch]) -> Iterator[list[RecordBatch]]:
    """Yields lists of batches for one table each, of up to `_MOST_ROWS` rows."""
    parts: list[RecordBatch] = []
    held = 0
    for batch in rows:
        if parts and held + batch.num_rows > _MOST_ROWS:
            yield parts
            parts, held = [], 0
        parts.append(batch)
        held += batch.num_rows
        if held >= _MOST_ROWS:
            yield parts
            parts, held = [], 0
    if parts:
        yield parts


def _print_tables(
    rows: Iterator[RecordBatch], schema: Schema, positions: list[int], options: argparse.Namespace
) -> None:
    from rich.table import Table

    groups: list[list[int]] = []
    left: list[int] = []
    any_rows = False
    for batches in _together(rows):
        if not any_rows:
            # The first rows determine the groups of columns for all tables.
            groups, left = _grouped(batches, schema, positions, options.all)
        for group in groups:
            table = Table()
            columns = _columns(batches, schema, group)
            for head, *_ in columns:
                table.add_column(head, overflow="fold")
            for row in zip(*(cells for _, *cells in columns), strict=True):
                table.add_row(*row)
            print_table(table)
        print(end="", flush=True)
        any_rows = True
    if not any_rows:
        print("no rows")
    elif not positions:
        print("no columns")
    elif left:
        print(f"… {counted(len(left), 'more column')}: --all shows them, --columns chooses")


def _columns(batches: list[RecordBatch], schema: Schema, positions: list[int]) -> list[list[Text]]:
    """Returns the head and the cells of columns."""
    from rich.text import Text

    return [
        [
            Text.assemble(printable(field.name), "\n", (printable(str(field.type)), "dim")),
            *_cells(batches, position),
        ]
        for position, field in ((place, schema.fields[place]) for place in positions)
    ]


def _grouped(
    batches: list[RecordBatch], schema: Schema, positions: list[int], show_all: bool
) -> tuple[list[list[int]], list[int]]:
    """Returns groups of columns that fit side by side (only one unless all are shown), and the rest."""
    room = terminal_width()
    groups: list[list[int]] = []
    left = positions
    while left and (show_all or not groups):
        # More columns could not fit, however narrow they are.
        candidates = left[: max(room // (FRAME + 1), 1)]
        shown = _fitting(_columns(batches, schema, candidates), room)
        groups.append(left[:shown])
        left = left[shown:]
    return groups, left


def _cells(batches: list[RecordBatch], position: int) -> list[Text]:
    """Returns the values of a column, cut."""
    from rich.text import Text

    from colkern.arrays.display import MOST_MEMBERS, cell_text
    from colkern.arrays.values import preview
    from colkern.commands.printed_values import marked

    values: list[object] = []
    for batch in batches:
        column = batch.column(position)
        values += marked(preview(column, MOST_MEMBERS + 1), column.type)
    # A null is dim, as a text may be `null`, too.
    return [
        Text(printable(cell_text(value)), style="dim" if value is None else "") for value in values
    ]


def _fitting(columns: list[list[Text]], room: int) -> int:
    """Returns the number of columns that fit side by side; at least one."""
    left = room - 1
    for number, cells in enumerate(columns):
        # A head has two lines, of which the longer one counts.
        widest = max(line.cell_len for cell in cells for line in cell.split())
        left -= min(widest, _NARROWEST) + FRAME
        if left < 0:
            return max(number, 1)
    return len(columns)
