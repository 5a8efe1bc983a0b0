"""Offsets."""

from __future__ import annotations

from benchmarks.gpu.case import streaming
from colkern.kernels import offsets as kernels

WIDTHS = ("i4", "i8")

streaming(kernels.count_bad_offsets, lambda d, t: (d.n, d.offsets(t, 4), 4 * d.n), each=WIDTHS)
streaming(kernels.first_descent, lambda d, t: (d.n, d.offsets(t, 4)), each=WIDTHS)
streaming(kernels.lengths_of, lambda d, t: (d.n, d.offsets(t, 8), d.out("i8")), each=WIDTHS)
streaming(
    kernels.rebase_offsets,
    lambda d, t: (d.n + 1, d.range(t, 4, start=3, count=d.n + 1), 3, d.out(t, d.n + 1)),
    each=WIDTHS,
)
streaming(
    kernels.join_offsets,
    lambda d, t: (
        d.n,
        d.range(t, 4, count=d.n + 1),
        d.range("i8", 1, start=d.n, count=1),
        d.range("i8", 1, count=1),
        d.out(t),
    ),
    each=WIDTHS,
)
streaming(kernels.even_offsets, lambda d: (d.n + 1, 3, 12, d.out("i8", d.n + 1)))
