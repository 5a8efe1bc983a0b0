"""Aggregates: one value from a whole array: sums, extremes, counts.

`functions` has what is public; the other modules have how it is found.
"""

from colkern.operations.aggregates.functions import all, any, count, max, mean, min, min_max, sum

__all__ = ["all", "any", "count", "max", "mean", "min", "min_max", "sum"]
