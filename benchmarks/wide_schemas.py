"""Opening files of many columns: their fields read side by side, and one by one.

    python -m benchmarks.wide_schemas

The figures stand in `colkern.ipc.reading.flat_fields`.
"""

from __future__ import annotations

import io
import time

import colkern
import colkern.ipc
from colkern.ipc.reading import schemas

ROUNDS = 15
ALWAYS, NEVER = 0, 1 << 40


def file_of(columns: int) -> bytes:
    """A file of one small batch, its columns of int64 and utf8 in turn."""
    data = {f"c{i}": [1, 2, 3] if i % 2 else ["a", "b", None] for i in range(columns)}
    sink = io.BytesIO()
    colkern.ipc.write_file(sink, data)
    return sink.getvalue()


def seconds(data: bytes, fewest: int) -> float:
    """The time to open the file and its batch, where schemas from `fewest` fields on count as wide."""
    schemas.FEWEST = fewest
    begin = time.perf_counter()
    colkern.ipc.open_file(data).get_batch(0)
    return time.perf_counter() - begin


def main() -> None:
    """Print both times, the least of several rounds in turn, and their ratio."""
    for columns in (10, 100, 1_000, 10_000):
        data = file_of(columns)
        rounds = [(seconds(data, ALWAYS), seconds(data, NEVER)) for _ in range(ROUNDS)]
        together, one_by_one = map(min, zip(*rounds, strict=True))
        print(
            f"{columns:6} columns: {1e3 * together:8.3f} ms side by side, "
            f"{1e3 * one_by_one:8.3f} ms one by one: x{one_by_one / together:.1f}"
        )


if __name__ == "__main__":
    main()
