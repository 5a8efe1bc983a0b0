"""Arrow columns in code that Numba compiles: `udf`, `njit`, and what its functions work with.

Importing this package does not import Numba.
"""

from colkern.jit.bytestring import ByteString
from colkern.jit.decorator import njit
from colkern.jit.scalar import Udf, udf

__all__ = ["ByteString", "Udf", "njit", "udf"]
