"""Spark partitions of the record batches of files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from pyspark.sql.datasource import InputPartition

from colkern.ipc import BatchSummary
from colkern.spark.source.contents import Contents


@dataclass(frozen=True, slots=True)
class Piece:
    """Some record batches of a file, by their positions; None for all batches of a stream."""

    path: str
    batches: tuple[int, ...] | None


class SourcePartition(InputPartition):
    """The pieces of files that one task reads; none where a query has nothing to read."""

    def __init__(self, pieces: tuple[Piece, ...]) -> None:
        super().__init__(pieces)
        self.pieces = pieces


MOST_FILES = 128
"""The most files of a partition: of many small ones, opening them takes the time."""

Wanted = Callable[[Contents, BatchSummary], bool]
"""Whether a batch of a file can have rows that a query asks for."""


def planned(
    files: Iterable[Contents], columns: int, partition_bytes: int, wanted: Wanted
) -> list[SourcePartition]:
    """The partitions of a query, of about `partition_bytes` each, and at least one.

    Batches stay in the order of the files; those of up to `MOST_FILES` small files share a partition. A
    stream cannot be cut, and is a partition of its own. The bytes are those of the columns that are read;
    all columns of a file count as equally large.
    """
    pieces = _grouped(files, columns, partition_bytes, wanted)
    # Without any partition, Spark would call the reader with one of its own.
    return list(map(SourcePartition, pieces)) or [SourcePartition(())]


def _grouped(
    files: Iterable[Contents], columns: int, partition_bytes: int, wanted: Wanted
) -> Iterator[tuple[Piece, ...]]:
    group: dict[str, list[int]] = {}
    size = 0
    for file in files:
        if file.batches is None:
            if group:
                yield _pieces(group)
            group, size = {}, 0
            yield (Piece(file.path, None),)
            continue
        share = min(1.0, columns / max(len(file.schema), 1))
        for position, batch in enumerate(file.batches):
            if not batch.length or not wanted(file, batch):
                continue
            # A batch without a body, of columns of type null, has its cost too.
            cost = max(int(batch.body_bytes * share), 1)
            count = len(group) + (file.path not in group)
            if group and (size + cost > partition_bytes or count > MOST_FILES):
                yield _pieces(group)
                group, size = {}, 0
            group.setdefault(file.path, []).append(position)
            size += cost
    if group:
        yield _pieces(group)


def _pieces(group: dict[str, list[int]]) -> tuple[Piece, ...]:
    return tuple(Piece(path, tuple(batches)) for path, batches in group.items())
