"""Parquet, CSV and JSON files as tables, read and written by pyarrow."""

from __future__ import annotations

import glob
import importlib
import io
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from decimal import Decimal
from types import ModuleType
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias
from uuid import UUID

import numpy as np

from colkern.arrays import RecordBatch, Table
from colkern.builders import record_batch, table
from colkern.errors import UnsupportedError, shown
from colkern.habits import OF_CSV
from colkern.ipc.paths import is_url
from colkern.ipc.reading.remote import filesystem_of
from colkern.ipc.reading.sources import Source
from colkern.ipc.reading.tables import Alternatives, Filters, also, checked_filters, filtered
from colkern.ipc.writing.sinks import created
from colkern.memory import Buffer, Device
from colkern.names import why_missing
from colkern.operations import count
from colkern.operations.moving import to_device, to_host
from colkern.schema import Schema, TypeLike
from colkern.steps import steps

if TYPE_CHECKING:
    from colkern.builders.entry import GivesArray, GivesDeviceArray, GivesStream

Target: TypeAlias = "str | os.PathLike[str] | BinaryIO"
"""A path, a URL, or a binary file object."""

Data: TypeAlias = "GivesArray | GivesStream | GivesDeviceArray"
"""Tables and batches of any library."""

_MOST_ROWS = (1 << 31) - 1
"""The most rows of a batch: large enough that no row group is cut."""

_BLOCK_BYTES = 1 << 23
"""The bytes of a file of text that become one batch."""

_CODECS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
"""The codecs of files of text, by the end of their names."""


def read_parquet(
    source: Source | Sequence[str | os.PathLike[str]],
    *,
    columns: Sequence[str] | None = None,
    filters: Filters = (),
    device: str | Device | None = None,
) -> Table:
    """A Parquet file, or a folder of them, as a table with a batch for each row group.

    Folders with names such as `year=2024` become a column, as in `colkern.ipc.read_table`. Files and
    row groups that filters exclude by their path or statistics are not read.

    Args:
        source: A path, a URL that fsspec knows, a bytes-like object, or a binary file object; or a list of
            paths or URLs, all in one file system, of files with the same columns. A path may be a pattern
            such as `sales/*.parquet`.
        columns: The names of the columns of the table, in that order; None for all.
        filters: Triples of a column's name, `==`, `!=`, `<`, `<=`, `>` or `>=`, and a value: rows for which
            all are true are kept; or a list of such lists, as for `colkern.ipc.read_table`.
        device: The device to move the columns to, one row group at a time: "cuda", or a `Device`; None
            for host memory.

    Raises:
        ModuleNotFoundError: If pyarrow is not installed.
        KeyError: If there is no such column.
        OSError, ValueError: From pyarrow, if the source is missing or malformed.
        DeviceUnavailableError: If there is no such device.
    """
    chosen = checked_filters(filters)
    datasets = _pyarrow("read_parquet", "dataset")
    dataset: Any
    if isinstance(source, list | tuple | str | os.PathLike):
        sources = source if isinstance(source, list | tuple) else [source]
        if not sources:
            raise ValueError("source: expected a path at least, got none")
        opened = [filesystem_of(each) if is_url(each) else (None, each) for each in sources]
        filesystem = opened[0][0]
        paths = [path for _, each in opened for path in _matching(os.fsdecode(each), filesystem)]
        is_folder = (filesystem or os.path).isdir(paths[0])
        dataset = datasets.dataset(
            paths[0] if len(paths) == 1 else paths,
            format="parquet",
            filesystem=filesystem,
            # The names of the folders above a single file make no columns.
            partitioning="hive" if is_folder else None,
        )
    else:
        dataset = datasets.ParquetFileFormat().make_fragment(_input(source))
    kept = None
    if chosen:
        kept = _pyarrow("read_parquet", "parquet").filters_to_expression(chosen)
    try:
        scanner = dataset.scanner(
            columns=None if columns is None else list(columns), filter=kept, batch_size=_MOST_ROWS
        )
    except ValueError:
        schema = Schema.from_arrow(getattr(dataset, "schema", None) or dataset.physical_schema)
        for name in also(columns or [], chosen) or []:
            schema.index(name)
        raise
    groups = (record_batch(group) for group in scanner.to_batches() if group.num_rows)
    batches = [_placed(batch, device) for batch in steps(groups, "reading row groups")]
    return Table(batches, Schema.from_arrow(scanner.projected_schema))


