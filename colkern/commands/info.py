"""`colkern info`: the contents of files, from their metadata; without a file, this machine."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping

from colkern.commands.description import KEYS, Document, describe
from colkern.commands.failures import BAD_DATA, DATA_ERRORS, report
from colkern.commands.files import opened, size_of
from colkern.commands.output import counted, cut, print_json, print_rows, printable, size_text
from colkern.commands.parser import Commands, new_command


def print_machine(*, as_json: bool) -> None:
    """Print the versions, the machine, the devices and the cache.

    Args:
        as_json: Whether to print one object: `versions` (name → release), `processor`, `cores`,
            `memory_bytes`, `system`, `cuda` (why it is unavailable, or null), `cache` (a path).
    """
    from colkern.cache import cache_dir
    from colkern.machine import machine, versions

    here, releases, without_cuda = machine(), versions(), _why_no_cuda()
    if as_json:
        print_json({"versions": releases, **here, "cuda": without_cuda, "cache": str(cache_dir())})
        return
    facts = {
        **releases,
        "processor": f"{here['processor']}, {here['cores']} cores",
        "memory": size_text(here["memory_bytes"]),
        "system": here["system"],
        "cuda": "available" if without_cuda is None else f"unavailable: {without_cuda}",
        "cache": str(cache_dir()),
    }
    # Not as a table, which would cut paths, so that paths can be copied.
    width = max(map(len, facts))
    for name, value in facts.items():
        print(f"{name:<{width}} {printable(value)}")


def _why_no_cuda() -> str | None:
    from colkern.cuda.memory import require_device
    from colkern.errors import DeviceUnavailableError

    try:
        require_device()
    except DeviceUnavailableError as error:
        return " ".join(str(error).split())
    return None


_MOST_COLUMNS, _MOST_BATCHES, _MOST_METADATA = 40, 10, 100
"""The numbers of columns, batches and characters of metadata shown without `--all`."""

_TEXTS = {"column", "type", "columns"}
_NUMBERS = {"nulls", "rows", "body", "uncompressed", "values", "batches", "deltas", "replaced"}


def add_command(commands: Commands) -> None:
    parser = new_command(
        commands,
        "info",
        _run,
        "print schema, batches, codecs, sizes and null counts of files; or facts about this machine",
        "Print the contents of Arrow files and streams, from their metadata: no column is read.\n"
        "Without a file: versions, cache, devices.",
        KEYS,
    )
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="Arrow files or streams; - for standard input"
    )
    parser.add_argument(
        "--all", action="store_true", help="print all columns and batches, and do not cut texts"
    )
    parser.add_argument("--json", action="store_true", help="print one line of JSON per file")


def _run(options: argparse.Namespace) -> int | None:
    if not options.files:
        print_machine(as_json=options.json)
        return None
    status = None
    for number, name in enumerate(options.files):
        try:
            size = size_of(name)
            with opened(name) as reader:
                document = describe(name, reader, size)
        except DATA_ERRORS as error:
            report(error)
            status = BAD_DATA
            continue
        if options.json:
            print_json(document)
        else:
            print(end="\n" if number else "")
            _print_document(document, show_all=options.all)
    return status


def _print_document(document: Document, *, show_all: bool) -> None:
    batches = document["record_batches"]
    size = "" if document["size"] is None else f", {size_text(document['size'])}"
    codecs = sorted({batch["compression"] or "not compressed" for batch in batches})
    print(f"{printable(document['file'])}: Arrow IPC {document['format']}{size}")
    print(
        f"{counted(document['rows'], 'row')}, "
        f"{counted(len(document['columns']), 'column')}, "
        f"{counted(len(batches), 'record batch', 'record batches')}"
    )
    print(
        f"bodies: {size_text(document['body_bytes'])}"
        f"{''.join(f', {codec}' for codec in codecs)}; "
        f"buffers: {size_text(document['uncompressed_bytes'])} uncompressed"
    )
    columns, dictionaries = document["columns"], document["dictionaries"]
    most_columns, most_batches = (None, None) if show_all else (_MOST_COLUMNS, _MOST_BATCHES)
    _print_table(_COLUMN, columns, most_columns, "column", "columns")
    if show_all:
        for column in columns:
            _print_metadata(f"metadata of {column['name']}", column["metadata"], show_all)
    _print_table(_BATCH, batches, most_batches, "batch", "batches")
    _print_table(_DICTIONARY, dictionaries, most_batches, "dictionary", "dictionaries")
    _print_metadata("schema metadata", document["metadata"], show_all)
    _print_metadata("footer metadata", document["footer_metadata"] or {}, show_all)


Cells = dict[str, Callable[[int, Document], str]]
"""For each column's head, a function from the number and entry of an item to the text of its cell."""

_COLUMN: Cells = {
    "column": lambda number, column: column["name"],
    "type": lambda number, column: column["type"],
    "nullable": lambda number, column: "yes" if column["nullable"] else "no",
    "nulls": lambda number, column: (
        "?" if column["null_count"] is None else f"{column['null_count']:,}"
    ),
    "metadata": lambda number, column: str(len(column["metadata"]) or ""),
}
_BATCH: Cells = {
    "batch": lambda number, batch: str(number),
    "rows": lambda number, batch: f"{batch['rows']:,}",
    "body": lambda number, batch: size_text(batch["body_bytes"]),
    "uncompressed": lambda number, batch: size_text(batch["uncompressed_bytes"]),
    "codec": lambda number, batch: batch["compression"] or "",
    "metadata": lambda number, batch: str(len(batch["metadata"]) or ""),
}
_DICTIONARY: Cells = {
    "dictionary": lambda number, dictionary: str(dictionary["id"]),
    "columns": lambda number, dictionary: ", ".join(dictionary["fields"]),
    "values": lambda number, dictionary: f"{dictionary['values']:,}",
    "batches": lambda number, dictionary: f"{dictionary['batches']:,}",
    "deltas": lambda number, dictionary: f"{dictionary['deltas']:,}",
    "replaced": lambda number, dictionary: f"{dictionary['replacements']:,}",
    "body": lambda number, dictionary: size_text(dictionary["body_bytes"]),
}


def _print_table(
    cells: Cells, items: list[Document], most: int | None, noun: str, plural: str
) -> None:
    """Print a row for each item, or for the first `most` of them."""
    shown = items[:most]
    print_rows(
        list(cells),
        ([text(number, item) for text in cells.values()] for number, item in enumerate(shown)),
        texts=[name for name in cells if name in _TEXTS],
        numbers=_NUMBERS,
        fold=most is None,
    )
    left = len(items) - len(shown)
    if left:
        print(f"… {counted(left, f'more {noun}', f'more {plural}')}: --all shows them")


def _print_metadata(title: str, metadata: Mapping[str, str], show_all: bool) -> None:
    if not metadata:
        return
    print(f"{printable(title)}:")
    for key, value in metadata.items():
        text = value if show_all else cut(value, _MOST_METADATA)
        print(f"  {printable(key)}: {printable(text)}")
