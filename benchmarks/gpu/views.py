"""Views of values that are all inline, and of values of which most are in a data buffer."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.case import gather, streaming
from benchmarks.gpu.data import Data
from colkern.kernels import views as kernels

MEANS = {"6 bytes": 6, "24 bytes": 24}


def decode_views(d: Data, mean: int) -> tuple[Any, ...]:
    views = d.views(mean)
    where = views.every_address, views.every_size
    return d.n, views.items, *where, views.offsets, d.out("u1", mean * d.n)


def encode_views(d: Data, mean: int) -> tuple[Any, ...]:
    masks = d.table(kernels.inline_masks(), "u8")
    text = d.text(mean * d.n)
    return d.n, d.offsets("i4", mean), text, d.address(text), d.none, 0, masks, d.out("u8", 2 * d.n)


def move_views(d: Data) -> tuple[Any, ...]:
    words = d.views(12).words
    lengths = d.computed(kernels.long_lengths, d.n, words, d.none, 0, d.out("i8"))
    return d.n, words, d.none, 0, d.scan(lengths), d.out("u8", 2 * d.n)


def first_view_unlike_its_value(d: Data, mean: int) -> tuple[Any, ...]:
    views = d.views(mean)
    return d.n, views.items, d.none, 0, views.addresses


def first_odd_view(d: Data, mean: int) -> tuple[Any, ...]:
    views = d.views(mean)
    return d.n, views.items, d.none, 0, views.addresses, views.sizes, 0x80808080


def first_view_out_of_bounds(d: Data) -> tuple[Any, ...]:
    views = d.views(12)
    return d.n, views.items, d.none, 0, views.sizes


streaming(kernels.first_view_out_of_bounds, first_view_out_of_bounds)
gather(kernels.first_view_unlike_its_value, first_view_unlike_its_value, each=MEANS)
gather(kernels.first_odd_view, first_odd_view, each=MEANS)
streaming(kernels.view_lengths, lambda d: (d.n, d.views(12).items, d.bits(), 0, d.out("i4")))
gather(kernels.decode_views, decode_views, each=MEANS)
gather(kernels.encode_views, encode_views, each=MEANS)
streaming(kernels.long_lengths, lambda d: (d.n, d.views(12).words, d.bits(), 0, d.out("i8")))
streaming(kernels.move_views, move_views)
streaming(kernels.renumber_views, lambda d: (d.n, 1, d.views(12).items), rewrites=True)
