"""The options of the data source, out of the strings in which Spark passes them."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from colkern.spark.source.paths import local_path

PARTITION_BYTES = 32 << 20
"""About how many bytes of the columns that are read make one Spark partition."""

BATCH_ROWS = 1 << 16
"""How many rows a written record batch has."""

LATE_SECONDS = 600
"""How much older than the files before it a file may be that a stream still takes for a new one."""

_PATHS = ("path", "paths")
_READING = (
    *(
        "columns",
        "partitionBytes",
        "mergeSchema",
        "recursiveFileLookup",
        "pathGlobFilter",
        "filters",
    ),
    *("pushdown", "maxFilesPerTrigger", "lateSeconds"),
)
_WRITING = ("compression", "batchRows", "statistics", "checkpointLocation")
_OPTIONS = (*_READING, *_WRITING)

_OF_STREAMS = (
    *("queryName", "outputMode", "recoverFromCheckpointLocation", "useTempCheckpointLocation"),
    *("asyncProgressTrackingEnabled", "asyncProgressTrackingCheckpointIntervalMs"),
    "_asyncProgressTrackingOverrideSinkSupportCheck",
)
"""What Spark takes as options of a streaming query, and passes on to the sink."""

_OF_TABLES = ("owner", "provider", "location")

_FLAGS = {"true": True, "false": False}
_CODECS = ("none", "lz4", "zstd")


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What is read, and how it is cut up.

    Args:
        paths: Files, directories and globs, from the root on.
        columns: The names of the columns that are read; None for all.
        partition_bytes: See `PARTITION_BYTES`.
        merge_schema: Whether files may lack columns that others have.
        recursive: Whether directories below the given ones are looked into.
        name_glob: The pattern that names of files in directories must match; None for any name.
        filters: Conditions that all rows must pass, in JSON; see `predicates`.
        pushdown: Whether filters are taken over from Spark.
        max_files: How many new files a batch of a stream has at most; None for all.
        late_seconds: See `LATE_SECONDS`.
    """

    paths: tuple[str, ...]
    columns: tuple[str, ...] | None = None
    partition_bytes: int = PARTITION_BYTES
    merge_schema: bool = False
    recursive: bool = False
    name_glob: str | None = None
    filters: str | None = None
    pushdown: bool = False
    max_files: int | None = None
    late_seconds: int = LATE_SECONDS

    @classmethod
    def of(cls, options: Mapping[str, str]) -> ReadOptions:
        """From Spark's options, whose names have no case.

        Raises:
            ValueError: If there is no path, or an option has a value that it cannot have.
            UnsupportedError: If a path is on no file system of the machine's.
        """
        found = _Options(options)
        return cls(
            tuple(map(local_path, found.paths())),
            found.names("columns"),
            found.count("partitionBytes", PARTITION_BYTES),
            found.flag("mergeSchema", False),
            found.flag("recursiveFileLookup", False),
            found.text("pathGlobFilter"),
            found.text("filters"),
            found.flag("pushdown", False),
            found.count("maxFilesPerTrigger", 0, least=0) or None,
            found.count("lateSeconds", LATE_SECONDS, least=0),
        )


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """What is written, and where.

    Args:
        path: The directory.
        compression: "lz4", "zstd", or None for plain buffers.
        batch_rows: How many rows a record batch has.
        statistics: Whether each batch says between which values its columns lie.
        checkpoint: The directory in which a streaming query keeps how far it is; None if only the
            session's settings say where.
    """

    path: str
    compression: Any = None
    batch_rows: int = BATCH_ROWS
    statistics: bool = True
    checkpoint: str | None = None

    @classmethod
    def of(cls, options: Mapping[str, str]) -> WriteOptions:
        """From Spark's options, whose names have no case.

        Raises:
            ValueError: If there is not one path, or an option has a value that it cannot have.
            UnsupportedError: If it is on no file system of the machine's.
        """
        found = _Options(options)
        paths = found.paths()
        if len(paths) != 1:
            raise ValueError(f"path: expected one directory to write to, got {len(paths)}")
        codec = found.choice("compression", _CODECS)
        return cls(
            local_path(paths[0]),
            None if codec == "none" else codec,
            found.count("batchRows", BATCH_ROWS),
            found.flag("statistics", True),
            found.text("checkpointLocation"),
        )


def require_known(names: Iterable[str]) -> None:
    """Check that the data source, or a streaming query of Spark's, has options of some names.

    Names have no case.

    Those for writing may be given for reading too, and the other way round: a session may have them all
    in one place.

    Raises:
        ValueError: If there is no such option; with the one that was meant, if that can be told.
    """
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


class _Options:
    """Reads options of one kind or another, and says which of them is wrong."""

    def __init__(self, options: Mapping[str, str]) -> None:
        require_known(options)
        self._values = {name.lower(): value for name, value in options.items()}

    def text(self, name: str) -> str | None:
        return self._values.get(name.lower())

    def flag(self, name: str, default: bool) -> bool:
        value = self.text(name)
        if value is None:
            return default
        if value.lower() not in _FLAGS:
            raise ValueError(f"option {name}: expected true or false, got {value!r}")
        return _FLAGS[value.lower()]

    def count(self, name: str, default: int, least: int = 1) -> int:
        value = self.text(name)
        if value is None:
            return default
        try:
            number = int(value)
        except ValueError:
            number = least - 1
        if number < least:
            raise ValueError(f"option {name}: expected a number from {least} on, got {value!r}")
        return number

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        value = (self.text(name) or choices[0]).lower()
        if value not in choices:
            raise ValueError(f"option {name}: expected one of {', '.join(choices)}, got {value!r}")
        return value

    def names(self, name: str) -> tuple[str, ...] | None:
        """Names with commas between them, or a JSON list where a name has a comma itself."""
        value = self.text(name)
        if value is None:
            return None
        if not value.lstrip().startswith("["):
            return tuple(part.strip() for part in value.split(","))
        return _json_list(name, value)

    def paths(self) -> tuple[str, ...]:
        """Spark passes one path as `path`, several as a JSON list in `paths`."""
        found = self.text("paths")
        if found is not None:
            return _json_list("paths", found)
        path = self.text("path")
        if not path:
            raise ValueError("path: expected a file or a directory, as in load(path) or save(path)")
        return (path,)


def _json_list(name: str, value: str) -> tuple[str, ...]:
    try:
        found = json.loads(value)
    except ValueError:
        found = None
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise ValueError(f"option {name}: expected a JSON list of strings, got {value!r}")
    return tuple(found)
