"""Offsets."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.gpu.case import Data, Launch, launches
from colkern.kernels import offsets as kernels


@launches
def offsets(data: Data) -> Iterator[Launch]:
    for dtype in ("i4", "i8"):
        items = data.range(data.slots(int(dtype[1])) + 1, dtype)
        count = len(items) - 1
        yield Launch(kernels.count_descents, dtype, count, items)
        yield Launch(kernels.first_descent, dtype, count, items)


@launches
def lengths_and_bases(data: Data) -> Iterator[Launch]:
    items = data.range(data.slots(12) + 1, "i4")
    count = len(items) - 1
    yield Launch(kernels.lengths_of, "i4", count, items, data.out(count, "i8"))
    yield Launch(kernels.rebase_offsets, "i4 to i8", count, items, 3, data.out(count + 1, "i8"))
