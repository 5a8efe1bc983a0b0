"""Users' own functions: of rows, by `udf`, and over whole columns, by `numba.njit`.

The peers do the same work by the means that their users have: expressions where there are any, masks with
NumPy and pandas, Python functions, and loops that are compiled by Numba over raw arrays.
"""

from __future__ import annotations

from typing import Any

import awkward as ak
import numba
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

import colkern as ck
from benchmarks import data
from benchmarks.case import Case, compared

ROWS = (1_000_000, 10_000_000)
BATCH = 10_000
"""The rows of a batch as Spark cuts them."""


@ck.udf
def net_price(price: float, discount: float) -> float:
    """A price less its discount, which counts at most a half."""
    return price * (1.0 - min(discount, 0.5))


@numba.njit(error_model="numpy", nogil=True)
def _over_columns(prices: Any, discounts: Any, out: Any, valid: Any) -> None:
    for i in range(len(prices)):
        valid[i] = prices.is_valid(i) and discounts.is_valid(i)
        if valid[i]:
            out[i] = prices.value(i) * (1.0 - min(discounts.value(i), 0.5))


@numba.njit(error_model="numpy", nogil=True)
def _over_buffers(prices: Any, p: Any, discounts: Any, d: Any, out: Any, valid: Any) -> None:
    for i in range(len(prices)):
        byte, bit = i >> 3, i & 7
        valid[i] = (p[byte] >> bit) & 1 and (d[byte] >> bit) & 1
        if valid[i]:
            out[i] = prices[i] * (1.0 - min(discounts[i], 0.5))


def _with_masks(series: pd.DataFrame) -> pd.Series:
    price, discount = series["price"].to_numpy(), series["discount"].to_numpy()
    missing = np.isnan(price) | np.isnan(discount)
    out = np.full(len(price), np.nan)
    kept = ~missing
    out[kept] = price[kept] * (1.0 - np.minimum(discount[kept], 0.5))
    return pd.Series(out)


def _floats(rows: int, nulls: float, seed: int) -> pa.Array:
    values = data.random(seed).random(rows)
    return pa.array(values, mask=data.random(seed + 1).random(rows) < nulls if nulls else None)


def _bits(array: pa.Array) -> NDArray[np.uint8]:
    buffer = array.buffers()[0]
    if buffer is None:
        return np.full(len(array) // 8 + 1, 255, np.uint8)
    return np.frombuffer(buffer, np.uint8)


def _price_peers(price: pa.Array, discount: pa.Array) -> dict[str, Any]:
    frame = pd.DataFrame({"price": price.to_pandas(), "discount": discount.to_pandas()})
    columns = pl.DataFrame({"price": pl.from_arrow(price), "discount": pl.from_arrow(discount)})
    capped = pl.min_horizontal(pl.col("discount"), pl.lit(0.5))
    expression = (
        pl.when(pl.col("discount").is_null()).then(None).otherwise(pl.col("price") * (1.0 - capped))
    )
    return {
        "pandas": lambda: _with_masks(frame),
        "polars": lambda: columns.select(expression),
    }


@compared(target=5.0, rows=ROWS, nulls=(0.1, 0, 0.5))
def udf_of_two_floats(rows: int, nulls: float) -> Case:
    """A function of two nullable floats a row."""
    price, discount = _floats(rows, nulls, 31), _floats(rows, nulls, 33)
    ours = ck.array(price), ck.array(discount)
    raw = [part for array in (price, discount) for part in (_values(array), _bits(array))]

    def with_numba() -> Any:
        out, valid = np.empty(rows), np.empty(rows, np.bool_)
        _over_buffers(*raw, out, valid)
        return out, valid

    return Case(
        3 * 8 * rows,
        {
            "colkern": lambda: net_price(*ours),
            **_price_peers(price, discount),
            "numba over buffers": with_numba,
        },
    )


@compared(target=1.0, rows=ROWS, nulls=(0.1, 0, 0.5))
def columns_of_two_floats(rows: int, nulls: float) -> Case:
    """The same in a loop over columns, beside one over their buffers."""
    price, discount = _floats(rows, nulls, 31), _floats(rows, nulls, 33)
    ours = ck.array(price), ck.array(discount)
    raw = [part for array in (price, discount) for part in (_values(array), _bits(array))]
    out, valid = np.empty(rows), np.empty(rows, np.bool_)
    return Case(
        3 * 8 * rows,
        {
            "colkern": lambda: _over_columns(*ours, out, valid),
            "numba over buffers": lambda: _over_buffers(*raw, out, valid),
        },
    )


def _values(array: pa.Array) -> NDArray[np.float64]:
    return np.frombuffer(array.buffers()[1], np.float64)[: len(array)]


@ck.udf
def vowels(text: str) -> int:
    """How many vowels a text has."""
    count = 0
    for character in text:
        if character in "aeiou":
            count += 1
    return count


def _vowels_in_python(text: str) -> int:
    return sum(character in "aeiou" for character in text)


@compared(target=2.0, rows=(1_000_000,), nulls=(0, 0.1))
def udf_of_text(rows: int, nulls: float) -> Case:
    """An integer from a text: pandas calls Python, the others search for a pattern."""
    words = data.strings(rows)
    mask = data.random(35).random(rows) < nulls if nulls else None
    peer = pc.if_else(pa.array(mask), None, words) if mask is not None else words
    ours, series = ck.array(peer), pl.Series(peer)
    frame = peer.drop_null().to_pandas()
    return Case(
        peer.nbytes + 8 * rows,
        {
            "colkern": lambda: vowels(ours),
            "pyarrow": lambda: pc.count_substring_regex(peer, "[aeiou]"),
            "polars": lambda: series.str.count_matches("[aeiou]"),
            "pandas": lambda: frame.apply(_vowels_in_python),
        },
    )


@numba.njit(error_model="numpy", nogil=True)
def _sums(lists: Any, out: Any) -> None:
    for i in range(len(lists)):
        total = 0.0
        for value in lists[i]:
            total += value
        out[i] = total


@numba.njit(error_model="numpy", nogil=True)
def _sums_of_column(lists: Any, out: Any) -> None:
    for i in range(len(lists)):
        part = lists.value(i)
        total = 0.0
        for k in range(len(part)):
            total += part.value(k)
        out[i] = total


def _lists(rows: int) -> pa.ListArray:
    """Lists of 0 to 8 floats, one a row."""
    lengths = data.random(37).integers(0, 9, rows, np.int32)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(
        pa.array(offsets), pa.array(data.random(38).random(offsets[-1]))
    )


@compared(target=1.0, rows=(1_000_000, 250_000, BATCH))
def columns_of_lists(rows: int) -> Case:
    """The sums of lists of floats, by awkward's arrays in Numba; both have been made before."""
    peer = _lists(rows)
    lists, ours, out = ak.from_arrow(peer), ck.array(peer), np.empty(rows)
    return Case(
        peer.nbytes + out.nbytes,
        {"colkern": lambda: _sums_of_column(ours, out), "awkward": lambda: _sums(lists, out)},
    )


@compared(target=5.0, rows=(1_000_000, 250_000, BATCH))
def columns_of_lists_from_arrow(rows: int) -> Case:
    """The same with what makes the arrays of Arrow's."""
    peer = _lists(rows)
    out = np.empty(rows)
    return Case(
        peer.nbytes + out.nbytes,
        {
            "colkern": lambda: _sums_of_column(ck.array(peer), out),
            "awkward": lambda: _sums(ak.from_arrow(peer), out),
        },
    )
