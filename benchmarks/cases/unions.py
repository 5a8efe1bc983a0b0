"""Unions of several children of one type, and of different ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import colkern as ck
from benchmarks import data
from benchmarks.case import Case, compared

DTYPES = ("int64", "int32", "string")


@compared(target=2.0, children=(3, 2, 8), dtype=DTYPES, nulls=(0, 0.1))
def gather_dense_union(rows: int, children: int, dtype: str, nulls: float) -> Case:
    """One array of the values; pyarrow spreads each child over all slots, and chooses."""
    peer = dense(rows, children, dtype, nulls)
    ours = ck.array(peer)
    ids = pa.Array.from_buffers(pa.int8(), rows, [None, peer.buffers()[1]])
    offsets = pa.Array.from_buffers(pa.int32(), rows, [None, peer.buffers()[2]])
    fields = [peer.field(k) for k in range(children)]
    nothing = pa.scalar(None, pa.int32())

    def chosen() -> pa.Array:
        spread = [
            field.take(pc.if_else(pc.equal(ids, k), offsets, nothing))
            for k, field in enumerate(fields)
        ]
        return pc.choose(ids, *spread)

    return Case(
        peer.nbytes + rows * 8,
        {"colkern": lambda: ck.gather_union(ours), "pyarrow": chosen},
    )


@compared(target=2.0, children=(3, 2, 8), dtype=DTYPES, nulls=(0, 0.1))
def gather_sparse_union(rows: int, children: int, dtype: str, nulls: float) -> Case:
    """One array of the values; pyarrow chooses by the type ids."""
    peer = sparse(rows, children, dtype, nulls)
    ours = ck.array(peer)
    ids = pa.Array.from_buffers(pa.int8(), rows, [None, peer.buffers()[1]])
    fields = [peer.field(k) for k in range(children)]
    return Case(
        peer.nbytes + rows * 8,
        {
            "colkern": lambda: ck.gather_union(ours),
            "pyarrow": lambda: pc.choose(ids, *fields),
        },
    )


@compared(target=2.0, mode=("dense", "sparse"), dtype=DTYPES)
def select_child(rows: int, mode: str, dtype: str) -> Case:
    """The slots of one of three children, and their values."""
    peer = (dense if mode == "dense" else sparse)(rows, 3, dtype, 0)
    ours = ck.array(peer)
    ids = pa.Array.from_buffers(pa.int8(), rows, [None, peer.buffers()[1]])
    child = peer.field(1)
    offsets = None
    if mode == "dense":
        offsets = pa.Array.from_buffers(pa.int32(), rows, [None, peer.buffers()[2]])

    def selected() -> Any:
        slots = pc.indices_nonzero(pc.equal(ids, 1))
        return slots, child.take(slots if offsets is None else offsets.take(slots))

    return Case(
        rows + rows // 3 * 24,
        {"colkern": lambda: ck.select_child(ours, 1), "pyarrow": selected},
    )


@compared(target=2.0, share=(0.1, 1.0))
def take_dense_union(rows: int, share: float) -> Case:
    """Random slots of a dense union of numbers and strings."""
    peer = mixed(rows)
    picks = data.indices(int(rows * share), rows)
    ours, indices = ck.array(peer), ck.array(picks)
    return Case(
        picks.nbytes * 3,
        {"colkern": lambda: ck.take(ours, indices), "pyarrow": lambda: peer.take(picks)},
    )


@compared(target=2.0, children=(3, 8))
def to_dense_union(rows: int, children: int) -> Case:
    """Numbers; no peer has it, so pyarrow filters each child."""
    peer = sparse(rows, children, "int64", 0)
    ours = ck.array(peer)
    ids = pa.Array.from_buffers(pa.int8(), rows, [None, peer.buffers()[1]])
    fields = [peer.field(k) for k in range(children)]

    def filtered() -> pa.Array:
        offsets = np.empty(rows, np.int32)
        kept = []
        for k, field in enumerate(fields):
            mask = pc.equal(ids, k)
            kept.append(field.filter(mask))
            offsets[mask.to_numpy(zero_copy_only=False)] = np.arange(len(kept[-1]))
        return pa.UnionArray.from_dense(ids, pa.array(offsets), kept)

    return Case(
        peer.nbytes + rows * 12,
        {"colkern": lambda: ck.to_dense_union(ours), "pyarrow": filtered},
    )


@compared(target=2.0, children=(3, 8))
def to_sparse_union(rows: int, children: int) -> Case:
    """Numbers; no peer has it, so pyarrow spreads each child."""
    peer = dense(rows, children, "int64", 0)
    ours = ck.array(peer)
    ids = pa.Array.from_buffers(pa.int8(), rows, [None, peer.buffers()[1]])
    offsets = pa.Array.from_buffers(pa.int32(), rows, [None, peer.buffers()[2]])
    fields = [peer.field(k) for k in range(children)]
    nothing = pa.scalar(None, pa.int32())

    def spread() -> pa.Array:
        return pa.UnionArray.from_sparse(
            ids,
            [
                field.take(pc.if_else(pc.equal(ids, k), offsets, nothing))
                for k, field in enumerate(fields)
            ],
        )

    return Case(
        peer.nbytes + rows * 8 * children,
        {"colkern": lambda: ck.to_sparse_union(ours), "pyarrow": spread},
    )


def dense(rows: int, children: int, dtype: str, nulls: float) -> pa.UnionArray:
    """Random type ids, and children that are shown in order."""
    ids = data.random(12).integers(0, children, rows, np.int8)
    offsets = np.empty(rows, np.int32)
    fields = []
    for k in range(children):
        slots = np.flatnonzero(ids == k)
        offsets[slots] = np.arange(len(slots))
        fields.append(_values(len(slots), dtype, nulls))
    return pa.UnionArray.from_dense(pa.array(ids), pa.array(offsets), fields)


def sparse(rows: int, children: int, dtype: str, nulls: float) -> pa.UnionArray:
    """Random type ids."""
    ids = data.random(12).integers(0, children, rows, np.int8)
    fields = [_values(rows, dtype, nulls)] * children
    return pa.UnionArray.from_sparse(pa.array(ids), fields)


def mixed(rows: int) -> pa.UnionArray:
    """Numbers and strings, in turn."""
    ids = (np.arange(rows) % 2).astype(np.int8)
    offsets = (np.arange(rows) // 2).astype(np.int32)
    fields = [data.numbers(rows // 2 + 1), data.strings(rows // 2 + 1)]
    return pa.UnionArray.from_dense(pa.array(ids), pa.array(offsets), fields)


def _values(count: int, dtype: str, nulls: float) -> pa.Array:
    if dtype == "string":
        return data.strings(count, nulls=nulls)
    return data.numbers(count, dtype, nulls)
