"""The kernels: each computation of colkern, written once as plain Python.

One file a concern. `colkern.cpu` and `colkern.cuda` compile these bodies; `KERNELS` lists them all.
Importing this package imports neither Numba nor anything of CUDA.
"""

from colkern.kernels import (
    bitmaps,
    extensions,
    filtering,
    hidden,
    lists,
    numbers,
    offsets,
    runs,
    selection,
    text,
    unions,
    views,
)
from colkern.kernels.kernel import HELPERS, KERNELS, Argument, Kernel, helper, kernel

__all__ = [
    "HELPERS",
    "KERNELS",
    "Argument",
    "Kernel",
    "bitmaps",
    "extensions",
    "filtering",
    "helper",
    "hidden",
    "kernel",
    "lists",
    "numbers",
    "offsets",
    "runs",
    "selection",
    "text",
    "unions",
    "views",
]
