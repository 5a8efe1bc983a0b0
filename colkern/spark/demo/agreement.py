"""The agreement of the ways to compute a function, and the result files.

Each way has a fingerprint of all its rows. Only where fingerprints differ are the results compared row by
row, in Spark's workers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import TaskContext
from pyspark.sql import Column
from pyspark.sql import functions as f

from colkern import ipc
from colkern.interchange import import_batch, import_schema

UNEQUAL = np.iinfo(np.uint64).max
"""The distance of a null from a value, and of NaN from a number."""

SUMMARY = "way string, unequal long, furthest decimal(20, 0)"


def fingerprint(inputs: Sequence[str], result: str) -> list[Column]:
    """Returns aggregates that are equal if the results of all rows are, in any order, and else, but for one
    chance in 2**64, differ.

    -0.0 counts as 0.0, and a NaN as any other.
    """
    row = f.xxhash64(*inputs, result)
    # Rows that stand twice cancel out in the first one.
    return [f.bit_xor(row).alias("bits"), f.sum(f.shiftrightunsigned(row, 32)).alias("halves")]


@dataclass(frozen=True, slots=True)
class Compare:
    """A function for `mapInArrow` that compares results.

    It takes batches with a column for each way. For each partition, it returns one row of `SUMMARY` for
    each way except the reference.
    """

    ways: Sequence[str]
    reference: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yields the summary of one partition."""
        others = [way for way in self.ways if way != self.reference]
        unequal = dict.fromkeys(others, 0)
        furthest = dict.fromkeys(others, 0)
        for batch in batches:
            for way in others:
                distance = distances(batch[self.reference], batch[way])
                unequal[way] += int(np.count_nonzero(distance))
                furthest[way] = max(furthest[way], int(distance.max(initial=np.uint64(0))))
        yield pa.record_batch(
            {
                "way": others,
                "unequal": pa.array(unequal.values(), pa.int64()),
                "furthest": pa.array(furthest.values(), pa.decimal128(20, 0)),
            }
        )


@dataclass(frozen=True, slots=True)
class Write:
    """A function for `mapInArrow` that writes the batches to a folder, one Arrow file a partition, and
    returns none."""

    folder: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yields nothing."""
        first = next(batches, None)
        if first is not None:
            path = Path(self.folder, f"part-{TaskContext.get().partitionId():05}.arrow")
            with ipc.new_file(path, import_schema(first.schema), compression="lz4") as writer:
                writer.write(map(import_batch, chain([first], batches)))
        yield from ()


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
