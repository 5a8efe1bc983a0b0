"""The comparisons, one file a concern; importing this package registers them all.

polars reads its number of threads when it is imported, so `benchmarks.compare` imports this late.
"""

from benchmarks.case import COMPARISONS
from benchmarks.cases import bitmaps, concat, formats, runs, selection, validation

__all__ = ["COMPARISONS", "bitmaps", "concat", "formats", "runs", "selection", "validation"]
