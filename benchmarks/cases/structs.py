"""Structs: their fields, with the struct's nulls."""

from __future__ import annotations

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

import colkern as ck
from benchmarks import data
from benchmarks.case import Case, compared

NULLS = (0.01, 0, 0.5)


def _structs(rows: int, nulls: float, inner: float) -> pa.StructArray:
    children = [data.numbers(rows, nulls=inner), data.numbers(rows, "int32")]
    mask = data.mask(rows, nulls) if nulls else None
    return pa.StructArray.from_arrays(children, names=["a", "b"], mask=mask)


@compared(target=2.0, nulls=NULLS, inner=(0.01, 0, 0.5))
def struct_flatten(rows: int, nulls: float, inner: float) -> Case:
    """All fields, null where the struct is; only bitmaps are written.

    polars makes the fields null where the struct is when it takes the struct over, and has nothing
    left to do afterwards: where there are such nulls its time includes that.
    """
    peer = _structs(rows, nulls, inner)
    ours, series = ck.array(peer), pl.Series(peer)
    return Case(
        rows * 6 // 8 if nulls else 1,
        {
            "colkern": lambda: ck.struct_flatten(ours),
            "pyarrow": lambda: peer.flatten(),
            "polars": lambda: (pl.Series(peer) if nulls else series).struct.unnest(),
        },
    )


@compared(target=2.0, nulls=NULLS, inner=(0.01, 0, 0.5))
def struct_field(rows: int, nulls: float, inner: float) -> Case:
    """One field, null where the struct is; of polars' time see `struct_flatten`."""
    peer = _structs(rows, nulls, inner)
    ours, series = ck.array(peer), pl.Series(peer)
    return Case(
        rows * 3 // 8 if nulls else 1,
        {
            "colkern": lambda: ck.struct_field(ours, "a"),
            "pyarrow": lambda: pc.struct_field(peer, ["a"]),
            "polars": lambda: (pl.Series(peer) if nulls else series).struct.field("a"),
        },
    )


@compared(rows=(1_000,))
def make_struct(rows: int) -> Case:
    """A struct of two fields, which are not copied."""
    columns = [data.numbers(rows), data.numbers(rows, "int32", 0.01)]
    ours = [ck.array(column) for column in columns]
    return Case(
        1,
        {
            "colkern": lambda: ck.make_struct(ours, ["a", "b"]),
            "pyarrow": lambda: pc.make_struct(*columns, field_names=["a", "b"]),
        },
    )
