"""Arrow columns in code that Numba compiles: `udf`, and what its functions work with.

Importing this package does not import Numba.
"""

from colkern.jit.bytestring import ByteString
from colkern.jit.device.kernels import CudaKernel, cuda_jit
from colkern.jit.scalar import Udf, udf

__all__ = ["ByteString", "CudaKernel", "Udf", "cuda_jit", "udf"]
