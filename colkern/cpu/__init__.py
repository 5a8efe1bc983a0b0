"""The CPU target: compiles kernels with Numba, cuts ranges over threads, caches on disk."""
