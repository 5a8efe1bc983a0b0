"""Arrow columns in code that Numba compiles: `udf`, `njit`, and what its functions work with.

Importing this package does not import Numba.
"""

from colkern.jit.building.builder import Builder
from colkern.jit.building.rows import build_rows
from colkern.jit.bytestring import ByteString
from colkern.jit.decorator import njit
from colkern.jit.scalar import Udf, udf

__all__ = ["Builder", "ByteString", "Udf", "build_rows", "njit", "udf"]
