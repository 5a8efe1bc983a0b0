"""Views: to offsets and back, and without what nothing shows."""

from __future__ import annotations

import polars as pl
import pyarrow as pa

import colkern as ck
from benchmarks import data
from benchmarks.case import Case, compared

LENGTHS = (12, 6, 30, 200)
NULLS = (0, 0.5)

_NBYTES = 1_500_000_000
"""More than this would not fit 32-bit offsets, nor the memory."""


def _strings(rows: int, length: int, nulls: float) -> pa.Array:
    return data.strings(min(rows, _NBYTES // length), length, nulls)


@compared(target=2.0, length=LENGTHS, nulls=NULLS)
def views_to_offsets(rows: int, length: int, nulls: float) -> Case:
    """All inline (6), all sorts (12, 30), mostly long (200)."""
    plain = _strings(rows, length, nulls)
    views = plain.cast(pa.string_view())
    ours, series = ck.array(views), pl.Series(plain)
    work = {
        "colkern": lambda: ck.views_to_offsets(ours),
        "pyarrow": lambda: views.cast(plain.type),
        "polars": lambda: series.to_arrow(compat_level=pl.CompatLevel.oldest()),
    }
    return Case(plain.nbytes * 2 + 12 * len(plain), work)


@compared(target=2.0, length=LENGTHS, nulls=NULLS)
def offsets_to_views(rows: int, length: int, nulls: float) -> Case:
    """The bytes are shared; what remains is to look at the first of each value."""
    plain = _strings(rows, length, nulls)
    ours = ck.array(plain)
    work = {
        "colkern": lambda: ck.offsets_to_views(ours),
        "pyarrow": lambda: plain.cast(pa.string_view()),
    }
    return Case(len(plain) * (16 + 4 + 12), work)


@compared(target=2.0, length=(30, 12, 200), nulls=NULLS)
def compact_views(rows: int, length: int, nulls: float) -> Case:
    """Half of the values, in a random order; pyarrow casts to offsets and back."""
    plain = _strings(rows, length, nulls)
    chosen = data.indices(len(plain) // 2, len(plain))
    ours = ck.take(ck.offsets_to_views(ck.array(plain)), ck.array(chosen))
    theirs = pa.array(ours)
    kind = pa.large_string() if plain.nbytes >> 31 else pa.string()
    work = {
        "colkern": lambda: ck.compact_views(ours),
        "pyarrow": lambda: theirs.cast(kind).cast(pa.string_view()),
    }
    return Case(plain.nbytes, work)
