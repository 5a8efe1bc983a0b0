"""Arrow columns in code that Numba compiles: `udf`, `reducer`, `generator`, `njit`, and what they work
with.

Importing this package does not import Numba, nor what is not named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from colkern.names import late_names

if TYPE_CHECKING:
    from colkern.jit.building.builder import Builder
    from colkern.jit.building.rows import build_rows
    from colkern.jit.decorator import njit
    from colkern.jit.device.kernels import CudaKernel, cuda_jit
    from colkern.jit.generators import Generator, generator
    from colkern.jit.reducers import Reducer, reducer
    from colkern.jit.scalar import Udf, udf
    from colkern.jit.values.bytestring import ByteString

__all__ = [
    "Builder",
    "ByteString",
    "CudaKernel",
    "Generator",
    "Reducer",
    "Udf",
    "build_rows",
    "cuda_jit",
    "generator",
    "njit",
    "reducer",
    "udf",
]

__getattr__, __dir__ = late_names(
    __name__,
    {
        "Builder": "colkern.jit.building.builder",
        "ByteString": "colkern.jit.values.bytestring",
        "CudaKernel": "colkern.jit.device.kernels",
        "Generator": "colkern.jit.generators",
        "Reducer": "colkern.jit.reducers",
        "Udf": "colkern.jit.scalar",
        "build_rows": "colkern.jit.building.rows",
        "cuda_jit": "colkern.jit.device.kernels",
        "generator": "colkern.jit.generators",
        "njit": "colkern.jit.decorator",
        "reducer": "colkern.jit.reducers",
        "udf": "colkern.jit.scalar",
    },
)
