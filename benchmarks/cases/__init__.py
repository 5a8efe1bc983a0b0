"""The comparisons, one file a concern; importing this package registers them all.

polars reads its number of threads when it is imported, so `benchmarks.compare` imports this late.
"""

from benchmarks.case import COMPARISONS
from benchmarks.cases import (
    aggregates,
    arithmetic,
    bitmaps,
    calls,
    casts,
    compiled,
    concat,
    dictionaries,
    dissociated,
    formats,
    hashing,
    lists,
    ordering,
    relational,
    rows,
    runs,
    selection,
    sorting,
    strings,
    structs,
    unions,
    validation,
    views,
)

__all__ = [
    "COMPARISONS",
    "aggregates",
    "arithmetic",
    "bitmaps",
    "calls",
    "casts",
    "compiled",
    "concat",
    "dictionaries",
    "dissociated",
    "formats",
    "hashing",
    "lists",
    "ordering",
    "relational",
    "rows",
    "runs",
    "selection",
    "sorting",
    "strings",
    "structs",
    "unions",
    "validation",
    "views",
]
