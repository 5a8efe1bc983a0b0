"""Lists: their elements, lengths and parents, and one layout in terms of another.

The sizes are numbers of elements. "4" are lists of four, "0 to 8" of random lengths, and "skewed" are
lists of four of which one has half of all elements.
"""

from __future__ import annotations

from typing import Any

import awkward as ak
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

import colkern as ck
from benchmarks import data
from benchmarks.case import Case, compared

LENGTHS = ("4", "0 to 8", "skewed")


def _offsets(elements: int, length: str) -> NDArray[np.int32]:
    if length == "0 to 8":
        lengths = data.random(7).integers(0, 9, elements // 4, np.int32)
    else:
        lengths = np.full(elements // 4, 4, np.int32)
    if length == "skewed":
        half = len(lengths) // 2
        lengths = np.concatenate([lengths[: half // 2], [4 * half], lengths[: half // 2]])
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def _lists(elements: int, length: str, nulls: float = 0, dtype: str = "int64") -> pa.ListArray:
    """Lists without null elements; null ones stand over as many elements as others."""
    offsets = _offsets(elements, length)
    child = data.numbers(int(offsets[-1]), dtype)
    count = len(offsets) - 1
    validity = None
    if nulls:
        validity = pc.invert(data.mask(count, nulls)).buffers()[1]
    buffers = [validity, pa.py_buffer(offsets)]
    kind = pa.list_(child.type)
    return pa.Array.from_buffers(kind, count, buffers, -1 if nulls else 0, 0, [child])


@compared(target=2.0, length=LENGTHS, nulls=(0.01, 0, 0.5), dtype=("int64", "int8"))
def list_flatten(rows: int, length: str, nulls: float, dtype: str) -> Case:
    """The elements, without those below nulls; without nulls a slice."""
    peer = _lists(rows, length, nulls, dtype)
    ours = ck.array(peer)
    nbytes = 2 * peer.values.nbytes + peer.nbytes - peer.values.nbytes
    return Case(
        nbytes if nulls else 1,
        {
            "colkern": lambda: ck.list_flatten(ours),
            "pyarrow": lambda: pc.list_flatten(peer),
        },
    )


@compared(target=2.0, length=LENGTHS, nulls=(0, 0.01, 0.5))
def list_value_length(rows: int, length: str, nulls: float) -> Case:
    """How many elements each list has."""
    peer = _lists(rows, length, nulls)
    ours, series, lists = ck.array(peer), pl.Series(peer), ak.from_arrow(peer)
    return Case(
        len(peer) * 8,
        {
            "colkern": lambda: ck.list_value_length(ours),
            "pyarrow": lambda: pc.list_value_length(peer),
            "polars": lambda: series.list.len(),
            "awkward": lambda: ak.num(lists),
        },
    )


@compared(target=2.0, length=LENGTHS, nulls=(0, 0.01, 0.5))
def list_parent_indices(rows: int, length: str, nulls: float) -> Case:
    """The list of each element; pyarrow counts the elements below nulls, too."""
    peer = _lists(rows, length, nulls)
    ours, offsets = ck.array(peer), peer.offsets.to_numpy()
    contestants: dict[str, Any] = {
        "colkern": lambda: ck.list_parent_indices(ours),
        "pyarrow": lambda: pc.list_parent_indices(peer),
    }
    if not nulls:
        contestants["NumPy"] = lambda: np.repeat(np.arange(len(peer)), np.diff(offsets))
    return Case(rows * 8 + len(peer) * 4, contestants)


@compared(target=2.0, length=LENGTHS, nulls=(0, 0.01))
def list_element(rows: int, length: str, nulls: float) -> Case:
    """The first element of each list; of "0 to 8" the last of nine."""
    peer = _lists(rows, "4" if length == "0 to 8" else length, nulls)
    ours, series = ck.array(peer), pl.Series(peer)
    return Case(
        len(peer) * 20,
        {
            "colkern": lambda: ck.list_element(ours, 0),
            "pyarrow": lambda: pc.list_element(peer, 0),
            "polars": lambda: series.list.get(0),
        },
    )


@compared(target=2.0, length=LENGTHS, order=("shuffled", "as lists"), dtype=("int64", "int8"))
def list_view_to_list(rows: int, length: str, order: str, dtype: str) -> Case:
    """List views as lists: copied where their order is another one."""
    lists = _lists(rows, length, 0, dtype)
    begins, ends = lists.offsets.to_numpy()[:-1], lists.offsets.to_numpy()[1:]
    chosen = np.arange(len(lists))
    if order == "shuffled":
        data.random(8).shuffle(chosen)
    buffers = [pa.py_buffer(part[chosen]) for part in (begins, ends - begins)]
    kind = pa.list_view(lists.type.value_type)
    peer = pa.Array.from_buffers(kind, len(lists), [None, *buffers], 0, 0, [lists.values])
    ours = ck.array(peer)
    awkward = ak.contents.ListArray(
        ak.index.Index32(begins[chosen]),
        ak.index.Index32(ends[chosen]),
        ak.contents.NumpyArray(lists.values.to_numpy()),
    )
    return Case(
        2 * lists.values.nbytes + 12 * len(lists),
        {
            "colkern": lambda: ck.list_view_to_list(ours),
            "awkward": lambda: awkward.to_ListOffsetArray64(start_at_zero=True),
        },
    )


@compared(nulls=(0, 0.01))
def list_to_list_view(rows: int, nulls: float) -> Case:
    """Lists of four as list views; no peer has it."""
    ours = ck.array(_lists(rows, "4", nulls))
    return Case(rows * 2, {"colkern": lambda: ck.list_to_list_view(ours)})


@compared(target=2.0, nulls=(0, 0.01, 0.5), dtype=("int64", "int8"))
def list_to_fixed_size_list(rows: int, nulls: float, dtype: str) -> Case:
    """Lists of four as fixed-size lists, null ones without elements; those must be put in."""
    whole = _lists(rows, "4", nulls, dtype)
    if nulls:
        sizes = pc.fill_null(pc.list_value_length(whole), 0).to_numpy()
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        buffers = [whole.buffers()[0], pa.py_buffer(offsets)]
        whole = pa.Array.from_buffers(
            whole.type, len(whole), buffers, -1, 0, [pc.list_flatten(whole)]
        )
    ours, kind = ck.array(whole), pa.list_(whole.type.value_type, 4)
    contestants: dict[str, Any] = {
        "colkern": lambda: ck.list_to_fixed_size_list(ours, 4),
        "pyarrow": lambda: pc.cast(whole, kind),
    }
    if not nulls:
        lists = ak.from_arrow(whole)
        contestants["awkward"] = lambda: ak.to_regular(lists)
    return Case(rows + (2 * whole.values.nbytes if nulls else 0), contestants)


@compared(target=2.0, nulls=(0, 0.01))
def fixed_size_list_to_list(rows: int, nulls: float) -> Case:
    """Fixed-size lists of four as lists."""
    child = data.numbers(rows)
    mask = data.mask(rows // 4, nulls) if nulls else None
    peer = pa.FixedSizeListArray.from_arrays(child, 4, mask=mask)
    ours, kind = ck.array(peer), pa.list_(child.type)
    contestants: dict[str, Any] = {
        "colkern": lambda: ck.fixed_size_list_to_list(ours),
        "pyarrow": lambda: pc.cast(peer, kind),
    }
    if not nulls:
        regular = ak.from_arrow(peer)
        contestants["awkward"] = lambda: ak.from_regular(regular)
    return Case(rows, contestants)


@compared(target=2.0, nulls=(0, 0.01))
def list_with_offsets(rows: int, nulls: float) -> Case:
    """Lists of four as large lists."""
    peer = _lists(rows, "4", nulls)
    ours, kind = ck.array(peer), pa.large_list(peer.type.value_type)
    return Case(
        rows * 3,
        {
            "colkern": lambda: ck.list_with_offsets(ours, 64),
            "pyarrow": lambda: pc.cast(peer, kind),
        },
    )


@compared(
    target=2.0,
    length=LENGTHS,
    nulls=(0, 0.01, 0.5),
    dtype=("int64", "int8"),
    other=("int64", "text"),
)
def explode(rows: int, length: str, nulls: float, dtype: str, other: str) -> Case:
    """A column of lists beside one of other values; empty and null lists become nulls."""
    lists = _lists(rows, length, nulls, dtype)
    values = data.numbers(len(lists)) if other == "int64" else data.strings(len(lists))
    table = pa.record_batch({"values": values, "lists": lists})
    ours, frame = ck.record_batch(table), pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)

    def flattened() -> pa.RecordBatch:
        parents = pc.list_parent_indices(lists)
        return pa.record_batch({"a": values.take(parents), "b": pc.list_flatten(lists)})

    contestants: dict[str, Any] = {
        "colkern": lambda: ck.explode(ours, "lists"),
        "polars": lambda: frame.explode("lists", empty_as_null=True, keep_nulls=True),
    }
    if length != "0 to 8" and not nulls:
        # Elsewhere it leaves rows out.
        contestants["pyarrow"] = flattened
    return Case(rows * 16 + len(lists) * 12, contestants)
