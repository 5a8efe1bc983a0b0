"""Compares columns of results, row by row in Spark's workers, and writes the result files.

One pass over the data computes every function in every way, compares the results, and writes those of
colkern as Arrow files.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import TaskContext

UNEQUAL = np.iinfo(np.uint64).max
"""The distance of a null from a value, and of NaN from a number."""

SUMMARY = "case string, way string, rows long, unequal long, furthest decimal(20, 0)"


@dataclass(frozen=True, slots=True)
class CompareAndWrite:
    """A function for `mapInArrow` that compares results and returns a summary.

    It takes batches with a column `<case>/<way>` for each way of each case. For each partition, it returns
    one row of `SUMMARY` for each way of each case except the reference.

    The results of `reference`, and the columns `keys`, are written to `folder`, one file a partition.
    """

    cases: Mapping[str, Sequence[str]]
    reference: str
    keys: Sequence[str]
    folder: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yields the summary of one partition."""
        others = [
            (case, way)
            for case, ways in self.cases.items()
            for way in ways
            if way != self.reference
        ]
        unequal = dict.fromkeys(others, 0)
        furthest = dict.fromkeys(others, 0)
        rows = 0
        with _result_file(Path(self.folder)) as write:
            for batch in batches:
                rows += batch.num_rows
                for case, way in others:
                    distance = distances(batch[f"{case}/{self.reference}"], batch[f"{case}/{way}"])
                    unequal[case, way] += int(np.count_nonzero(distance))
                    largest = int(distance.max(initial=np.uint64(0)))
                    furthest[case, way] = max(furthest[case, way], largest)
                columns = {key: batch[key] for key in self.keys}
                columns |= {case: batch[f"{case}/{self.reference}"] for case in self.cases}
                write(pa.record_batch(columns))
        yield pa.record_batch(
            {
                "case": [case for case, _ in others],
                "way": [way for _, way in others],
                "rows": pa.array([rows] * len(others), pa.int64()),
                "unequal": pa.array(unequal.values(), pa.int64()),
                "furthest": pa.array(furthest.values(), pa.decimal128(20, 0)),
            }
        )


@contextlib.contextmanager
def _result_file(folder: Path) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """Yields a function that writes a batch to the partition's Arrow file, which appears once it is
    complete."""
    context = TaskContext.get()
    unfinished = folder / f".part-{context.taskAttemptId()}"
    writers: list[pa.RecordBatchWriter] = []

    def write(batch: pa.RecordBatch) -> None:
        if not writers:
            options = pa.ipc.IpcWriteOptions(compression="lz4")
            writers.append(pa.ipc.new_file(str(unfinished), batch.schema, options=options))
        writers[0].write_batch(batch)

    try:
        yield write
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    for writer in writers:
        writer.close()
        os.replace(unfinished, folder / f"part-{context.partitionId():05}.arrow")


def distances(left: pa.Array, right: pa.Array) -> NDArray[np.uint64]:
    """Returns the distances of slots, in units in the last place or in ones; `UNEQUAL` if one is null."""
    a, b = _ordered(left), _ordered(right)
    # As unsigned numbers, differences of two's complement numbers cannot overflow.
    larger, smaller = np.where(a > b, a, b), np.where(a > b, b, a)
    result = larger.view(np.uint64) - smaller.view(np.uint64)
    a_null, b_null = (side.is_null().to_numpy(zero_copy_only=False) for side in (left, right))
    result[a_null & b_null] = 0
    result[a_null ^ b_null] = UNEQUAL
    return result


def _ordered(array: pa.Array) -> NDArray[np.int64]:
    """Returns integers in the order of the values; neighbouring floats become neighbouring integers."""
    if array.type == pa.float64():
        bits = array.fill_null(0.0).to_numpy(zero_copy_only=False).view(np.int64)
        ordered: NDArray[np.int64] = bits ^ ((bits >> 63) & np.int64(np.iinfo(np.int64).max))
        return ordered
    plain = array.cast(pa.int32()) if array.type == pa.date32() else array
    numbers: NDArray[np.int64] = plain.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    return numbers
