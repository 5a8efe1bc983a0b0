"""Arrow columns in users' CUDA kernels: `cuda_jit`, which translates a kernel's source.

No interface of a CUDA compiler for extensions is used: what the compiler sees are numbers, arrays and
plain functions. Importing this package imports no compiler.

`kinds` says what a variable can be, `elements` how a slot is read, `columns`, `methods` and `decimals`
what can be done with it, in loops on the CPU, too (`colkern.jit.loops`); `expressions` and `statements`
walk the source, of which `functions` makes another; `kernels` launches.

Rows of any length (`build_rows`): `builders` finds the methods of `colkern.jit.building`, which `inlining`
writes in place, in terms of `nodes`; `building_kernels` is what is around them, and `rows` launches it.
"""
