"""Kernels over few items without the compiler: their bodies, run as the plain Python they are.

Loading the compiler takes longer than reading a small file. Once it is there, or when a kernel is
asked for again and again, kernels are compiled however few items there are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy import uint64

from colkern.kernels.kernel import Kernel

FEW = 128
"""At most so many items, bytes or slots, are worth plain Python."""

SHORT = 4096
"""At most so long are the arrays that plain Python is given: a slot may stand for many elements."""

_ENOUGH = 16384
"""So many items of a kernel in one process are worth the compiler."""

_spent: dict[Kernel, int] = {}


def plain_loop(kernel: Kernel, count: int, args: Sequence[Any]) -> Callable[..., Any] | None:
    """The loop of a kernel in plain Python, called as a compiled one; None if it should be compiled."""
    if count > FEW or "numba" in sys.modules:
        return None
    longest = max(
        (len(a) for a, d in zip(args, kernel.arguments, strict=True) if d.array), default=0
    )
    spent = _spent.get(kernel, 0) + max(count, longest) + 1
    if longest > SHORT or spent > _ENOUGH:
        return None
    _spent[kernel] = spent
    types = [None if a.array else np.dtype(a.item).type for a in kernel.arguments]

    def loop(start: int, stop: int, *args: Any) -> Any:
        typed = [a if t is None else t(a) for a, t in zip(args, types, strict=True)]
        # NumPy would warn of what compiled code does without a word.
        with np.errstate(all="ignore"):
            return kernel(uint64(start), uint64(stop), uint64(1), *typed)

    return loop
