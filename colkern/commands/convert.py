"""`colkern convert SOURCE TARGET`: from one format or codec to another, Parquet included."""

from __future__ import annotations

import argparse

from colkern.commands.files import STANDARD, add_format, chosen_target
from colkern.commands.output import printable
from colkern.commands.parser import Commands, codec_and_level, new_command, positive


def add_command(commands: Commands) -> None:
    parser = new_command(
        commands,
        "convert",
        _run,
        "convert between Arrow files, Arrow streams and Parquet, or to another codec",
        "Write an Arrow file, an Arrow stream or (with pyarrow) a Parquet file as another of them. "
        "A target that is a file appears when it is whole.",
    )
    parser.add_argument(
        "source", help="a file, whose content tells its format; - for standard input"
    )
    parser.add_argument("target", help="- for standard output, a stream by default")
    add_format(parser)
    parser.add_argument(
        "--compression",
        metavar="CODEC[:LEVEL]",
        help="none, lz4 or zstd; by default none for Arrow, and pyarrow's default for Parquet",
    )
    parser.add_argument(
        "--batch-rows",
        type=positive,
        metavar="N",
        help="cut and join batches to N rows each; the last one has the rest",
    )


def _run(options: argparse.Namespace) -> None:
    target = chosen_target(options.target, options.to)
    codec, level = codec_and_level(options.compression)
    from colkern.commands.conversion import opened_table, rechunked, write_table

    # In a file, a dictionary has one state; Parquet's row groups have separate dictionaries.
    with opened_table(options.source, unify_dictionaries=target.format == "file") as table:
        if options.batch_rows:
            table.batches = rechunked(table.batches, options.batch_rows)
        counts = write_table(target, table, options.source, codec, level)
    if target.name != STANDARD:
        print(
            f"{printable(target.name)}: {target.format}; record batches: {counts.batches:,}, "
            f"rows: {counts.rows:,}"
        )
