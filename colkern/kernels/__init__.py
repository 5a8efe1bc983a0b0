"""The kernels: each computation of colkern, written once as plain Python.

One file a concern. `colkern.cpu` and `colkern.cuda` compile these bodies; `KERNELS` lists them all.
Importing this package imports neither Numba nor anything of CUDA.
"""

from colkern.kernels import (
    aggregates,
    arithmetic,
    bitmaps,
    casts,
    changes,
    comparison,
    decimal_arithmetic,
    decimals,
    dictionaries,
    extensions,
    filtering,
    grouping,
    hashing,
    hidden,
    joining,
    keys,
    lists,
    lz4,
    numbers,
    offsets,
    ordering,
    run_merging,
    runs,
    selection,
    sorting,
    strings,
    text,
    unions,
    views,
)
from colkern.kernels.arguments import Argument
from colkern.kernels.kernel import HELPERS, KERNELS, Kernel, helper, kernel

__all__ = [
    "HELPERS",
    "KERNELS",
    "Argument",
    "Kernel",
    "aggregates",
    "arithmetic",
    "bitmaps",
    "casts",
    "changes",
    "comparison",
    "decimal_arithmetic",
    "decimals",
    "dictionaries",
    "extensions",
    "filtering",
    "grouping",
    "hashing",
    "helper",
    "hidden",
    "joining",
    "kernel",
    "keys",
    "lists",
    "lz4",
    "numbers",
    "offsets",
    "ordering",
    "run_merging",
    "runs",
    "selection",
    "sorting",
    "strings",
    "text",
    "unions",
    "views",
]


def __dir__() -> list[str]:
    """The public names."""
    return __all__
