"""Views of values in a data buffer, and of inline ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.gpu.case import Data, Launch, launches
from colkern.kernels import hidden, text
from colkern.kernels import views as kernels

LENGTHS = (8, 24)


def encoded(data: Data, length: int) -> tuple[Any, Any, Any]:
    """Views of values of that many bytes, with the bytes, and with the offsets of the values."""
    count = data.slots(16 + 4 + 2 * length)
    values = data.full(count * length, 97, "u1")
    offsets = data.range(count + 1, "i4", length)
    words = data.out(4 * count, "i4")
    data.target.map(kernels.encode_views, count, offsets, values, data.none, 0, words)
    return words, values, offsets


@launches
def copied_views(data: Data) -> Iterator[Launch]:
    for length in LENGTHS:
        words, values, offsets = encoded(data, length)
        count, label = len(offsets) - 1, f"{length} bytes each"
        args = (offsets, values, data.none, 0, words)
        yield Launch(kernels.encode_views, label, count, *args)
        base, table = data.target.address(words), data.addresses(values)
        out = data.out(len(values), "u1")
        at = [values] if length > 12 else []
        yield Launch(kernels.decode_views, label, count, words, base, table, offsets, out, at=at)
        shown = data.out(len(words), "i4")
        yield Launch(hidden.show_views, label, count, words, data.none, 0, table, shown)
        starts = data.range(count + 1, "i8", length)
        args = (words, data.none, 0, starts, values, kernels.WINDOW_BITS, shown)
        yield Launch(hidden.repoint_views, label, count, *args)


@launches
def checked_views(data: Data) -> Iterator[Launch]:
    for length in LENGTHS:
        words, values, offsets = encoded(data, length)
        count, label = len(offsets) - 1, f"{length} bytes each"
        table, sizes = data.addresses(values), data.table([len(values)], "i8")
        valid = (words, data.none, 0)
        yield Launch(kernels.first_view_out_of_bounds, label, count, *valid, sizes)
        at = [values] if length > 12 else []
        yield Launch(kernels.first_view_unlike_its_value, label, count, *valid, table, at=at)
        base = data.target.address(words)
        known = data.table([text.UTF8], "u1")
        args = (words, base, data.none, 0, table, sizes, known)
        yield Launch(text.first_view_not_utf8, label, count, *args, at=at)
        yield Launch(text.count_bytes_in_buffers, label, count, *valid)


@launches
def lengths_of_views(data: Data) -> Iterator[Launch]:
    words, _, offsets = encoded(data, 24)
    count = len(offsets) - 1
    visible, out = data.bits(count), data.out(count, "i8")
    yield Launch(kernels.view_lengths, "half null", count, words, visible, 0, out)
    yield Launch(hidden.visible_long_lengths, "half hidden", count, words, visible, 0, out)
    yield Launch(kernels.renumber_views, "", count, 0, words)
