"""Arrays and record batches as text: the type, the counts and the first and last values.

A `repr` costs the same for ten values and for ten million: it decodes a fixed number of values and a
bounded part of each. It never raises: the error stands in the place of the values.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest

from colkern.arrays import UNKNOWN, Array, RecordBatch
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


def array_repr(array: Array) -> str:
    """Type, length, null count if known, and the values at both ends; on a device, no values."""
    nulls = array.known_null_count
    facts = [f"{array.length} {_plural('value', array.length)}"]
    if nulls != UNKNOWN:
        facts.append(f"{nulls} {_plural('null', nulls)}")
    title = f"<colkern.Array {_cut(str(array.type), LINE)}: {', '.join(facts)}"
    if array.device.kind != "cpu":
        return f"{title} on {array.device}>"
    return f"{title}>\n{_values_text(array)}"


def batch_repr(batch: RecordBatch) -> str:
    """The counts, then a table of the first columns' values at both ends.

    The columns that are shown are decoded if they were not yet.
    """
    rows, columns = batch.num_rows, batch.num_columns
    title = (
        f"<colkern.RecordBatch: {rows} {_plural('row', rows)}, "
        f"{columns} {_plural('column', columns)}>"
    )
    shown = min(columns, MOST_COLUMNS)
    if not shown:
        return title
    grid: list[list[str]] = []
    widths: list[int] = []
    for position in range(shown):
        texts = _column_texts(batch, position)
        width = max(map(len, texts))
        if grid and sum(widths) + 2 * len(widths) + width > LINE:
            break
        grid.append(texts)
        widths.append(width)
    if columns > len(grid):
        grid.append([ELLIPSIS] * max(map(len, grid)))
        widths.append(1)
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in zip_longest(*grid, fillvalue="")
    ]
    lines.insert(2, "  ".join("─" * width for width in widths))
    return "\n".join([title, *lines])


def _plural(noun: str, count: int) -> str:
    return noun if count == 1 else f"{noun}s"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}{ELLIPSIS}"


def _guarded(make: Callable[[], list[str]]) -> list[str] | str:
    """The result of `make`, or the text of its error."""
    try:
        return make()
    except Exception as error:  # noqa: BLE001 - a debugger or a logger asks: it must get an answer
        return f"<{type(error).__name__}: {error}>"


def _ends(array: Array, edge: int, width: int) -> list[str]:
    """The values as texts, with an ellipsis for what lies between the first and the last ones."""

    def texts(part: Array) -> list[str]:
        values = preview(part, MOST_MEMBERS + 1)
        return [_cut(_text(value, MOST_MEMBERS), width) for value in values]

    if array.length <= 2 * edge:
        return texts(array)
    return [*texts(array.slice(0, edge)), ELLIPSIS, *texts(array.slice(array.length - edge))]


def _values_text(array: Array) -> str:
    texts = _guarded(lambda: _ends(array, EDGE_VALUES, VALUE_WIDTH))
    if isinstance(texts, str):
        return texts
    return f"[{_filled(texts)}]"


def _filled(texts: list[str]) -> str:
    """The texts with commas between, as many on a line as fit."""
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
    """A value of `preview(array, MOST_MEMBERS + 1)`, cut; text stands without quotes."""
    return _cut(value if isinstance(value, str) else _text(value, MOST_MEMBERS), VALUE_WIDTH)


def _column_texts(batch: RecordBatch, position: int) -> list[str]:
    """Name, type and one text a row that is shown; of a column on a device, where it is."""
    field = batch.schema.fields[position]
    rows = min(batch.num_rows, 2 * EDGE_ROWS + 1)

    def values() -> list[str]:
        column = batch.column(position)
        if column.device.kind != "cpu":
            return [f"<on {column.device}>"]
        return _ends(column, EDGE_ROWS, CELL_WIDTH)

    texts = _guarded(values)
    if isinstance(texts, str):
        texts = [_cut(_one_line(texts), CELL_WIDTH)] * rows
    heads = [_cut(_one_line(text), CELL_WIDTH) for text in (field.name, str(field.type))]
    return [*heads, *texts]


def _one_line(text: str) -> str:
    return text if text.isprintable() else repr(text)


def _text(value: object, most: int) -> str:
    """A value of `preview` as text; it has one more member than is shown if there are more."""
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
