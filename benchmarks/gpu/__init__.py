"""Kernels on the GPU, one file a concern; importing this package declares all launches.

It works with what an image of CUDA Python has: numba-cuda, CuPy, PyArrow, NumPy.
"""

from benchmarks.gpu import (
    aggregates,
    arithmetic,
    bitmaps,
    casts,
    changes,
    comparison,
    dictionaries,
    filtering,
    grouping,
    hashing,
    hidden,
    lists,
    lz4,
    numbers,
    offsets,
    ordering,
    runs,
    selection,
    sorting,
    strings,
    text,
    unions,
    views,
)
from benchmarks.gpu.case import MEASUREMENTS, TARGETS, Launch, Measurement
from benchmarks.gpu.unmeasured import UNMEASURED

__all__ = [
    "MEASUREMENTS",
    "TARGETS",
    "UNMEASURED",
    "Launch",
    "Measurement",
    "aggregates",
    "arithmetic",
    "bitmaps",
    "casts",
    "changes",
    "comparison",
    "dictionaries",
    "filtering",
    "grouping",
    "hashing",
    "hidden",
    "lists",
    "lz4",
    "numbers",
    "offsets",
    "ordering",
    "runs",
    "selection",
    "sorting",
    "strings",
    "text",
    "unions",
    "views",
]
