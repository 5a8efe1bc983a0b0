"""Arrow columns in code that Numba compiles: `udf`, `reducer`, `generator`, `njit`, and what they work
with.

Importing this package does not import Numba.
"""

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
