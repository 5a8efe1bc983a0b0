"""Parses the options of the data source from the strings in which Spark passes them."""

from __future__ import annotations

import dataclasses
import difflib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar
from urllib.parse import unquote, urlsplit

from colkern.errors import UnsupportedError

Value = TypeVar("Value")

_PATHS = ("path", "paths")

_OF_STREAMS = (
    *("queryName", "outputMode", "recoverFromCheckpointLocation", "useTempCheckpointLocation"),
    *("asyncProgressTrackingEnabled", "asyncProgressTrackingCheckpointIntervalMs"),
    "_asyncProgressTrackingOverrideSinkSupportCheck",
)
"""Options of streaming queries, which Spark passes on to the sink."""

_OF_TABLES = ("owner", "provider", "location")

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")


def _option(name: str, read: Callable[[str, str], Value], default: Value) -> Value:
    """Declares a field that is read from the option `name`."""
    value: Value = dataclasses.field(default=default, metadata={"name": name, "read": read})
    return value


def _text(_: str, value: str) -> str:
    return value


def _flag(name: str, value: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise ValueError(f"option {name}: expected true or false, got {value!r}")
    return value.lower() == "true"


def _count(name: str, value: str, least: int = 1) -> int:
    try:
        number = int(value)
    except ValueError:
        number = least - 1
    if number < least:
        raise ValueError(f"option {name}: expected a number from {least} on, got {value!r}")
    return number


_count_or_zero = partial(_count, least=0)


def _names(name: str, value: str) -> tuple[str, ...]:
    """Reads names separated by commas, or a JSON list, for names that contain a comma."""
    if not value.lstrip().startswith("["):
        return tuple(part.strip() for part in value.split(","))
    return _json_list(name, value)


def _json_list(name: str, value: str) -> tuple[str, ...]:
    try:
        items = json.loads(value)
    except ValueError:
        items = None
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise ValueError(f"option {name}: expected a JSON list of strings, got {value!r}")
    return tuple(items)


FORMATS = ("arrow", "parquet", "csv", "text")


def _format(name: str, value: str) -> str:
    if value.lower() not in FORMATS:
        raise ValueError(f"option {name}: expected one of {', '.join(FORMATS)}, got {value!r}")
    return value.lower()


def _character(name: str, value: str) -> str:
    if len(value) != 1 or not value.isascii():
        raise ValueError(f"option {name}: expected a character of ASCII, got {value!r}")
    return value


Codec = Literal["lz4", "zstd"]


def _codec(name: str, value: str) -> Codec | None:
    codecs: dict[str, Codec | None] = {"none": None, "lz4": "lz4", "zstd": "zstd"}
    value = value.lower() or "none"
    if value not in codecs:
        raise ValueError(f"option {name}: expected one of {', '.join(codecs)}, got {value!r}")
    return codecs[value]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The files to read, and their division into partitions.

    Args:
        paths: Absolute paths of files and directories, and globs.
        columns: The names of the columns to read; None for all.
        partition_bytes: The approximate number of bytes of these columns in a Spark partition.
        merge_schema: Whether files may lack columns that others have.
        recursive: Whether directories below the given ones are read.
        name_glob: The pattern that names of files in directories must match; None for any name.
        filters: Conditions that all rows must pass, in JSON; see `filters`.
        pushdown: Whether filters are taken over from Spark.
        format: The format of all files; None to infer it from their names.
        delimiter: The separator of values in CSV files.
        column_names: The names of the columns of CSV files that have no line of names.
        multi_line: Whether CSV files are read whole, since a value may have several lines.
        max_files: The largest number of new files in a batch of a stream; 0 for all.
        late_seconds: The largest age of a new file of a stream, compared with the files before it.
    """

    paths: tuple[str, ...]
    columns: tuple[str, ...] | None = _option("columns", _names, None)
    partition_bytes: int = _option("partitionBytes", _count, 32 << 20)
    merge_schema: bool = _option("mergeSchema", _flag, False)
    recursive: bool = _option("recursiveFileLookup", _flag, False)
    name_glob: str | None = _option("pathGlobFilter", _text, None)
    filters: str | None = _option("filters", _text, None)
    pushdown: bool = _option("pushdown", _flag, False)
    format: str | None = _option("format", _format, None)
    delimiter: str = _option("delimiter", _character, ",")
    column_names: tuple[str, ...] | None = _option("columnNames", _names, None)
    multi_line: bool = _option("multiLine", _flag, False)
    max_files: int = _option("maxFilesPerTrigger", _count_or_zero, 0)
    late_seconds: int = _option("lateSeconds", _count_or_zero, 600)

    @classmethod
    def of(cls, options: Mapping[str, str]) -> ReadOptions:
        """Parses Spark's options, whose names are case-insensitive."""
        values = _known(options)
        return cls(_paths(values), **_read(cls, values))


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """The directory to write to, and the form of the files.

    Args:
        compression: The codec of buffers; None for no compression.
        batch_rows: The number of rows in a record batch.
        statistics: Whether each batch has statistics of its columns.
        checkpoint: The checkpoint of a streaming query; None if only the session's settings name it.
    """

    path: str
    compression: Literal["lz4", "zstd"] | None = _option("compression", _codec, None)
    batch_rows: int = _option("batchRows", _count, 1 << 16)
    statistics: bool = _option("statistics", _flag, True)
    checkpoint: str | None = _option("checkpointLocation", _text, None)

    @classmethod
    def of(cls, options: Mapping[str, str]) -> WriteOptions:
        """Parses Spark's options, whose names are case-insensitive.

        Raises:
            ValueError: If there is not exactly one path, or an option has an invalid value.
            UnsupportedError: If the path is not on a local or mounted file system.
        """
        values = _known(options)
        paths = _paths(values)
        if len(paths) != 1:
            raise ValueError(f"path: expected one directory to write to, got {len(paths)}")
        return cls(paths[0], **_read(cls, values))


_OPTIONS = tuple(
    field.metadata["name"]
    for kind in (ReadOptions, WriteOptions)
    for field in dataclasses.fields(kind)
    if field.metadata
)


def require_known(names: Iterable[str]) -> None:
    """Raise ValueError for a name that is no option of the data source or of streaming queries."""
    # Names are case-insensitive. Options for writing may be given when reading and the reverse, since a
    # session may keep all options in one place.
    known = {name.lower(): name for name in (*_PATHS, *_OPTIONS, *_OF_STREAMS)}
    options = {name.lower(): name for name in names}
    # For a table in the catalog, Spark passes all properties as options: owner, comment, users' own.
    if not options.keys().isdisjoint(_OF_TABLES):
        return
    for name in options.values():
        if name.lower() in known:
            continue
        near = difflib.get_close_matches(name.lower(), known, 1)
        instead = f"did you mean {known[near[0]]}?" if near else f"there are {', '.join(_OPTIONS)}"
        raise ValueError(f"option {name}: there is no such option; {instead}")


def _known(options: Mapping[str, str]) -> dict[str, str]:
    require_known(options)
    return {name.lower(): value for name, value in options.items()}


def _read(kind: type[ReadOptions | WriteOptions], values: Mapping[str, str]) -> dict[str, Any]:
    """Returns the fields whose options have a value."""
    fields = [(field.name, field.metadata) for field in dataclasses.fields(kind) if field.metadata]
    return {
        field: option["read"](option["name"], values[option["name"].lower()])
        for field, option in fields
        if values.get(option["name"].lower()) is not None
    }


def _paths(values: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the paths. Spark passes one path as `path`, several as a JSON list in `paths`."""
    if values.get("paths") is not None:
        paths = _json_list("paths", values["paths"])
    elif values.get("path"):
        paths = (values["path"],)
    else:
        raise ValueError("path: expected a file or a directory, as in load(path) or save(path)")
    return tuple(map(local_path, paths))


def local_path(path: str) -> str:
    """Returns the absolute path of a path or a `file:` address; relative to the driver's directory."""
    if not _SCHEME.match(path):
        return os.path.abspath(path)
    parts = urlsplit(path)
    if parts.scheme.lower() != "file" or parts.netloc not in ("", "localhost"):
        raise UnsupportedError(
            f"{path}: the data source reads and writes file systems that are mounted on the driver "
            f"and on the executors; mount this one, and give the path"
        )
    return os.path.abspath(unquote(path[len(parts.scheme) + 1 :].removeprefix(f"//{parts.netloc}")))
