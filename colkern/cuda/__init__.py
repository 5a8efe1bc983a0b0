"""The CUDA target: the same kernels on a GPU. Importing this package needs no GPU and no CUDA.

`adapter` and the primitives of each compiler are the only modules that meet a CUDA compiler,
`cupy_library` is the only one that imports CuPy. COLKERN_CUDA_COMPILER chooses the compiler; see
`adapter`. `device_library` is the interface for device memory; CuPy implements it, and a `stand_in` if
there is no GPU.
"""

from colkern.names import late_names

__getattr__, __dir__, __all__ = late_names(__name__)
