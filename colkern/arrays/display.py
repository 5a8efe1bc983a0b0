"""Columns, record batches and tables as text: the type, the counts and the first and last values.

A `repr` costs the same for ten values and for ten million: it decodes a fixed number of values and a
bounded part of each. It never raises: an error is shown in place of the values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape
from itertools import zip_longest
from typing import Any

from colkern.arrays import UNKNOWN, Array, ChunkedArray, RecordBatch, Table
from colkern.arrays.chunked import chunks_of
from colkern.arrays.values import preview

EDGE_VALUES = 10
"""The number of values shown at either end of an array."""

EDGE_ROWS = 5
"""The number of rows shown at either end of a batch."""

MOST_COLUMNS = 10
"""The number of columns of a batch that are shown, and decoded."""

MOST_MEMBERS = 6
"""The number of members of a list or struct shown; one fewer with each level of nesting."""

VALUE_WIDTH = 60
"""The widest text of one value of an array."""

CELL_WIDTH = 30
"""The widest column of a batch."""

LINE = 100
"""The widest line, apart from a first column or value that is wider."""

ELLIPSIS = "…"


def column_repr(column: Array | ChunkedArray) -> str:
    """Type, length, null count if known, and the values at both ends; no values if on a device."""
    title = f"<{_column_title(column)}>"
    if column.device.kind != "cpu":
        return title
    texts = _guarded(lambda: _column_ends(column))
    return f"{title}\n{texts if isinstance(texts, str) else f'[{_filled(texts)}]'}"


def rows_repr(table: RecordBatch | Table) -> str:
    """The counts, then the values of the first columns at both ends, as many columns as fit a line."""
    grid, widths = _grid(table)
    title = f"<{_rows_title(table)}>"
    if not grid:
        return title
    if table.num_columns > len(grid):
        grid.append([ELLIPSIS] * max(map(len, grid)))
        widths.append(1)
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in zip_longest(*grid, fillvalue="")
    ]
    lines.insert(2, "  ".join("─" * width for width in widths))
    return "\n".join([title, *lines])


def html(data: Array | ChunkedArray | RecordBatch | Table) -> str:
    """The content of `repr` as HTML: a heading, and a table of names, types and values."""
    if isinstance(data, RecordBatch | Table):
        heading = _rows_title(data)
        grid, _ = _grid(data)
        grid += [[ELLIPSIS, ELLIPSIS]] if data.num_columns > len(grid) else []
    else:
        heading = _column_title(data)
        texts = _guarded(lambda: _column_ends(data))
        grid = [["", str(data.type), *([texts] if isinstance(texts, str) else texts)]]
    lines = list(zip_longest(*grid, fillvalue=""))
    rows = [_html_row(texts, "th" if number < 2 else "td") for number, texts in enumerate(lines)]
    return (
        f"<div>{escape(heading)}<table><thead>{''.join(rows[:2])}</thead>"
        f"<tbody>{''.join(rows[2:])}</tbody></table></div>"
    )


def _html_row(texts: Iterable[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(text)}</{tag}>' for text in texts)}</tr>"


def _column_title(column: Array | ChunkedArray) -> str:
    facts = [_counted(column.length, "value")]
    if isinstance(column, ChunkedArray):
        facts.append(_counted(column.num_chunks, "chunk"))
    elif column.known_null_count != UNKNOWN:
        facts.append(_counted(column.known_null_count, "null"))
    where = "" if column.device.kind == "cpu" else f" on {column.device}"
    kind = "ChunkedArray" if isinstance(column, ChunkedArray) else "Array"
    return f"colkern.{kind} {_cut(str(column.type), LINE)}: {', '.join(facts)}{where}"


def _rows_title(table: RecordBatch | Table) -> str:
    facts = [_counted(table.num_rows, "row"), _counted(table.num_columns, "column")]
    if isinstance(table, Table):
        facts.append(_counted(table.num_batches, "batch", "batches"))
    return f"colkern.{type(table).__name__}: {', '.join(facts)}"


def _grid(table: RecordBatch | Table) -> tuple[list[list[str]], list[int]]:
    """The texts of the first columns, as many as fit a line, and their widths."""
    grid: list[list[str]] = []
    widths: list[int] = []
    for position in range(min(table.num_columns, MOST_COLUMNS)):
        texts = _column_texts(table, position)
        width = max(map(len, texts))
        if grid and sum(widths) + 2 * len(widths) + width > LINE:
            break
        grid.append(texts)
        widths.append(width)
    return grid, widths


def _counted(count: int, noun: str, plural: str | None = None) -> str:
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}{ELLIPSIS}"


def _guarded(make: Callable[[], list[str]]) -> list[str] | str:
    """The result of `make`, or the text of its error."""
    try:
        return make()
    except Exception as error:  # noqa: BLE001 - a debugger or a logger asks: it must get an answer
        return f"<{type(error).__name__}: {error}>"


def _ends(data: Any, edge: int, texts: Callable[[Any], list[str]]) -> list[str]:
    """The texts of slots or rows, with an ellipsis for those between the first and the last."""
    if data.length <= 2 * edge:
        return texts(data)
    return [*texts(data.slice(0, edge)), ELLIPSIS, *texts(data.slice(data.length - edge))]


def _texts(column: Array | ChunkedArray, width: int) -> list[str]:
    values = [v for chunk in chunks_of(column) for v in preview(chunk, MOST_MEMBERS + 1)]
    return [_cut(_text(value, MOST_MEMBERS), width) for value in values]


def _column_ends(column: Array | ChunkedArray) -> list[str]:
    if column.device.kind != "cpu":
        return [f"<on {column.device}>"]
    return _ends(column, EDGE_VALUES, lambda part: _texts(part, VALUE_WIDTH))


def _filled(texts: list[str]) -> str:
    """The texts with commas between them, as many on a line as fit."""
    text = ""
    room = LINE
    for i, each in enumerate(texts):
        part = each if i == len(texts) - 1 else f"{each},"
        if i and len(part) + 1 > room:
            text += "\n "
            room = LINE - 1
        elif i:
            text += " "
            room -= 1
        text += part
        room -= len(part)
    return text


def cell_text(value: object) -> str:
    """The text, cut to fit, of a value of `preview(array, MOST_MEMBERS + 1)`; strings have no quotes."""
    return _cut(value if isinstance(value, str) else _text(value, MOST_MEMBERS), VALUE_WIDTH)


def _column_texts(table: RecordBatch | Table, position: int) -> list[str]:
    """Name, type, and one text for each row that is shown; for a column on a device, where it is."""
    field = table.schema.fields[position]
    rows = min(table.num_rows, 2 * EDGE_ROWS + 1)

    def of_rows(part: RecordBatch | Table) -> list[str]:
        column = part.column(position)
        on_host = column.device.kind == "cpu"
        return _texts(column, CELL_WIDTH) if on_host else [f"<on {column.device}>"]

    texts = _guarded(lambda: _ends(table, EDGE_ROWS, of_rows))
    if isinstance(texts, str):
        texts = [_cut(_one_line(texts), CELL_WIDTH)] * rows
    heads = [_cut(_one_line(text), CELL_WIDTH) for text in (field.name, str(field.type))]
    return [*heads, *texts]


def _one_line(text: str) -> str:
    return text if text.isprintable() else repr(text)


def _text(value: object, most: int) -> str:
    """A value of `preview` as text. A list with more members than `most` is cut, with an ellipsis."""
    inner = max(most - 1, 0)
    if value is None:
        return "null"
    if isinstance(value, dict):
        named = [f"{name!r}: {_text(each, inner)}" for name, each in value.items()]
        return f"{{{_members(named, most)}}}"
    if isinstance(value, list):
        return f"[{_members([_text(each, inner) for each in value], most)}]"
    if type(value) is tuple:
        return f"({', '.join(_text(each, inner) for each in value)})"
    return repr(value) if isinstance(value, str | bytes) else str(value)


def _members(texts: list[str], most: int) -> str:
    return ", ".join(texts if len(texts) <= most else [*texts[:most], ELLIPSIS])
