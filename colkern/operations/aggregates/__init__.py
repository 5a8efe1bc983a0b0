"""Aggregates: one value from a whole array: sums, extremes, counts.

`functions` has the public functions; the other modules have the algorithms.
"""

from colkern.operations.aggregates.functions import all, any, count, max, mean, min, min_max, sum

__all__ = ["all", "any", "count", "max", "mean", "min", "min_max", "sum"]
