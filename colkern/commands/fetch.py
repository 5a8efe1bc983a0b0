"""`colkern fetch URI`: fetches from a service of the Dissociated IPC protocol, into a file."""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from colkern.commands.failures import CommandError, UsageError, system_errors_of
from colkern.commands.files import STANDARD, add_format, chosen_target
from colkern.commands.output import Update, printable, progress_line, size_text
from colkern.commands.parser import Commands, add_timeout, add_token, given_token, new_command
from colkern.errors import ColkernError, StreamError, placed

if TYPE_CHECKING:
    from colkern.arrays import RecordBatch
    from colkern.dissociated import ServiceReader


def add_command(commands: Commands) -> None:
    parser = new_command(
        commands,
        "fetch",
        _run,
        "fetch a table from `colkern serve`, or from another service",
        "Fetch record batches by the Dissociated IPC protocol and write an Arrow file, an Arrow "
        "stream or (with pyarrow) a Parquet file, which appears when it is complete. Without -o, print "
        "the schema and the counts. Quote the URI: & has a meaning in shells.",
    )
    parser.add_argument("uri", help="the URI that the server has printed")
    parser.add_argument(
        "name", nargs="?", default="", help="the name of the file, if several are served"
    )
    parser.add_argument(
        "-o", "--out", metavar="TARGET", help="the file to write; - for standard output"
    )
    add_format(parser)
    parser.add_argument("--data-uri", metavar="URI", help="the URI of a service of bodies")
    parser.add_argument("--columns", metavar="A,B", help="the columns to fetch, in this order")
    add_token(parser, "the token that the server requires")
    add_timeout(parser, "the longest time without an answer of the server")


def _run(options: argparse.Namespace) -> None:
    from colkern.commands.conversion import Counts, Table, write_table
    from colkern.ipc.writing.data import carried_options

    target = None if options.out is None else chosen_target(options.out, options.to)
    service = options.uri.partition("?")[0]
    with _naming(service):
        reader = _connected(options)
    with reader, progress_line("spinner") as update:
        batches = _received(reader, service, update)
        if target is None:
            counts = Counts(batches, service)
            for _ in counts:
                pass
        else:
            table = Table(reader.schema, batches, options=carried_options(reader))
            counts = write_table(target, table, service)
    if target is None:
        for field in reader.schema:
            print(printable(str(field)))
    if options.out != STANDARD:
        print(
            f"{printable(options.out or service)}: record batches: {counts.batches:,}, "
            f"rows: {counts.rows:,}; {size_text(_body_bytes(reader))} in bodies"
        )


def _connected(options: argparse.Namespace) -> ServiceReader:
    from colkern.dissociated import connect, parse_uri

    try:
        for uri in filter(None, (options.uri, options.data_uri)):
            parse_uri(uri)
    except ValueError as error:
        raise UsageError(str(error)) from None
    try:
        return connect(
            options.uri,
            options.name,
            data_uri=options.data_uri,
            columns=None if options.columns is None else options.columns.split(","),
            token=given_token(options),
            timeout=options.timeout,
        )
    except ColkernError:
        raise
    except KeyError as error:
        raise UsageError(f"--columns: {error.args[0]}") from None
    except ValueError as error:
        raise UsageError(str(error)) from None


@contextlib.contextmanager
def _naming(service: str) -> Iterator[None]:
    """Errors raised within name the service."""
    try:
        with system_errors_of(service), placed(service):
            yield
    except StreamError as error:
        raise CommandError(f"{service}: {error.strerror}") from error


def _received(reader: ServiceReader, service: str, update: Update) -> Iterator[RecordBatch]:
    """Yields the batches as they come; the progress line shows their count and the average rate."""
    begin = time.monotonic()
    rows = 0
    while True:
        with _naming(service):
            batch = next(reader, None)
        if batch is None:
            return
        yield batch
        rows += batch.num_rows
        done = _body_bytes(reader)
        rate = size_text(int(done / max(time.monotonic() - begin, 1e-3)))
        update(description=f"{service}: {rows:,} rows, {size_text(done)}, {rate}/s")


def _body_bytes(reader: ServiceReader) -> int:
    return reader.traffic.packed_bytes + reader.traffic.announced_bytes
