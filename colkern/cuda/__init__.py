"""The CUDA target: the same kernels on a GPU. Importing this package needs no GPU and no CUDA.

`adapter` is the only module that imports the CUDA compiler, `memory` the only one that imports CuPy.
"""
