"""The comparisons, one file a concern; importing this package registers them all.

polars reads its number of threads when it is imported, so `benchmarks.compare` imports this late.
"""

from benchmarks.case import COMPARISONS
from benchmarks.cases import (
    bitmaps,
    dictionaries,
    formats,
    hashing,
    runs,
    sorting,
    strings,
    validation,
    views,
)

__all__ = [
    "COMPARISONS",
    "bitmaps",
    "dictionaries",
    "formats",
    "hashing",
    "runs",
    "sorting",
    "strings",
    "validation",
    "views",
]
from benchmarks.cases import lists, structs

__all__ = ["COMPARISONS", "bitmaps", "formats", "lists", "runs", "structs", "validation"]
from benchmarks.cases import arithmetic, unions

__all__ = ["COMPARISONS", "arithmetic", "bitmaps", "formats", "runs", "unions", "validation"]
from benchmarks.cases import aggregates, casts

__all__ = ["COMPARISONS", "aggregates", "bitmaps", "casts", "formats", "runs", "validation"]
from benchmarks.cases import concat, selection

__all__ = ["COMPARISONS", "bitmaps", "concat", "formats", "runs", "selection", "validation"]
