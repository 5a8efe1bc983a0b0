"""The ways of running a case; each returns what went wrong, in words, or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import islice
from typing import Any

import numpy as np
from kernels.cases import Case, arguments, cases, combine, fetched, variants

from colkern.kernels import Argument, Kernel
from colkern.memory import HOST


class Plain:
    """Where plain Python reads: what `arguments` needs of a target."""

    device = HOST

    def address(self, array: Any) -> int:
        return int(array.ctypes.data)


Range = tuple[int, int, int]


def whole(count: int) -> list[Range]:
    return [(0, count, 1)]


def halves(count: int) -> list[Range]:
    """As the CPU cuts a range among threads, none of which gets nothing."""
    middle = count // 2
    return [(0, middle, 1), (middle, count, 1)] if middle else whole(count)


def tiles(count: int, tile: int = 6, threads: int = 4) -> list[Range]:
    """As a GPU does: the items of a tile, a block's width apart. Some threads start past the end."""
    return [
        (begin + thread, min(begin + tile, count), threads)
        for begin in range(0, max(count, 1), tile)
        for thread in range(threads)
    ]


def thirds(count: int) -> list[Range]:
    return [(k, count, 3) for k in range(3)]


def plain_failures(name: str) -> Iterator[str]:
    """The cases of a variant that plain Python gets wrong."""
    kernel, variant = variants()[name]
    for case in cases(name):
        for cut in (whole,) if kernel.sequential else (whole, halves, tiles, thirds):
            given, _alive = arguments(case, variant, Plain())
            typed = [
                value if a.array else np.dtype(a.item).type(value)
                for value, a in zip(given, variant, strict=True)
            ]
            parts = [kernel(*part, *typed) for part in cut(case.count)]
            result = reduce(combine(kernel), map(plain, parts)) if kernel.returns else None
            yield from difference(case, kernel, variant, given, result, cut.__name__)


def plain(number: Any) -> Any:
    """A NumPy number as a Python one."""
    return number.item() if hasattr(number, "item") else number


def sampled(name: str, most: int) -> Iterator[Case]:
    """The cases of a variant, or as many of them, evenly spread; other ones for each variant."""
    every = list(cases(name))
    start = list(variants()).index(name) % max(len(every) // most, 1)
    return islice(every, start, None, -(-len(every) // most))


def target_failures(name: str, target: Any, most: int = 1 << 20, **options: Any) -> Iterator[str]:
    """The cases of a variant (at most that many of them) that a target gets wrong."""
    kernel, variant = variants()[name]
    for case in sampled(name, most):
        given, _alive = arguments(case, variant, target)
        result = None
        if kernel.returns:
            result = target.reduce(kernel, case.count, *given, **options)
        else:
            target.map(kernel, case.count, *given, **options)
        yield from difference(case, kernel, variant, given, result, str(options))


def difference(
    case: Case,
    kernel: Kernel,
    variant: tuple[Argument, ...],
    given: list[Any],
    result: Any,
    how: str,
) -> Iterator[str]:
    expected = case.expected
    if variant[-1].written:
        returned, items = expected if kernel.returns else (None, expected)
        # As the output's type shows them.
        expected = (returned, np.array(items, np.dtype(variant[-1].item)).tolist())
        result = (result, fetched(given[-1]))
    # By their text: a NaN that was expected is no difference.
    if result != expected and repr(result) != repr(expected):
        yield f"{case.label} ({how}): expected {expected}, found {result}"
