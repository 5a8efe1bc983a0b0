"""How the record batches of files become Spark partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pyspark.sql.datasource import InputPartition

from colkern.ipc import BatchSummary
from colkern.spark.source.contents import Contents


@dataclass(frozen=True, slots=True)
class Piece:
    """Some record batches of a file.

    Args:
        path: The file.
        batches: Their positions; None for all batches of a stream.
    """

    path: str
    batches: tuple[int, ...] | None


class SourcePartition(InputPartition):
    """What one task reads: pieces of files, one after the other.

    Args:
        pieces: The pieces; none where a query has nothing to read.
    """

    def __init__(self, pieces: tuple[Piece, ...]) -> None:
        super().__init__(pieces)
        self.pieces = pieces


MOST_FILES = 128
"""How many files make a partition however small they are: opening them is what takes the time then."""

Wanted = Callable[[Contents, BatchSummary], bool]
"""Whether a batch of a file can have rows that a query asks for."""


def planned(
    files: Iterable[Contents], columns: int, partition_bytes: int, wanted: Wanted
) -> list[SourcePartition]:
    """The partitions of a query, of about `partition_bytes` each, and at least one.

    Batches stay in the order of the files, and those of small files come together, of `MOST_FILES` at
    most. A stream cannot be cut, and is a partition of its own.

    Args:
        files: The files.
        columns: How many columns are read. The columns of a file count as equally large.
        partition_bytes: How many bytes of these columns make a partition.
        wanted: What batches are read; the others are passed over.
    """
    made = [SourcePartition(pieces) for pieces in _grouped(files, columns, partition_bytes, wanted)]
    # For no partition Spark would call the reader with one of its own.
    return made or [SourcePartition(())]


def _grouped(
    files: Iterable[Contents], columns: int, partition_bytes: int, wanted: Wanted
) -> Iterator[tuple[Piece, ...]]:
    group = _Group()
    for file in files:
        if file.batches is None:
            if group.size:
                yield group.pieces()
                group = _Group()
            yield (Piece(file.path, None),)
            continue
        share = min(1.0, columns / max(len(file.schema), 1))
        for position, batch in _wanted_batches(file, file.batches, wanted):
            size = int(batch.body_bytes * share)
            if group.size and not group.takes(file.path, size, partition_bytes):
                yield group.pieces()
                group = _Group()
            group.add(file.path, position, size)
    if group.size:
        yield group.pieces()


def _wanted_batches(
    file: Contents, batches: Sequence[BatchSummary], wanted: Wanted
) -> Iterator[tuple[int, BatchSummary]]:
    for position, batch in enumerate(batches):
        if batch.length and wanted(file, batch):
            yield position, batch


class _Group:
    """Batches that make up one partition."""

    def __init__(self) -> None:
        self.size = 0
        self._batches: dict[str, list[int]] = {}

    def takes(self, path: str, size: int, most: int) -> bool:
        """Whether there is room for one more batch of a file."""
        files = len(self._batches) + (path not in self._batches)
        return self.size + size <= most and files <= MOST_FILES

    def add(self, path: str, position: int, size: int) -> None:
        # Also a batch without a body, of columns of type null, has its cost.
        self.size += max(size, 1)
        self._batches.setdefault(path, []).append(position)

    def pieces(self) -> tuple[Piece, ...]:
        return tuple(Piece(path, tuple(batches)) for path, batches in self._batches.items())
