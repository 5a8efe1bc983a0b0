"""Whether three columns of results agree, row by row, next to where the rows are; and the result files.

Runs in Spark's workers: one pass over the data computes every function in every way, compares them,
and writes what colkern computed as Arrow files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import TaskContext

UNEQUAL = np.iinfo(np.uint64).max
"""The distance of a null from a value, and of NaN from a number."""

SUMMARY = "case string, way string, rows long, unequal long, furthest decimal(20, 0)"


@dataclass(frozen=True, slots=True)
class CompareAndWrite:
    """A function for `mapInArrow`: batches with a column `<case>/<way>` for each case and way in,
    one row of `SUMMARY` out for each case and way but the reference, a partition.

    Args:
        cases: The names of the functions.
        ways: Their spellings; compared with `reference`, which is one of them.
        reference: The spelling whose results are written.
        keys: Columns that are written along.
        folder: Where the files go, one a partition; a path that all workers reach.
    """

    cases: Sequence[str]
    ways: Sequence[str]
    reference: str
    keys: Sequence[str]
    folder: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One partition."""
        others = [(case, way) for case in self.cases for way in self.ways if way != self.reference]
        unequal = dict.fromkeys(others, 0)
        furthest = dict.fromkeys(others, 0)
        rows = 0
        with _ResultFile(Path(self.folder)) as file:
            for batch in batches:
                rows += batch.num_rows
                for case, way in others:
                    distance = distances(batch[f"{case}/{self.reference}"], batch[f"{case}/{way}"])
                    unequal[case, way] += int(np.count_nonzero(distance))
                    furthest[case, way] = max(
                        furthest[case, way], int(distance.max(initial=np.uint64(0)))
                    )
                file.write(self._results(batch))
        yield pa.record_batch(
            {
                "case": [case for case, _ in others],
                "way": [way for _, way in others],
                "rows": pa.array([rows] * len(others), pa.int64()),
                "unequal": pa.array(unequal.values(), pa.int64()),
                "furthest": pa.array(furthest.values(), pa.decimal128(20, 0)),
            }
        )

    def _results(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = {key: batch[key] for key in self.keys}
        return pa.record_batch(
            columns | {case: batch[f"{case}/{self.reference}"] for case in self.cases}
        )


class _ResultFile:
    """An Arrow file of one partition that is there once it is whole; none if it has no rows."""

    def __init__(self, folder: Path) -> None:
        context: Any = TaskContext.get()
        self._path = folder / f"part-{context.partitionId():05}.arrow"
        self._unfinished = folder / f".part-{context.taskAttemptId()}"
        self._writer: Any = None

    def __enter__(self) -> _ResultFile:
        return self

    def write(self, batch: pa.RecordBatch) -> None:
        if self._writer is None:
            options = pa.ipc.IpcWriteOptions(compression="lz4")
            self._writer = pa.ipc.new_file(str(self._unfinished), batch.schema, options=options)
        self._writer.write_batch(batch)

    def __exit__(self, kind: object, *_: object) -> None:
        if self._writer is None:
            return
        self._writer.close()
        if kind is None:
            os.replace(self._unfinished, self._path)
        else:
            self._unfinished.unlink()


def distances(left: pa.Array, right: pa.Array) -> NDArray[np.uint64]:
    """How far results of one type are apart, slot by slot: floats in units in the last place,
    integers and dates in ones. 0 for two nulls, `UNEQUAL` for a null and a value."""
    a, b = _ordered(left), _ordered(right)
    # Differences of two's complement numbers are right without a sign, however far they are apart.
    made: NDArray[np.uint64] = np.where(a > b, a, b).view(np.uint64) - np.where(a > b, b, a).view(
        np.uint64
    )
    a_null, b_null = _is_null(left), _is_null(right)
    made[a_null & b_null] = 0
    made[a_null ^ b_null] = UNEQUAL
    return made


def _is_null(array: pa.Array) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = array.is_null().to_numpy(zero_copy_only=False)
    return found


def _ordered(array: pa.Array) -> NDArray[np.int64]:
    """Integers in the order of the values; neighbouring floats are neighbouring integers."""
    if array.type == pa.float64():
        bits = array.fill_null(0.0).to_numpy(zero_copy_only=False).view(np.int64)
        made: NDArray[np.int64] = bits ^ ((bits >> 63) & np.int64(np.iinfo(np.int64).max))
        return made
    plain = array.cast(pa.int32()) if array.type == pa.date32() else array
    numbers: NDArray[np.int64] = plain.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    return numbers
