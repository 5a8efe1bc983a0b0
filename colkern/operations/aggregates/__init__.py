"""Aggregates: one value from a whole array, such as sums, extremes and counts.

`functions` has the public functions; the other modules implement them.
"""

from colkern.operations.aggregates.functions import all, any, count, max, mean, min, min_max, sum

__all__ = ["all", "any", "count", "max", "mean", "min", "min_max", "sum"]
