"""`read_table`, which reads a whole source as a table."""

from __future__ import annotations

import errno
import os
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import unquote

from colkern.arrays import Array, RecordBatch, Table
from colkern.builders import array
from colkern.errors import placed, shown
from colkern.ipc.limits import DEFAULT_LIMITS, Limits
from colkern.ipc.paths import is_url
from colkern.ipc.reading.opening import Devices, open
from colkern.ipc.reading.remote import filesystem_of
from colkern.ipc.reading.sources import Source
from colkern.jit.over_tables import with_column
from colkern.operations import (
    and_kleene,
    equal,
    filter,
    greater,
    greater_equal,
    invert,
    is_in,
    less,
    less_equal,
    not_equal,
    or_kleene,
    repeat,
)
from colkern.operations.moving import there
from colkern.steps import steps

_NULL = "__HIVE_DEFAULT_PARTITION__"
_INTEGER = re.compile(r"-?[0-9]{1,18}")


class Folder(NamedTuple):
    """The files of a folder, sorted by name, and the keys in their paths."""

    files: list[str]
    keys: dict[str, Array]
    """Name → a value for each file."""


def folder_of(source: object) -> Folder | None:
    """The files in a folder, at a path or a URL; None if the source is no folder."""
    # Names that begin with `.` or `_` are left out. As in pyarrow, a key is int32 if all its values
    # are integers (int64 if need be), and else text.
    if not isinstance(source, str | os.PathLike):
        return None
    if is_url(source):
        filesystem, root = filesystem_of(source)
        paths = filesystem.find(root) if filesystem.isdir(root) else None
    else:
        filesystem, root = None, os.fsdecode(source)
        paths = _below(root) if os.path.isdir(root) else None
    if paths is None:
        return None
    parts = {path: path[len(root) :].strip("/").split("/") for path in sorted(paths)}
    files = [path for path in parts if not any(part[:1] in (".", "_") for part in parts[path])]
    if not files:
        raise FileNotFoundError(errno.ENOENT, "no file in the folder", os.fsdecode(source))
    keys = _keys({path: parts[path][:-1] for path in files})
    return Folder(
        files if filesystem is None else list(map(filesystem.unstrip_protocol, files)), keys
    )


def _below(root: str) -> list[str]:
    return [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]


def _keys(folders: dict[str, list[str]]) -> dict[str, Array]:
    """The values of the keys, from the folder names in each file's path."""
    paths: dict[tuple[str, ...], str] = {}
    rows = []
    for path, names in folders.items():
        parts = (name.split("=", 1) for name in names if "=" in name)
        pairs = {unquote(key): text for key, text in parts}
        paths[tuple(pairs)] = path
        rows.append(pairs)
    if len(paths) > 1:
        listed = "; ".join(f"{path}: {', '.join(keys) or 'none'}" for keys, path in paths.items())
        raise ValueError(f"source: files have different keys in their paths: {listed}")
    return {key: _column([row[key] for row in rows]) for key in rows[0]}


def _column(texts: list[str]) -> Array:
    values = [None if text == _NULL else unquote(text) for text in texts]
    present = [value for value in values if value is not None]
    if not all(map(_INTEGER.fullmatch, present)) or not present:
        return array(values, "utf8")
    numbers = [None if value is None else int(value) for value in values]
    small = all(-(1 << 31) <= int(value) < 1 << 31 for value in present)
    return array(numbers, "int32" if small else "int64")


Filter: TypeAlias = tuple[str, str, Any]
"""A column's name, a comparison, and a value."""

Filters: TypeAlias = Sequence[Filter] | Sequence[Sequence[Filter]]
"""Filters that are all true of a row; or lists of such, of which one is enough."""

Alternatives: TypeAlias = Sequence[Sequence[Filter]]
"""Filters as a list of lists; an empty one stands for no filter."""

_REQUESTS = 16
"""The number of columns of a remote file that are fetched at once."""

_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "==": equal,
    "=": equal,
    "!=": not_equal,
    "<": less,
    "<=": less_equal,
    ">": greater,
    ">=": greater_equal,
    "in": is_in,
    "not in": lambda column, values: invert(is_in(column, values)),
}


