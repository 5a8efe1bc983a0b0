"""Strings. Those that are compared are all the same, so that all their bytes are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.gpu.case import gather, streaming
from benchmarks.gpu.data import Data, Views
from colkern.kernels import strings as kernels

PATTERNS = {"6 bytes": range(97, 103), "24 bytes": range(97, 121)}
MEANS = {"6 bytes": 6, "24 bytes": 24}
AT_END = {
    f"{label}, at the {place}": (letters, place == "end")
    for label, letters in PATTERNS.items()
    for place in ("start", "end")
}


def marks(d: Data) -> Any:
    """An output of one bit a slot."""
    return d.out("u1", d.n // 8)


def pattern(d: Data, letters: Sequence[int]) -> tuple[int, int]:
    """The address of the pattern, with zeros behind it, and its length."""
    return d.address(d.table([*letters, *[0] * 16], "u1")), len(letters)


def same(d: Data, letters: Sequence[int]) -> tuple[Any, ...]:
    """Strings that are all those letters: offsets, the address of the text, its last word."""
    text = d.text(len(letters) * d.n, letters)
    return d.range("i4", len(letters), count=d.n + 1), d.address(text), text.nbytes - 8


def others(d: Data, mean: int = 16) -> tuple[Any, ...]:
    """Strings of any length, as `same`."""
    text = d.text(mean * d.n)
    return d.offsets("i4", mean), d.address(text), text.nbytes - 8


def of_views(views: Views) -> tuple[Any, ...]:
    return views.words, views.every_address


def equal_text(d: Data, letters: Sequence[int]) -> tuple[Any, ...]:
    return d.n // 64, *same(d, letters), *pattern(d, letters), d.n, 0, d.out("u8", d.n // 64)


def match_text(d: Data, which: tuple[Sequence[int], bool]) -> tuple[Any, ...]:
    letters, at_end = which
    return d.n // 8, *same(d, letters), *pattern(d, letters), int(at_end), d.n, marks(d)


def equal_texts(d: Data, letters: Sequence[int]) -> tuple[Any, ...]:
    return d.n // 64, *same(d, letters), *same(d, letters), d.n, 0, d.out("u8", d.n // 64)


def equal_view(d: Data, letters: Sequence[int]) -> tuple[Any, ...]:
    views = of_views(d.views(len(letters), letters))
    return d.n // 8, *views, d.none, 0, *pattern(d, letters), d.n, 0, marks(d)


def match_view(d: Data, letters: Sequence[int]) -> tuple[Any, ...]:
    views = of_views(d.views(len(letters), letters))
    return d.n // 8, *views, d.none, 0, *pattern(d, letters), d.n, marks(d)


def equal_views(d: Data, letters: Sequence[int]) -> tuple[Any, ...]:
    sides = [(*of_views(d.views(len(letters), letters)), d.none, 0) for _ in range(2)]
    return d.n // 8, *sides[0], *sides[1], d.n, 0, marks(d)


def ascii_views(d: Data, mean: int) -> tuple[Any, ...]:
    return d.n // 8, *of_views(d.views(mean)), d.none, 0, d.n, marks(d)


def count_characters_of_views(d: Data, mean: int) -> tuple[Any, ...]:
    views = d.views(mean)
    return d.n, *of_views(views), views.every_size, d.none, 0, d.out("i4")


gather(kernels.equal_text, equal_text, each=PATTERNS)
gather(kernels.match_text, match_text, each=AT_END)
gather(kernels.equal_texts, equal_texts, each=PATTERNS)
gather(kernels.equal_view, equal_view, each=PATTERNS)
gather(kernels.match_view_start, match_view, each=PATTERNS)
gather(kernels.match_view_end, match_view, each=PATTERNS)
gather(kernels.equal_views, equal_views, each=PATTERNS)
streaming(kernels.has_inline_high_bit, lambda d: (d.n, d.views(12).words, d.none, 0))
streaming(kernels.has_high_bit, lambda d: (d.n, d.text(8 * d.n)))
gather(kernels.ascii_texts, lambda d: (d.n // 8, *others(d), d.n, marks(d)), label="16 bytes")
gather(kernels.ascii_views, ascii_views, each=MEANS)
gather(kernels.count_characters, lambda d: (d.n, *others(d), d.out("i4")), label="16 bytes")
gather(kernels.count_characters_of_views, count_characters_of_views, each=MEANS)
