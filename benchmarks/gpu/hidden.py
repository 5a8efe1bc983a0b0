"""Hidden slots: half of them, at random."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.case import gather, other, streaming
from benchmarks.gpu.data import Data
from benchmarks.gpu.runs import RUNS, run_ends
from colkern.kernels import hidden as kernels
from colkern.kernels.views import inline_masks, long_lengths

WIDTHS = ("u1", "u4", "u8")
BYTES_OF_VIEWS = {"6 bytes": 6, "24 bytes": 24}


def repoint_views(d: Data, mean: int) -> tuple[Any, ...]:
    views, visible = d.views(mean), d.bits()
    lengths = (d.n, views.words, visible, 0, d.out("i8"))
    starts = d.scan(d.computed(long_lengths, *lengths))
    data, masks = d.text(d.last(starts)), d.table(inline_masks(), "u8")
    return d.n, views.words, visible, 0, masks, starts, data, 30, d.out("u8", 2 * d.n)


def show_views(d: Data, mean: int) -> tuple[Any, ...]:
    views = d.views(mean)
    return d.n, views.items, d.bits(), 0, views.addresses, d.out("i4", 4 * d.n)


def covered_bits(d: Data) -> tuple[Any, ...]:
    count = -(-d.n // 20)
    starts = d.range("i8", 20, count=count)
    stops = d.range("i8", 20, 10, count=count)
    return d.n // 8, starts, stops, d.n, d.out("u1", d.n // 8)


def runs_with_set_bits(d: Data, run: int) -> tuple[Any, ...]:
    ends = run_ends(d, run, "i8")
    size = -(-len(ends) // 8)
    return size, ends, d.bits(d.last(ends)), d.out("u1", size)


# What is hidden is zero already: nothing is found, and all is looked at.
streaming(
    kernels.first_hidden_value,
    lambda d, t: (d.n // 64, d.out(t), 1, d.bits(), 0, d.n),
    each=WIDTHS,
)
streaming(
    kernels.blank_hidden_values,
    lambda d, t: (d.n // 64, d.words(t), 1, d.bits(), 0, d.n, d.out(t)),
    each=WIDTHS,
)
streaming(
    kernels.first_hidden_length,
    lambda d: (d.n // 64, d.out("i4", d.n + 1), d.bits(), 0, d.n),
)
streaming(kernels.visible_lengths, lambda d: (d.n, d.offsets("i4", 8), d.bits(), 0, d.out("i8")))
gather(kernels.show_views, show_views, each=BYTES_OF_VIEWS)
gather(kernels.repoint_views, repoint_views, each=BYTES_OF_VIEWS)
other(kernels.covered_bits, covered_bits, label="ranges of 10")
other(kernels.runs_with_set_bits, runs_with_set_bits, each=RUNS)
streaming(
    kernels.repeat_bits,
    lambda d: (d.n // 8, d.bits(), 0, 8, 8 * d.n, d.out("u8", d.n // 8)),
    label="8 times each",
)
