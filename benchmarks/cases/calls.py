"""Calls over ten values, where what surrounds a kernel takes all of the time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

import colkern as ck
from benchmarks.case import Case, compared


@ck.udf
def discounted(price: float, discount: float) -> float:
    """A row function."""
    return price * (1 - discount)


_CALLS: dict[str, tuple[Callable[..., Any], Callable[..., Any] | None, Callable[..., Any]]] = {
    "add": (lambda c: ck.add(c.i, c.j), lambda c: pc.add(c.i, c.j), lambda c: c.i + c.j),
    "sum": (lambda c: ck.sum(c.x), lambda c: pc.sum(c.x), lambda c: c.x.sum()),
    "min": (lambda c: ck.min(c.i), lambda c: pc.min(c.i), lambda c: c.i.min()),
    "greater": (
        lambda c: ck.greater(c.x, c.x),
        lambda c: pc.greater(c.x, c.x),
        lambda c: c.x > c.x,
    ),
    "and_": (lambda c: ck.and_(c.m, c.m), lambda c: pc.and_(c.m, c.m), lambda c: c.m & c.m),
    "filter": (
        lambda c: ck.filter(c.i, c.m),
        lambda c: pc.filter(c.i, c.m),
        lambda c: c.i.filter(c.m),
    ),
    "take": (lambda c: ck.take(c.i, c.p), lambda c: pc.take(c.i, c.p), lambda c: c.i.gather(c.p)),
    "slice": (
        lambda c: c.i.slice(2, 5),
        lambda c: c.i.slice(2, 5),
        lambda c: c.i.slice(2, 5),
    ),
    "null_count": (
        lambda c: c.x.slice(2, 5).null_count,
        lambda c: c.x.slice(2, 5).null_count,
        lambda c: c.x.slice(2, 5).null_count(),
    ),
    "udf": (lambda c: discounted(c.x, c.x), None, lambda c: c.x * (1 - c.x)),
}
"""Call → by colkern, by pyarrow and by polars."""


class _Columns:
    """Integers (`i`, `j`), floats with a null (`x`), booleans (`m`) and positions (`p`)."""

    def __init__(self, rows: int, of: Callable[[pa.Array], Any]) -> None:
        self.i = of(pa.array(np.arange(rows)))
        self.j = of(pa.array(np.arange(rows)[::-1]))
        self.x = of(pa.array([None, *np.arange(rows - 1.0)], pa.float64()))
        self.m = of(pa.array(np.arange(rows) % 3 == 0))
        self.p = of(pa.array(np.arange(rows)[::-3]))


@compared(rows=(10,), call=tuple(_CALLS))
def calls(rows: int, call: str) -> Case:
    """One call; most of the time is Python's."""
    ours, arrow, polars = _CALLS[call]
    own, theirs, frames = (_Columns(rows, of) for of in (ck.array, lambda a: a, pl.Series))
    work = {"colkern": lambda: ours(own), "polars": lambda: polars(frames)}
    if arrow is not None:
        work["pyarrow"] = lambda: arrow(theirs)
    return Case(8 * rows, work)
