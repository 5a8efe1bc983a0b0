"""The demo's input: TPC-H's `lineitem` with nulls, or a user's own files, as Parquet for Spark."""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import colkern.ipc
from colkern.cache import cache_dir
from colkern.errors import ColkernError, InvalidArrowError
from colkern.names import install_command

COLUMNS: dict[str, pa.DataType] = {
    "l_orderkey": pa.int64(),
    "l_linenumber": pa.int32(),
    "l_quantity": pa.float64(),
    "l_extendedprice": pa.float64(),
    "l_discount": pa.float64(),
    "l_tax": pa.float64(),
    "l_commitdate": pa.date32(),
    "l_receiptdate": pa.date32(),
    "l_comment": pa.string(),
}
"""The columns that the demo reads; other numeric, decimal and string types are cast to these."""

SCHEMA = pa.schema(list(COLUMNS.items()))

ROWS_AT_SCALE_1 = 6_001_215
_ROWS_A_PART = 750_000
_BATCH_ROWS = 1 << 17

# TPC-H's lineitem has no nulls. The order key decides which rows lack a value, so that every run has the
# same data: column -> (divisor, remainder of l_orderkey).
_NULLS = {
    "l_quantity": (211, 17),
    "l_discount": (50, 7),
    "l_tax": (31, 5),
    "l_receiptdate": (97, 11),
    "l_comment": (89, 3),
}

Progress = Callable[[float], None]
"""Called with the finished share, from 0 to 1."""


def lineitem(scale: float, rows: int | None, progress: Progress = lambda done: None) -> Path:
    """Returns a folder of Parquet files with TPC-H's `lineitem`, by scale or with `rows` rows; generated
    once."""
    if rows is not None:
        # The scale has a few rows more than requested: orders have one to seven lines.
        scale = max(rows * 1.02 / ROWS_AT_SCALE_1, 0.001)
    name = f"lineitem-scale-{scale:g}" if rows is None else f"lineitem-rows-{rows}"
    target = cache_dir("tpch") / name
    if not target.exists():
        parts = max(math.ceil(scale * ROWS_AT_SCALE_1 / _ROWS_A_PART), 2)
        with _folder_made_whole(target) as folder:
            _generate(folder, scale, parts, rows, progress)
    return target