def read_csv(
    source: Source,
    *,
    columns: Sequence[str] | None = None,
    filters: Filters = (),
    device: str | Device | None = None,
    delimiter: str = ",",
    names: Sequence[str] | None = None,
    types: Mapping[str, TypeLike] | None = None,
    **options: object,
) -> Table:
    """A file of comma-separated values as a table, with a batch for every few megabytes.

    pyarrow infers each type from all values of the column. The end of a file's name says how it is
    compressed: `.gz`, `.bz2`, `.zst`, `.lz4`.

    Args:
        source: As for `read_parquet`, as are `columns`, `filters`, `device` and the errors.
        delimiter: The character between values.
        names: The names of the columns, for a file whose first line does not have them.
        types: Data types by column name.
        options: Others of `pyarrow.csv.ReadOptions`, `ParseOptions` and `ConvertOptions`, such as
            `encoding`, `skip_rows`, `quote_char`, `null_values`, `decimal_point`, `timestamp_parsers`.

    Of several columns with a name in `columns`, pyarrow reads the first.

    Raises:
        TypeError: If there is no such option.
    """
    chosen = checked_filters(filters)
    csv = _pyarrow("read_csv", "csv")
    own: dict[Any, dict[str, object]] = {
        csv.ReadOptions: {"column_names": names, "block_size": _BLOCK_BYTES},
        csv.ParseOptions: {"delimiter": delimiter},
        csv.ConvertOptions: {
            "column_types": None if types is None else _arrow_schema(types),
            "include_columns": also(columns, chosen),
        },
    }
    for name, value in options.items():
        kind = next((kind for kind in own if hasattr(kind, name)), None)
        if kind is None:
            hint = f"; write {OF_CSV[name]}" if name in OF_CSV else ""
            raise TypeError(f"read_csv: there is no option {name!r}{hint}")
        own[kind][name] = value
    with ExitStack() as closing:
        read = csv.read_csv(_opened(source, closing), *[kind(**own[kind]) for kind in own])
    return _finished(read, columns, chosen, device)


def read_json(
    source: Source,
    *,
    columns: Sequence[str] | None = None,
    filters: Filters = (),
    device: str | Device | None = None,
    types: Mapping[str, TypeLike] | None = None,
) -> Table:
    """A file of JSON objects, one a line, as a table; otherwise as `read_csv`."""
    chosen = checked_filters(filters)
    reader = _pyarrow("read_json", "json")
    with ExitStack() as closing:
        read = reader.read_json(
            _opened(source, closing),
            reader.ReadOptions(block_size=_BLOCK_BYTES),
            reader.ParseOptions(explicit_schema=None if types is None else _arrow_schema(types)),
        )
    return _finished(read, columns, chosen, device)


def write_parquet(data: Data, target: Target, **options: object) -> None:
    """Write rows to a Parquet file.

    Args:
        data: A table, a batch, or anything else that `colkern.table` takes; device memory is copied to
            the host.
        target: A path or a URL that fsspec knows, at which the file appears when it is complete, or a
            binary file object.
        options: Those of `pyarrow.parquet.write_table`, such as `compression`.

    Raises:
        ModuleNotFoundError: If pyarrow is not installed.
        OSError, ValueError: From pyarrow.
        UnsupportedError: If Parquet, or pyarrow, has nothing for the type of a column.
    """
    parquet = _pyarrow("write_parquet", "parquet")
    with ExitStack() as closing:
        sink = _output("write_parquet", target, closing, compresses=False)
        try:
            parquet.write_table(to_host(table(data)).to_pyarrow(), sink, **options)
        except NotImplementedError as error:
            raise UnsupportedError(
                f"write_parquet: {error}; leave the column out, decode or cast it, or use write_ipc"
            ) from None


def write_csv(
    data: Data, target: Target, *, delimiter: str = ",", include_header: bool = True
) -> None:
    """Write rows to a file of comma-separated values, which `read_csv` reads; a null is an empty value.

    Args:
        data, target: As for `write_parquet`, as are the errors. The end of a file's name tells how to
            compress it, as for `read_csv`.
        delimiter: The character between values.
        include_header: Whether the first line has the names of the columns.

    Raises:
        UnsupportedError: If the values of a column have no text in such files, as lists.
    """
    csv, library = _pyarrow("write_csv", "csv"), _pyarrow("write_csv", "lib")
    own = to_host(table(data))
    rows = own.to_pyarrow()
    for position, field in enumerate(rows.schema):
        column = rows.column(position)
        try:
            # Readers skip empty lines, so a null that is alone in its line becomes quotes around nothing.
            fills = rows.num_columns == 1 and count(own.column(0), "only_null")
            if fills or field.type == library.string_view():
                column = column.cast(library.string())
                rows = rows.set_column(
                    position, field.name, column.fill_null("") if fills else column
                )
            csv.write_csv(rows.select([position]).slice(0, 1), io.BytesIO())
        except (ValueError, NotImplementedError):
            raise UnsupportedError(
                f"write_csv: column {field.name!r} of {field.type} has no text in such files; leave it "
                f"out, cast it to utf8, or use write_parquet or write_ipc"
            ) from None
    with ExitStack() as closing:
        sink = _output("write_csv", target, closing, compresses=True)
        options = csv.WriteOptions(include_header=include_header, delimiter=delimiter)
        csv.write_csv(rows, sink, options)


