"""Text: ASCII alone, and characters of two bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.gpu.case import gather, other, streaming
from benchmarks.gpu.data import Data
from colkern.kernels import text as kernels

TEXTS = {"ASCII": [], "two bytes a character": [0xC3, 0xA9]}
LENGTH = 12


def begins(d: Data, letters: Sequence[int]) -> tuple[Any, ...]:
    text = d.text(LENGTH * d.n, letters)
    return d.n, d.range("i4", LENGTH), text, len(text)


def slots(d: Data, letters: Sequence[int]) -> tuple[Any, ...]:
    text = d.text(LENGTH * d.n, letters)
    offsets = d.range("i4", LENGTH, count=d.n + 1)
    return d.n, offsets, d.address(text), d.none, 0


def views(d: Data, mean: int) -> tuple[Any, ...]:
    views = d.views(mean)
    known = d.table([kernels.NEITHER], "u1")
    tables = (views.addresses, views.sizes, known)
    return d.n, views.items, d.address(views.items), d.none, 0, *tables


other(kernels.encoding_of, lambda d, t: (d.n - 3, d.text(d.n, t)), each=TEXTS)
other(kernels.first_misplaced_byte, lambda d, t: (d.n + 3, d.text(d.n, t)), each=TEXTS)
gather(kernels.first_begin_within_a_character, begins, each=TEXTS)
gather(kernels.first_slot_not_utf8, slots, each=TEXTS)
streaming(kernels.count_bytes_in_buffers, lambda d: (d.n, d.views(12).items, d.bits(), 0))
gather(kernels.first_view_not_utf8, views, each={"6 bytes": 6, "24 bytes": 24})
