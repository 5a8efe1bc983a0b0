"""The contents of a file: its schema, the parts that can be read independently, and their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import pyarrow as pa

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.errors import ColkernError, InvalidArrowError
from colkern.memory import HOST, Device
from colkern.operations import filter as keep_rows
from colkern.operations.moving import to_host
from colkern.spark.source.statistics import Bounds, Known


def nothing_known(_: str, type_: s.DataType) -> Known:
    """Returns the statistics of a column of text lines, all unknown."""
    return Known(type_, 1, None, Bounds())


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a file that can be read independently."""

    where: int  #: The position of the record batch or row group; the first byte of lines.
    rows: int | None  #: The number of rows; None if only reading tells.
    size: int  #: The number of bytes of all columns.
    #: The facts about a column, by its name and its type in Spark.
    known: Callable[[str, s.DataType], Known] = nothing_known


@dataclass(frozen=True, slots=True)
class Contents:
    """The schema and the parts of a file."""

    path: str
    #: The columns; None if the file does not tell their types, and each line has all columns.
    schema: s.Schema | None
    parts: list[Part] | None  #: The parts; None for an Arrow stream, which has no footer.


@dataclass(frozen=True, slots=True)
class Piece:
    """Some parts of a file, by their positions; `parts` is None for a whole stream."""

    path: str
    parts: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows of a file."""

    path: str
    batch: RecordBatch  #: The rows, with all requested columns and perhaps more.
    place: Callable[[int], str]  #: Describes the place in the file of a row of the batch.
    device: Device = HOST  #: The device of the columns.

    def of(self, batch: RecordBatch) -> Rows:
        """Returns the same rows with other columns."""
        return replace(self, batch=batch)

    def where(self, batch: RecordBatch, mask: Array) -> Rows:
        """Returns the rows of `batch` for which a mask is true, on the host; `batch` has the rows of this
        object."""

        def place(row: int) -> str:
            return self.place(int(np.flatnonzero(np.array(to_host(mask).to_pylist(), bool))[row]))

        return Rows(self.path, to_host(keep_rows(batch, mask)), place)


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Makes errors of colkern and of pyarrow name a file."""
    try:
        yield
    except InvalidArrowError as error:
        raise error.at(path) from error
    except ColkernError as error:
        raise type(error)(f"{path}: {error}") from error
    except pa.ArrowException as error:
        raise ValueError(f"{path}: {error}") from error


class Files(Protocol):
    """The files of one format."""

    def schema(self, path: str) -> s.Schema:
        """Returns the columns of a file without reading it whole; errors name the file."""

    def contents(self, path: str) -> Contents:
        """Returns the schema and the parts of a file; errors name the file."""

    def rows(
        self, piece: Piece, wanted: s.Schema, device_of: Callable[[s.Schema], Device]
    ) -> Iterator[Rows]:
        """Yields the wanted columns of a piece, some rows at a time, on the device that `device_of`
        returns."""
