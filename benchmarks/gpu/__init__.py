"""Kernels on the GPU, one file a concern; importing this package registers them all.

It works with what an image of CUDA Python has: numba-cuda, CuPy, PyArrow, NumPy.
"""

from benchmarks.gpu import (
    bitmaps,
    hidden,
    numbers,
    offsets,
    runs,
    text,
    unions,
    views,
)
from benchmarks.gpu.case import LAUNCHES, Data, Launch

__all__ = [
    "LAUNCHES",
    "Data",
    "Launch",
    "bitmaps",
    "hidden",
    "numbers",
    "offsets",
    "runs",
    "text",
    "unions",
    "views",
]
