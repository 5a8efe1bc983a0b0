"""Order of two arrays, and of an array and a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.gpu.case import gather, streaming
from benchmarks.gpu.comparison import marks, values
from benchmarks.gpu.data import Data
from benchmarks.gpu.strings import PATTERNS, of_views, pattern, same
from colkern.kernels import ordering as kernels
from colkern.kernels.relations import LESS

INTEGERS = ("u1", "u4", "u8")
FLOATS = ("f4", "f8")


def each_side(types: tuple[str, ...]) -> dict[str, tuple[str, int]]:
    """The types, for two arrays, and for an array and a value."""
    sides = ((1, "two arrays"), (0, "a value"))
    return {f"{dtype}, {label}": (dtype, stride) for dtype in types for stride, label in sides}


def numbers(d: Data, which: tuple[str, int], argument: int) -> tuple[Any, ...]:
    """A launch, with the sign bit or the relation."""
    dtype, stride = which
    right = values(d, dtype) if stride else d.table([2] * kernels.SIDE_BY_SIDE, dtype)
    return d.n // 8, values(d, dtype), 1, right, stride, argument, d.n, 0, marks(d)


def decimals(d: Data) -> tuple[Any, ...]:
    left, right = (d.numbers("u8", 2, 2 * d.n) for _ in range(2))
    return d.n // 8, left, 1, right, 1, 2, d.n, 0, marks(d)


# Whether strings are not less than such as are all the same: all their bytes are looked at.


def less_text(d: Data, letters: Sequence[int]) -> tuple[Any, ...]:
    return d.n // 8, *same(d, letters), *pattern(d, letters), 0, d.n, 255, marks(d)


def less_texts(d: Data, letters: Sequence[int]) -> tuple[Any, ...]:
    return d.n // 8, *same(d, letters), *same(d, letters), d.n, 255, marks(d)


def less_view(d: Data, letters: Sequence[int]) -> tuple[Any, ...]:
    views = of_views(d.views(len(letters), letters))
    return d.n // 8, *views, d.none, 0, *pattern(d, letters), 0, d.n, 255, marks(d)


def less_views(d: Data, letters: Sequence[int]) -> tuple[Any, ...]:
    sides = [(*of_views(d.views(len(letters), letters)), d.none, 0) for _ in range(2)]
    return d.n // 8, *sides[0], *sides[1], d.n, 255, marks(d)


streaming(kernels.less_integers, lambda d, t: numbers(d, t, 0), each=each_side(INTEGERS))
streaming(kernels.less_floats, lambda d, t: numbers(d, t, LESS), each=each_side(FLOATS))
streaming(kernels.less_decimals, decimals, label="128 bits")
gather(kernels.less_text, less_text, each=PATTERNS)
gather(kernels.less_texts, less_texts, each=PATTERNS)
gather(kernels.less_view, less_view, each=PATTERNS)
gather(kernels.less_views, less_views, each=PATTERNS)
