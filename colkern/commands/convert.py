"""`colkern convert SOURCE TARGET`: between files, streams, codecs, and Parquet."""

from __future__ import annotations

import argparse
from typing import Any

from colkern.commands.codecs import codec_and_level
from colkern.commands.failures import CommandError
from colkern.commands.files import FORMATS, STANDARD, format_of, target_of, writing
from colkern.commands.output import printable
from colkern.commands.parser import positive
from colkern.errors import ColkernError


def add_command(commands: Any) -> None:
    """Add the subcommand to an argparse parser's subparsers."""
    parser = commands.add_parser(
        "convert",
        help="Arrow file, Arrow stream, Parquet: from one to another, with another codec",
        description="Write an Arrow file, an Arrow stream or (with pyarrow) a Parquet file as "
        "another of them. A target that is a file appears when it is whole.",
    )
    parser.add_argument("source", help="told by its content; - for standard input")
    parser.add_argument("target", help="- for standard output, a stream without --to")
    parser.add_argument(
        "--to",
        choices=("file", "stream", "parquet"),
        help="what to write; else told by the target's suffix: "
        + ", ".join(f"{suffix} {format_}" for suffix, format_ in FORMATS.items()),
    )
    parser.add_argument(
        "--compression",
        metavar="CODEC[:LEVEL]",
        help="none, lz4 or zstd; else none for Arrow, pyarrow's default for Parquet",
    )
    parser.add_argument(
        "--batch-rows",
        type=positive,
        metavar="N",
        help="cut and join batches to N rows each, the last one to what is left",
    )
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    format_ = options.to or format_of(options.target)
    compression, level = codec_and_level(options.compression)
    target = target_of(options.target)
    from colkern.commands.conversion import WRITERS, Counts, opened_table, rechunked

    # In a file a dictionary has one state, which Parquet's row groups do not share.
    with opened_table(options.source, unify_dictionaries=format_ == "file") as table:
        if options.batch_rows:
            table.batches = rechunked(table.batches, options.batch_rows)
        counts = Counts(table.batches, options.source)
        table.batches = counts
        try:
            with writing(options.target, options.source):
                WRITERS[format_](target, table, compression, level)
        except ColkernError:
            raise
        except ValueError as error:
            raise CommandError(f"{options.target}: {error}") from error
    if options.target != STANDARD:
        print(
            f"{printable(options.target)}: {format_}; record batches: {counts.batches:,}, "
            f"rows: {counts.rows:,}"
        )
