"""Hidden slots: half of them, at random."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.gpu.case import Data, Launch, launches
from colkern.kernels import hidden as kernels


@launches
def covered_bits(data: Data) -> Iterator[Launch]:
    ranges = 8 * data.slots(8 * 18.5)
    starts = data.range(ranges, "i8", 20)
    stops = data.range(ranges, "i8", 20, start=10)
    out = data.out(20 * ranges // 8, "u1")
    args = (starts, stops, 20 * ranges, out)
    yield Launch(kernels.covered_bits, "ranges of 10", len(out), *args)
