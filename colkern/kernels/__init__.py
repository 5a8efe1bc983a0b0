"""The kernels: each computation of colkern, written once as plain Python.

One file a concern. `colkern.cpu` and `colkern.cuda` compile these bodies; `KERNELS` lists them all.
Importing this package imports neither Numba nor anything of CUDA.
"""

from importlib import import_module

from colkern.kernels.arguments import Argument
from colkern.kernels.kernel import HELPERS, KERNELS, Kernel, helper, kernel

_CONCERNS = """
    aggregates arithmetic bitmaps casts changes comparison decimal_arithmetic decimals dictionaries
    extensions filtering grouping hashing hidden joining keys lists lz4 numbers offsets ordering
    run_merging runs selection sorting strings text unions views
"""
"""The files of kernels, which register them when they are imported."""

for _name in _CONCERNS.split():
    import_module(f"{__name__}.{_name}")

__all__ = ["HELPERS", "KERNELS", "Argument", "Kernel", "helper", "kernel", *_CONCERNS.split()]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
