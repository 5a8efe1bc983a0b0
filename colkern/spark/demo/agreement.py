"""The agreement of the ways to compute a function.

Each way has a fingerprint of all its rows. Only where these differ are the rows compared one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f


def fingerprint(inputs: Sequence[str], result: str) -> list[Column]:
    """Returns aggregates that are equal if the results of all rows are, in any order, and else, but for one
    chance in 2**64, differ.

    -0.0 counts as 0.0, and a NaN as any other.
    """
    row = f.xxhash64(*inputs, result)
    # Rows that stand twice cancel out in the first one.
    return [f.bit_xor(row).alias("bits"), f.sum(f.shiftrightunsigned(row, 32)).alias("halves")]


def differing_rows(frame: DataFrame, ways: Mapping[str, Column], reference: str) -> dict[str, int]:
    """Returns the ways whose results are not those of the reference, each with the number of such rows."""
    results = frame.select(*(column.alias(way) for way, column in ways.items()))
    expected = f.col(f"`{reference}`")
    counts = [f.count_if(~f.col(f"`{way}`").eqNullSafe(expected)).alias(way) for way in ways]
    (row,) = results.agg(*counts).collect()
    return {way: count for way, count in row.asDict().items() if count}
