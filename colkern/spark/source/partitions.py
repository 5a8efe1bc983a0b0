"""Groups the parts of files into Spark partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from pyspark.sql.datasource import InputPartition

from colkern.spark.source.contents import Contents, Part, Piece


class SourcePartition(InputPartition):
    """The pieces of files that one task reads; none if a query has nothing to read."""

    def __init__(self, pieces: tuple[Piece, ...]) -> None:
        super().__init__(pieces)
        self.pieces = pieces


MOST_FILES = 128
"""The largest number of files in a partition: opening many small files takes most of the time."""

_LEAST, _MOST = 1 << 20, 128 << 20

Wanted = Callable[[Contents, Part], bool]
"""Whether a part of a file can have rows that a query requests."""


def share(size: int, tasks: int) -> int:
    """Returns the bytes of a task's share: 1 to 128 MiB, since starting a task takes as long as reading
    some."""
    return max(_LEAST, min(-(-size // tasks), _MOST))


def planned(
    files: Iterable[Contents],
    columns: int,
    partition_bytes: int,
    wanted: Wanted,
    tasks: int | None = None,
) -> list[SourcePartition]:
    """Returns the partitions of a query, at least one, of about `partition_bytes` each; or one for each
    task."""
    # Parts stay in the order of the files; those of up to `MOST_FILES` small files share a partition. A
    # stream cannot be cut, and is a partition of its own. The bytes are those of the columns that are read;
    # all columns of a file count as equally large, and lines are read as a whole.
    if tasks is not None:
        files = list(files)
        costs = [_cost(file, part, columns) for file in files for part in file.parts or ()]
        # Add half a part: otherwise the last parts that do not fit would be a partition of their own.
        partition_bytes = min(share(sum(costs), tasks) + max(costs, default=0) // 2, _MOST)
    pieces = _grouped(files, columns, partition_bytes, wanted)
    # Given no partition, Spark would call the reader with one of its own.
    return list(map(SourcePartition, pieces)) or [SourcePartition(())]


def _grouped(
    files: Iterable[Contents], columns: int, partition_bytes: int, wanted: Wanted
) -> Iterator[tuple[Piece, ...]]:
    group: dict[str, list[int]] = {}
    size = 0
    for file in files:
        if file.parts is None:
            if group:
                yield _pieces(group)
            group, size = {}, 0
            yield (Piece(file.path, None),)
            continue
        for part in file.parts:
            if part.rows == 0 or not wanted(file, part):
                continue
            cost = _cost(file, part, columns)
            count = len(group) + (file.path not in group)
            if group and (size + cost > partition_bytes or count > MOST_FILES):
                yield _pieces(group)
                group, size = {}, 0
            group.setdefault(file.path, []).append(part.where)
            size += cost
    if group:
        yield _pieces(group)


def _cost(file: Contents, part: Part, columns: int) -> int:
    """Returns the bytes of a part that are read."""
    read = 1.0 if file.schema is None else min(1.0, columns / max(len(file.schema), 1))
    # A batch without a body, whose columns are of type null, also takes time.
    return max(int(part.size * read), 1)


def _pieces(group: dict[str, list[int]]) -> tuple[Piece, ...]:
    return tuple(Piece(path, tuple(parts)) for path, parts in group.items())
