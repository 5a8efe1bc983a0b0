"""`colkern info`: what files hold, by their metadata; without a file, what colkern runs on."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from typing import Any

from colkern.commands.description import KEYS, describe
from colkern.commands.failures import BAD_DATA, DATA_ERRORS, report
from colkern.commands.files import opened, size_of
from colkern.commands.machine import print_machine
from colkern.commands.output import (
    counted,
    cut,
    print_json,
    print_rows,
    printable,
    size_text,
)

_MOST_COLUMNS, _MOST_BATCHES, _MOST_METADATA = 40, 10, 100
"""How many columns, batches and characters of metadata are shown without `--all`."""

_TEXTS = {"column", "type", "columns"}
_NUMBERS = {"nulls", "rows", "body", "uncompressed", "values", "batches", "deltas", "replaced"}


def add_command(commands: Any) -> None:
    """Add the subcommand to an argparse parser's subparsers."""
    parser = commands.add_parser(
        "info",
        help="schema, batches, codecs, sizes, null counts of files; without a file: versions, "
        "cache, devices",
        description="What Arrow files and streams hold, by their metadata: no column is read. "
        "Without a file: versions, cache, devices.",
        epilog=KEYS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="Arrow files or streams; - for standard input"
    )
    parser.add_argument(
        "--all", action="store_true", help="all columns and batches, and texts uncut"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document a line for each")
    parser.set_defaults(run=_run)


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


def _print_document(document: Mapping[str, Any], *, show_all: bool) -> None:
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
    _print_columns(document["columns"], show_all)
    _print_batches(batches, show_all)
    _print_dictionaries(document["dictionaries"], show_all)
    _print_metadata("schema metadata", document["metadata"], show_all)
    _print_metadata("footer metadata", document["footer_metadata"] or {}, show_all)


def _print_columns(columns: list[dict[str, Any]], show_all: bool) -> None:
    shown = columns if show_all else columns[:_MOST_COLUMNS]
    _print_rows(
        ("column", "type", "nullable", "nulls", "metadata"),
        (
            (
                column["name"],
                column["type"],
                "yes" if column["nullable"] else "no",
                "?" if column["null_count"] is None else f"{column['null_count']:,}",
                str(len(column["metadata"]) or ""),
            )
            for column in shown
        ),
        show_all,
    )
    _print_left(len(columns) - len(shown), "column", "columns")
    if show_all:
        for column in columns:
            _print_metadata(f"metadata of {column['name']}", column["metadata"], show_all)


def _print_batches(batches: list[dict[str, Any]], show_all: bool) -> None:
    shown = batches if show_all else batches[:_MOST_BATCHES]
    _print_rows(
        ("batch", "rows", "body", "uncompressed", "codec", "metadata"),
        (
            (
                str(number),
                f"{batch['rows']:,}",
                size_text(batch["body_bytes"]),
                size_text(batch["uncompressed_bytes"]),
                batch["compression"] or "",
                str(len(batch["metadata"]) or ""),
            )
            for number, batch in enumerate(shown)
        ),
        show_all,
    )
    _print_left(len(batches) - len(shown), "batch", "batches")


def _print_dictionaries(dictionaries: list[dict[str, Any]], show_all: bool) -> None:
    shown = dictionaries if show_all else dictionaries[:_MOST_BATCHES]
    _print_rows(
        ("dictionary", "columns", "values", "batches", "deltas", "replaced", "body"),
        (
            (
                str(dictionary["id"]),
                ", ".join(dictionary["fields"]),
                f"{dictionary['values']:,}",
                f"{dictionary['batches']:,}",
                f"{dictionary['deltas']:,}",
                f"{dictionary['replacements']:,}",
                size_text(dictionary["body_bytes"]),
            )
            for dictionary in shown
        ),
        show_all,
    )
    _print_left(len(dictionaries) - len(shown), "dictionary", "dictionaries")


def _print_rows(head: tuple[str, ...], rows: Iterable[tuple[str, ...]], show_all: bool) -> None:
    texts = [name for name in head if name in _TEXTS]
    print_rows(head, rows, texts=texts, numbers=_NUMBERS, fold=show_all)


def _print_left(count: int, noun: str, plural: str) -> None:
    if count:
        print(f"… {counted(count, f'more {noun}', f'more {plural}')}: --all shows them")


def _print_metadata(title: str, metadata: Mapping[str, str], show_all: bool) -> None:
    if not metadata:
        return
    print(f"{printable(title)}:")
    for key, value in metadata.items():
        text = value if show_all else cut(value, _MOST_METADATA)
        print(f"  {printable(key)}: {printable(text)}")