def write_json(data: Data, target: Target) -> None:
    """Write rows to a file of JSON objects, one a line, which `read_json` reads.

    Dates and times become text as ISO 8601 has it, decimals text with all their digits.

    Args:
        data, target: As for `write_parquet`, as are the errors.

    Raises:
        UnsupportedError: If a value has no text in such files, as bytes, NaN and infinities.
    """
    with ExitStack() as closing:
        sink = _output("write_json", target, closing, compresses=True)
        for batch in to_host(table(data)).batches:
            sink.write("".join(map(_json_line, batch.to_pylist())).encode())


def _json_line(row: object) -> str:
    try:
        return json.dumps(row, ensure_ascii=False, allow_nan=False, default=_json_of) + "\n"
    except ValueError as error:
        raise UnsupportedError(f"write_json: {error}: {shown(row)}") from None


def _json_of(value: object) -> str:
    """The text of a value that is no JSON."""
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    if isinstance(value, Decimal | np.datetime64 | UUID):
        return str(value)
    raise UnsupportedError(f"write_json: a value has no JSON: {shown(value)}")


def _output(function: str, target: Target, closing: ExitStack, *, compresses: bool) -> Any:
    """The sink that pyarrow writes to, open until `closing` ends; a file appears when it is complete."""
    if not isinstance(target, str | os.PathLike):
        return target
    file = closing.enter_context(created(target))
    codec = _CODECS.get(os.path.splitext(os.fsdecode(target))[1]) if compresses else None
    if codec is None and compresses and is_url(target):
        from fsspec.compression import compr
        from fsspec.utils import infer_compression

        # Readers of a URL know more codecs than pyarrow.
        name = infer_compression(os.fspath(target))
        return closing.enter_context(compr[name](file, mode="w")) if name else file
    if codec is None:
        return file
    return closing.enter_context(_pyarrow(function, "lib").CompressedOutputStream(file, codec))


def _finished(
    read: Any, columns: Sequence[str] | None, filters: Alternatives, device: str | Device | None
) -> Table:
    rows = filtered(table(read), filters)
    if columns is not None:
        rows = rows.select(columns)
    return rows.map_batches(lambda batch: _placed(batch, device))


def _placed(batch: RecordBatch, device: str | Device | None) -> RecordBatch:
    return batch if device is None else to_device(batch, device)


def _matching(path: str, filesystem: Any) -> list[str]:
    """The paths that match a pattern, in order; else the path itself."""
    if not glob.has_magic(path) or (filesystem or os.path).exists(path):
        return [path]
    found = filesystem.glob(path) if filesystem else glob.glob(path, recursive=True)
    return sorted(found) or [path]


def _opened(source: Source, closing: ExitStack) -> Any:
    """The source that pyarrow reads text from; the file of a URL is open until `closing` ends."""
    if not isinstance(source, str | os.PathLike):
        return _input(source)
    if not is_url(source):
        return source
    filesystem, path = filesystem_of(source)
    return closing.enter_context(filesystem.open(path, "rb", compression="infer"))


def _input(source: Source) -> Any:
    """A file object, or bytes, as a source for pyarrow."""
    if hasattr(source, "read"):
        return source
    readable = source.array if isinstance(source, Buffer) else source
    return _pyarrow("source", "lib").BufferReader(readable)


def _arrow_schema(types: Mapping[str, TypeLike]) -> Any:
    return _pyarrow("types", "lib").schema(Schema(types))


def _pyarrow(function: str, module: str) -> ModuleType:
    try:
        return importlib.import_module(f"pyarrow.{module}")
    except ModuleNotFoundError as error:
        missing = why_missing(error, "pyarrow")
        raise ModuleNotFoundError(f"colkern.{function}: {missing}", name=error.name) from error
