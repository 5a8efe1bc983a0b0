"""Arrow columns in users' CUDA kernels: `cuda_jit`, which translates a kernel's source.

The package needs no extension interface of a CUDA compiler: the compiler sees numbers, arrays and plain
functions. Importing this package imports no compiler.

`kinds` has the kinds of variables, `elements` reads slots, and `columns`, `methods` and `decimals` have the
operations on them, also for loops on the CPU (`colkern.jit.loops`). `expressions` and `statements` walk the
source, `functions` makes new functions from it, and `kernels` launches them.

For rows of any length (`build_rows`), `builders` finds the methods of `colkern.jit.building`, `inlining`
writes them in place, with the parts in `nodes`; `building_kernels` writes the kernel around them, and
`rows` launches it.
"""
