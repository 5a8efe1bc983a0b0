"""The CUDA target: the same kernels on a GPU. Importing this package needs no GPU and no CUDA.

`adapter` and the primitives of each compiler are the only modules that meet a CUDA compiler, `cupy_library`
is the only one that imports CuPy. COLKERN_CUDA_COMPILER chooses the compiler; see `adapter`. What device
memory is asked for stands in `device_library`; CuPy gives it, and where there is no GPU a `stand_in`.
"""

from colkern.names import late_names

__getattr__, __dir__, __all__ = late_names(__name__)
