"""The options of the data source, out of the strings in which Spark passes them."""

from __future__ import annotations

import dataclasses
import difflib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
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
    """A field that is read from the option of some name."""
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


def _count_or_zero(name: str, value: str) -> int:
    return _count(name, value, least=0)


def _names(name: str, value: str) -> tuple[str, ...]:
    """Names separated by commas, or a JSON list where a name has a comma itself."""
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
    """The files that are read, and how they are cut into partitions.

    Args:
        paths: Absolute paths of files and directories, and globs.
        columns: The names of the columns that are read; None for all.
        partition_bytes: About how many bytes of these columns make a Spark partition.
        merge_schema: Whether files may lack columns that others have.
        recursive: Whether directories below the given ones are read.
        name_glob: The pattern that names of files in directories must match; None for any name.
        filters: Conditions that all rows must pass, in JSON; see `predicates`.
        pushdown: Whether filters are taken over from Spark.
        format: The format of all files; None to tell it by their names.
        delimiter: What stands between the values of a CSV file.
        column_names: The names of the columns of CSV files, which have no line of names then.
        multi_line: Whether CSV files are read whole, since a value may have several lines.
        max_files: How many new files a batch of a stream has at most; 0 for all.
        late_seconds: How much older than the files before it a new file of a stream may be.
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
        """From Spark's options, whose names are case-insensitive."""
        values = _known(options)
        return cls(_paths(values), **_read(cls, values))


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """The directory that is written to, and how.

    Args:
        path: The directory.
        compression: The codec of buffers; None for plain ones.
        batch_rows: How many rows a record batch has.
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
        """From Spark's options, whose names are case-insensitive.

        Raises:
            ValueError: If there is not one path, or an option has a value that it cannot have.
            UnsupportedError: If it is not on a file system of the machine.
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
    """Raise ValueError if neither the data source nor streaming queries have an option of some name."""
    # Names are case-insensitive. Options for writing may be given for reading too, and the other way round:
    # a session may have them all in one place.
    known = {name.lower(): name for name in (*_PATHS, *_OPTIONS, *_OF_STREAMS)}
    given = {name.lower(): name for name in names}
    # Of a table in the catalog, Spark passes all properties as options: its owner, its comment, users' own.
    if not given.keys().isdisjoint(_OF_TABLES):
        return
    for name in given.values():
        if name.lower() in known:
            continue
        near = difflib.get_close_matches(name.lower(), known, 1)
        instead = f"did you mean {known[near[0]]}?" if near else f"there are {', '.join(_OPTIONS)}"
        raise ValueError(f"option {name}: there is no such option; {instead}")


def _known(options: Mapping[str, str]) -> dict[str, str]:
    require_known(options)
    return {name.lower(): value for name, value in options.items()}


def _read(kind: type[ReadOptions | WriteOptions], values: Mapping[str, str]) -> dict[str, Any]:
    """The fields whose options have a value."""
    fields = [(field.name, field.metadata) for field in dataclasses.fields(kind) if field.metadata]
    return {
        field: option["read"](option["name"], values[option["name"].lower()])
        for field, option in fields
        if values.get(option["name"].lower()) is not None
    }


def _paths(values: Mapping[str, str]) -> tuple[str, ...]:
    """Spark passes one path as `path`, several as a JSON list in `paths`."""
    if values.get("paths") is not None:
        paths = _json_list("paths", values["paths"])
    elif values.get("path"):
        paths = (values["path"],)
    else:
        raise ValueError("path: expected a file or a directory, as in load(path) or save(path)")
    return tuple(map(local_path, paths))


def local_path(path: str) -> str:
    """The absolute path of a path or a `file:` address; relative ones begin at the driver's directory."""
    if not _SCHEME.match(path):
        return os.path.abspath(path)
    parts = urlsplit(path)
    if parts.scheme.lower() != "file" or parts.netloc not in ("", "localhost"):
        raise UnsupportedError(
            f"{path}: the data source reads and writes file systems that are mounted on the driver "
            f"and on the executors; mount this one, and give the path"
        )
    return os.path.abspath(unquote(path[len(parts.scheme) + 1 :].removeprefix(f"//{parts.netloc}")))