@contextlib.contextmanager
def _folder_made_whole(target: Path) -> Iterator[Path]:
    """Yields a new folder, which is renamed to `target` once it is complete."""
    folder = Path(tempfile.mkdtemp(dir=target.parent, prefix=".writing-"))
    try:
        yield folder
        # Another process may have made the folder first.
        with contextlib.suppress(FileExistsError, OSError):
            folder.rename(target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _generate(folder: Path, scale: float, parts: int, rows: int | None, progress: Progress) -> None:
    if rows is not None:
        # A part has as many rows as those before it have left over.
        for part in range(1, parts + 1):
            rows -= _generate_part(folder, scale, parts, rows, part)
            progress(part / parts)
        return
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        each = partial(_generate_part, folder, scale, parts, None)
        for done, _ in enumerate(pool.map(each, range(1, parts + 1)), 1):
            progress(done / parts)


def _generate_part(folder: Path, scale: float, parts: int, rows: int | None, part: int) -> int:
    """Writes a part of the data, at most `rows` rows; returns their number."""
    with tempfile.TemporaryDirectory(dir=folder) as raw:
        _run_generator(scale, parts, part, Path(raw))
        (source,) = Path(raw).rglob("*.parquet")
        batches = (_with_nulls(batch) for batch in _parquet_batches(source))
        return _write_parquet(folder / f"part-{part:04}.parquet", _first(batches, rows))


def _run_generator(scale: float, parts: int, part: int, folder: Path) -> None:
    program = Path(sys.executable).with_name("tpchgen-cli")
    path = str(program) if program.exists() else shutil.which("tpchgen-cli")
    if path is None:
        raise RuntimeError(f"TPC-H data needs tpchgen-cli: {install_command('tpchgen_cli')}")
    command = [path, "parquet", "--scale-factor", str(scale), "--tables=lineitem", "--quiet"]
    command += [f"--parts={parts}", f"--part={part}", "--output-dir", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"tpchgen-cli ends with {done.returncode}: {done.stderr.strip()}")


def _with_nulls(batch: pa.RecordBatch) -> pa.RecordBatch:
    keys = batch["l_orderkey"].to_numpy()
    for name, (divisor, remainder) in _NULLS.items():
        missing = pa.array(keys % divisor == remainder)
        position = batch.schema.get_field_index(name)
        column = pc.if_else(missing, None, batch[name])
        batch = batch.set_column(position, pa.field(name, column.type), column)
    return batch


def _first(batches: Iterable[pa.RecordBatch], rows: int | None) -> Iterator[pa.RecordBatch]:
    """Yields the first `rows` rows of the batches; all rows if None."""
    for batch in batches:
        if rows is None:
            yield batch
            continue
        yield batch.slice(0, rows)
        rows -= min(rows, batch.num_rows)


def _write_parquet(path: Path, batches: Iterable[pa.RecordBatch]) -> int:
    written = 0
    with pq.ParquetWriter(path, SCHEMA) as writer:
        for batch in batches:
            writer.write_batch(batch)
            written += batch.num_rows
    return written


# A user's own files


def own_files(paths: Iterable[Path], folder: Path) -> list[Path]:
    """Returns a user's files that Spark can read, with `COLUMNS`; Arrow files are copied to `folder` as
    Parquet."""
    files = [file for path in paths for file in _files_in(path)]
    if not files:
        raise InvalidArrowError("no Parquet or Arrow file among the inputs")
    return [_as_parquet(file, folder / f"{i:04}.parquet") for i, file in enumerate(files)]


def _files_in(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    endings = {".parquet", ".arrow", ".arrows", ".feather", ".ipc"}
    return sorted(file for file in path.rglob("*") if file.suffix in endings and file.is_file())


def _as_parquet(path: Path, target: Path) -> Path:
    with path.open("rb") as file:
        is_parquet = file.read(4) == b"PAR1"
    try:
        if not is_parquet:
            _write_parquet(target, _arrow_batches(path))
            return target
        _check_columns(pq.read_schema(path))
        return path
    except (ColkernError, pa.ArrowException) as error:
        inner = error.at(str(path)) if isinstance(error, InvalidArrowError) else error
        raise InvalidArrowError(str(inner) if inner is not error else f"{path}: {error}") from None


def _parquet_batches(path: Path) -> Iterator[pa.RecordBatch]:
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(_BATCH_ROWS, columns=list(COLUMNS)):
            yield _cast(batch)


def _arrow_batches(path: Path) -> Iterator[pa.RecordBatch]:
    with colkern.ipc.open(path) as reader:
        _check_columns(pa.schema(reader.schema))
        for batch in reader:
            yield _cast(pa.record_batch(batch.select(COLUMNS)))


def _check_columns(schema: pa.Schema) -> None:
    missing = [name for name in COLUMNS if name not in schema.names]
    if missing:
        raise InvalidArrowError(f"no column {', '.join(missing)}; the demo reads TPC-H's lineitem")
    for name, wanted in COLUMNS.items():
        try:
            pa.array([], schema.field(name).type).cast(wanted)
        except pa.ArrowException:
            raise InvalidArrowError(
                f"column {name}: expected {wanted}, or what can be cast to it, "
                f"got {schema.field(name).type}"
            ) from None


def _cast(batch: pa.RecordBatch) -> pa.RecordBatch:
    columns = [batch[name].cast(wanted) for name, wanted in COLUMNS.items()]
    return pa.record_batch(columns, schema=SCHEMA)
