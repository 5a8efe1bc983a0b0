"""The CUDA target: the same kernels on a GPU. Importing this package needs no GPU and no CUDA.

`adapter` and the primitives of each compiler are the only modules that meet a CUDA compiler, `memory` is
the only one that imports CuPy. COLKERN_CUDA_COMPILER chooses the compiler; see `adapter`.
"""
