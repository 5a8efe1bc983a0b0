"""The formats of files, by the option or by the names of files."""

from __future__ import annotations

import os
from collections.abc import Callable

from colkern.spark.source.arrow_files import ArrowFiles
from colkern.spark.source.contents import Files
from colkern.spark.source.line_files import COMPRESSED, CsvFiles, TextFiles
from colkern.spark.source.options import ReadOptions


def _parquet(_: ReadOptions) -> Files:
    # Its library is loaded where there are such files alone.
    from colkern.spark.source.parquet_files import ParquetFiles

    return ParquetFiles()


_FORMATS: dict[str, Callable[[ReadOptions], Files]] = {
    "arrow": lambda _: ArrowFiles(),
    "parquet": _parquet,
    "csv": CsvFiles,
    "text": TextFiles,
}

_SUFFIXES: dict[str, str] = {
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    ".csv": "csv",
    **dict.fromkeys((".txt", ".text", ".log"), "text"),
}


def files_of(path: str, options: ReadOptions) -> Files:
    """The reader of a file: of the format in the options, else of the one its name suggests, else Arrow."""
    name, suffix = os.path.splitext(path)
    if suffix in COMPRESSED:
        suffix = os.path.splitext(name)[1]
    return _FORMATS[options.format or _SUFFIXES.get(suffix.lower(), "arrow")](options)
