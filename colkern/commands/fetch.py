"""`colkern fetch URI`: what a service of the Dissociated IPC protocol has, into a file."""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from colkern.commands.failures import CommandError, UsageError
from colkern.commands.files import FORMATS, STANDARD, format_of, target_of, writing
from colkern.commands.output import printable, size_text
from colkern.commands.parser import positive_float
from colkern.commands.progress import Tell, progress_line
from colkern.commands.tokens import add_token, given_token
from colkern.errors import ColkernError, StreamError
from colkern.integration.places import placed

if TYPE_CHECKING:
    from colkern.arrays import RecordBatch
    from colkern.commands.conversion import Counts
    from colkern.dissociated import ServiceReader


Write = Callable[["ServiceReader", Iterator["RecordBatch"], str], "Counts"]
"""Does something with all batches of the service, and counts them."""


def add_command(commands: Any) -> None:
    """Add the subcommand to an argparse parser's subparsers."""
    parser = commands.add_parser(
        "fetch",
        help="fetch what `colkern serve` or a program serves",
        description="Fetch record batches by the Dissociated IPC protocol and write an Arrow file, an "
        "Arrow stream or (with pyarrow) a Parquet file, which appears when it is whole; without -o, "
        "print the schema and what there is. Quote the URI: a shell takes & for its own.",
    )
    parser.add_argument("uri", help="what the server has printed")
    parser.add_argument("name", nargs="?", default="", help="which of several files")
    parser.add_argument("-o", "--out", metavar="TARGET", help="- for standard output, a stream")
    parser.add_argument(
        "--to",
        choices=("file", "stream", "parquet"),
        help="what to write; else told by the target's suffix: "
        + ", ".join(f"{suffix} {format_}" for suffix, format_ in FORMATS.items()),
    )
    parser.add_argument("--data-uri", metavar="URI", help="where bodies come from, if elsewhere")
    parser.add_argument("--columns", metavar="A,B", help="these columns, in this order")
    add_token(parser, "what the server asks for")
    parser.add_argument(
        "--timeout",
        type=positive_float,
        default=30.0,
        metavar="SECONDS",
        help="for how long nothing may come (30)",
    )
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    write = _count if options.out is None else _writer(options)
    service = options.uri.partition("?")[0]
    with _naming(service):
        reader = _connected(options)
    with reader, progress_line() as tell:
        counts = write(reader, _received(reader, service, tell), service)
    if options.out is None:
        for field in reader.schema:
            print(printable(str(field)))
    if options.out != STANDARD:
        print(
            f"{printable(options.out or service)}: record batches: {counts.batches:,}, "
            f"rows: {counts.rows:,}; {size_text(_bytes_of(reader))} in bodies"
        )


def _count(reader: ServiceReader, batches: Iterator[RecordBatch], service: str) -> Counts:
    from colkern.commands.conversion import Counts

    counts = Counts(batches, service)
    for _ in counts:
        pass
    return counts


def _writer(options: argparse.Namespace) -> Write:
    """What writes to the target; raises `UsageError` if it cannot be written to."""
    from colkern.commands.conversion import WRITERS, Counts, Table
    from colkern.ipc.writing.data import carried_options

    target, format_ = target_of(options.out), options.to or format_of(options.out)

    def write(reader: ServiceReader, batches: Iterator[RecordBatch], service: str) -> Counts:
        counts = Counts(batches, service)
        table = Table(reader.schema, counts, options=carried_options(reader))
        try:
            with writing(options.out, service):
                WRITERS[format_](target, table, None, None)
        except ColkernError:
            raise
        except ValueError as error:
            raise CommandError(f"{options.out}: {error}") from error
        return counts

    return write


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
    """Errors within say which service they are about."""
    try:
        with placed(service):
            yield
    except StreamError as error:
        raise CommandError(f"{service}: {error.strerror}") from error
    except ColkernError:
        raise
    except OSError as error:
        raise CommandError(f"{service}: {error.strerror or error}") from error


def _received(reader: ServiceReader, service: str, tell: Tell) -> Iterator[RecordBatch]:
    """The batches as they come; how far they are is told, and the average rate."""
    begin = time.monotonic()
    rows = 0
    while True:
        with _naming(service):
            batch = next(reader, None)
        if batch is None:
            return
        yield batch
        rows += batch.num_rows
        rate = size_text(int(_bytes_of(reader) / max(time.monotonic() - begin, 1e-3)))
        tell(f"{service}: {rows:,} rows, {size_text(_bytes_of(reader))}, {rate}/s")


def _bytes_of(reader: ServiceReader) -> int:
    return reader.traffic.packed_bytes + reader.traffic.announced_bytes
