"""The format of a file, by the option `format` or by the file's name."""

from __future__ import annotations

import os
from collections.abc import Callable

from colkern.spark.source.arrow_files import ArrowFiles
from colkern.spark.source.contents import Files
from colkern.spark.source.line_files import COMPRESSED, CsvFiles, TextFiles
from colkern.spark.source.options import ReadOptions


def _parquet(_: ReadOptions) -> Files:
    # pyarrow's Parquet library is loaded only if there are such files.
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
    """Returns the reader for a file, by the format in the options, else by its name, else for Arrow."""
    name, suffix = os.path.splitext(path)
    if suffix in COMPRESSED:
        suffix = os.path.splitext(name)[1]
    return _FORMATS[options.format or _SUFFIXES.get(suffix.lower(), "arrow")](options)