def read_table(
    source: Source,
    *,
    columns: Sequence[int | str] | None = None,
    filters: Filters = (),
    device: Devices | None = None,
    memory_map: bool = True,
    trusted: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> Table:
    """All batches of an Arrow IPC file or stream, or of a folder of them, as a table.

    For a folder, at a path or a URL, all files in it are read, sorted by name, except those whose path
    begins with `.` or `_`. Folders with names such as `year=2024` become a column `year`, after the
    columns of the files or in place of one with that name. Files that filters exclude by such a column
    are not opened.

    Columns of a mapped file are decoded when they are asked for; with `filters`, all columns of the
    table are decoded now. Columns of a file at a URL are fetched now, several at once.

    Args:
        source: As for `open`, as are all arguments but `filters`; or a folder.
        columns: Names or positions of the columns of the table, in that order; None for all.
        filters: Triples of a column's name, `==` (or `=`), `!=`, `<`, `<=`, `>` or `>=`, and a value, as
            `colkern.equal` takes it, or of a name, `in` or `not in`, and values, as `colkern.is_in` takes
            them: only rows for which all are true are kept. Or a list of such lists, as in pyarrow: rows
            for which all of one list are true.

    Raises:
        TypeError: If `filters` has something else in it.
        ValueError: If a filter has an unknown comparison, or the files of a folder have different keys
            in their paths.
        InvalidArrowError: If the files of a folder have columns of different names or types.

    Also raises what `open`, the readers and the comparisons raise.
    """
    chosen = checked_filters(filters)
    folder = folder_of(source)
    options = {"memory_map": memory_map, "trusted": trusted, "limits": limits}
    if folder is None:
        return _of_file(source, columns, chosen, device, **options)
    return _of_folder(folder, columns, chosen, device, **options)


def _of_file(
    source: Source,
    columns: Sequence[int | str] | None,
    filters: Alternatives,
    device: Devices | None,
    **options: Any,
) -> Table:
    with open(source, columns=also(columns, filters), device=device, **options) as reader:
        table = Table(steps(reader, "reading batches"), reader.schema)
    if isinstance(source, str | os.PathLike) and is_url(source) and device is None:
        # Each column takes one request or more, which can be under way at the same time.
        places = [(batch, i) for batch in table.batches for i in range(len(batch.schema))]
        with ThreadPoolExecutor(_REQUESTS) as pool:
            deque(pool.map(lambda place: place[0].column(place[1]), places), 0)
    table = filtered(table, filters)
    return table if columns is None else table.select(range(len(columns)))


def _of_folder(
    folder: Folder,
    columns: Sequence[int | str] | None,
    filters: Alternatives,
    device: Devices | None,
    **options: object,
) -> Table:
    """The rows of all files whose keys pass the filters; keys are the last columns."""
    keys = folder.keys
    wanted = None if columns is None else [name for name in columns if name not in keys]
    # For each file, what is left of the alternatives that its keys do not exclude.
    rest: list[list[Sequence[Filter]]] = [[] for _ in folder.files]
    for each in filters:
        own = [one for one in each if one[0] not in keys]
        masks = [_COMPARED[word](keys[name], value) for name, word, value in each if name in keys]
        passes = reduce(and_kleene, masks).to_pylist() if masks else [True] * len(rest)
        for alternatives, true in zip(rest, passes, strict=True):
            alternatives += [own] if true else []
    kept = [number for number, left in enumerate(rest) if left or not filters]
    batches: list[RecordBatch] = []
    schema = None
    # If no file passes, the first one still tells the columns.
    for number in steps(kept or [0], "reading files"):
        file = folder.files[number]
        with placed(file):
            # A file whose keys decide alone needs no filter.
            left = rest[number] if all(rest[number]) else []
            table = _of_file(file, wanted, left, device, **options)
            for name, values in keys.items():
                value = there(values.slice(number, 1), table)
                table = with_column(table, name, repeat(value, table.length))
            schema = schema or table.schema
            batches += Table(table.batches, schema).batches
    table = Table(batches, schema)
    if not kept:
        table = table.slice(0, 0)
    if columns is None or wanted is None:
        return table
    places = [table.schema.index(key) if key in keys else wanted.index(key) for key in columns]
    return table.select(places)


def checked_filters(filters: Filters) -> Alternatives:
    """The filters as a list of lists, with iterators of values for `in` turned into lists.

    Raises:
        TypeError: If there is something else than filters, or lists of them.
        ValueError: If one has an unknown comparison.
    """
    terms: Any = filters if isinstance(filters, list | tuple) else [None]
    alternatives = terms if all(isinstance(each, list) for each in terms) else [terms]
    for each in alternatives:
        if not each or not all(isinstance(one, tuple) and len(one) == 3 for one in each):
            raise TypeError(
                "filters: expected a list of triples, such as [('price', '>', 10)], or a list of such "
                f"lists, got {type(filters).__name__} {shown(filters)}"
            )
        for name, word, _ in each:
            if word not in _COMPARED:
                listed = ", ".join(_COMPARED)
                raise ValueError(f"filters: {name} {word!r}: expected one of {listed}")
    return [
        [(n, word, [*v] if isinstance(v, Iterator) else v) for n, word, v in each]
        for each in alternatives
    ]


def also(columns: Sequence[object] | None, filters: Alternatives) -> list[Any] | None:
    """The wanted columns, followed by those that only filters need."""
    if columns is None:
        return None
    needed = dict.fromkeys(name for each in filters for name, _, _ in each)
    return [*columns, *(name for name in needed if name not in columns)]


def filtered(table: Table, filters: Alternatives) -> Table:
    """The rows for which all filters of one list are true."""
    if not filters:
        return table
    masks = [
        reduce(and_kleene, [_COMPARED[word](table[name], value) for name, word, value in each])
        for each in filters
    ]
    rows: Table = filter(table, reduce(or_kleene, masks))
    return rows
