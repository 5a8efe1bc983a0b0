"""Dictionary-encoded arrays."""

from __future__ import annotations

import arro3.compute as ac
import arro3.core as a3
import polars as pl
import pyarrow as pa

import colkern as ck
from benchmarks import data
from benchmarks.case import Case, compared
from benchmarks.timing import Work

_DISTINCT = (100, 10_000)


@compared(target=1.5, distinct=_DISTINCT, length=(12, 4, 60), nulls=(0, 0.01, 0.5))
def dictionary_decode_strings(rows: int, distinct: int, length: int, nulls: float) -> Case:
    """Strings from int32 indices; polars makes views of them."""
    values = data.strings(distinct, length)
    indices = data.indices(rows, distinct, "int32", nulls)
    peer = pa.DictionaryArray.from_arrays(indices, values)
    return _decoding(peer, rows * (8 + length), values)


@compared(target=2.0, distinct=_DISTINCT, dtype=("int64", "int32", "int8"), nulls=(0, 0.01, 0.5))
def dictionary_decode_numbers(rows: int, distinct: int, dtype: str, nulls: float) -> Case:
    """Numbers from int32 indices."""
    values = data.numbers(distinct, dtype)
    indices = data.indices(rows, distinct, "int32", nulls)
    peer = pa.DictionaryArray.from_arrays(indices, values)
    return _decoding(peer, rows * (4 + values.nbytes // distinct), values)


def _decoding(peer: pa.DictionaryArray, nbytes: int, values: pa.Array) -> Case:
    ours = ck.array(peer)
    other = a3.Array.from_arrow(peer)
    to = a3.DataType.from_arrow(values.type)
    contestants: dict[str, Work] = {
        "colkern": lambda: ck.dictionary_decode(ours),
        "pyarrow": peer.dictionary_decode,
        "arro3": lambda: ac.cast(other, to),
    }
    if values.type == pa.string():
        categories = pl.Series(pl.from_arrow(peer)).cast(pl.Categorical)
        contestants["polars"] = lambda: categories.cast(pl.String)
    return Case(nbytes, contestants)


@compared(target=2.0, distinct=(100, 10_000, 0), length=(12, 4, 60), nulls=(0, 0.5))
def dictionary_encode_strings(rows: int, distinct: int, length: int, nulls: float) -> Case:
    """Strings to int32 indices; all of them differ if `distinct` is 0."""
    peer = data.strings(rows, length, nulls, distinct)
    ours = ck.array(peer)
    series = pl.Series(pl.from_arrow(peer))
    work: dict[str, Work] = {
        "colkern": lambda: ck.dictionary_encode(ours),
        "pyarrow": peer.dictionary_encode,
        "polars": lambda: series.cast(pl.Categorical),
    }
    return Case(rows * (8 + length), work)


@compared(
    target=2.0, distinct=(100, 10_000, 0), dtype=("int64", "int32", "float64"), nulls=(0, 0.5)
)
def dictionary_encode_numbers(rows: int, distinct: int, dtype: str, nulls: float) -> Case:
    """Numbers that lie far from each other to int32 indices; all of them differ if `distinct` is 0."""
    peer = data.numbers(rows, dtype, nulls)
    if distinct:
        peer = data.numbers(distinct, dtype).take(data.indices(rows, distinct, "int32", nulls))
    ours = ck.array(peer)
    work: dict[str, Work] = {
        "colkern": lambda: ck.dictionary_encode(ours),
        "pyarrow": peer.dictionary_encode,
    }
    return Case(rows * 4 + peer.nbytes, work)


@compared(target=2.0, distinct=(100, 10_000))
def unify_dictionaries(rows: int, distinct: int) -> Case:
    """Ten arrays of strings, half of whose values are the next one's too."""
    parts = []
    for number in range(10):
        values = pa.array([f"value {number * distinct // 2 + k}" for k in range(distinct)])
        indices = data.indices(rows // 10, distinct, "int32")
        parts.append(pa.DictionaryArray.from_arrays(indices, values))
    peer = pa.chunked_array(parts)
    ours = [ck.array(part) for part in parts]
    work: dict[str, Work] = {
        "colkern": lambda: ck.unify_dictionaries(ours),
        "pyarrow": peer.unify_dictionaries,
    }
    return Case(rows * 8, work)
