"""Hypothesis strategies for pyarrow arrays of every layout, sliced, with nulls, nested."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pyarrow as pa
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

DAY = 86_400
# What Python's datetime holds, a day away from both ends: timezones move the edges.
FIRST, LAST = -719_162 * DAY + DAY, 2_932_896 * DAY - DAY


def integers(bits: int, signed: bool = True) -> SearchStrategy[int]:
    if signed:
        return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return st.integers(0, 2**bits - 1)


def decimals(precision: int, scale: int) -> SearchStrategy[Decimal]:
    limit = 10**precision - 1
    return st.integers(-limit, limit).map(lambda n: Decimal(f"{n}E{-scale}"))


def floats(bits: int) -> SearchStrategy[float]:
    return st.floats(width=bits, allow_nan=False)  # type: ignore[arg-type]


TEXT = st.text(max_size=20)
BYTES = st.binary(max_size=20)

LEAVES: dict[pa.DataType, SearchStrategy[object]] = {
    pa.null(): st.none(),
    pa.bool_(): st.booleans(),
    pa.int8(): integers(8),
    pa.int16(): integers(16),
    pa.int32(): integers(32),
    pa.int64(): integers(64),
    pa.uint8(): integers(8, False),
    pa.uint16(): integers(16, False),
    pa.uint32(): integers(32, False),
    pa.uint64(): integers(64, False),
    pa.float16(): floats(16),
    pa.float32(): floats(32),
    pa.float64(): floats(64),
    pa.decimal32(7, 2): decimals(7, 2),
    pa.decimal64(18, 0): decimals(18, 0),
    pa.decimal128(38, 3): decimals(38, 3),
    pa.decimal128(20, 20): decimals(20, 20),
    pa.decimal256(76, 10): decimals(76, 10),
    pa.date32(): st.dates(),
    pa.date64(): st.dates(),
    pa.time32("s"): st.integers(0, DAY - 1),
    pa.time32("ms"): st.integers(0, DAY * 1000 - 1),
    pa.time64("us"): st.times(),
    pa.timestamp("s"): st.integers(FIRST, LAST),
    pa.timestamp("ms"): st.integers(FIRST * 1000, LAST * 1000),
    pa.timestamp("us"): st.datetimes(),
    pa.timestamp("us", "UTC"): st.integers(FIRST * 10**6, LAST * 10**6),
    pa.timestamp("s", "Europe/Paris"): st.integers(FIRST, LAST),
    pa.timestamp("ms", "-03:30"): st.integers(FIRST * 1000, LAST * 1000),
    pa.duration("s"): st.integers(-(10**12), 10**12),
    pa.duration("ms"): st.integers(-(10**15), 10**15),
    pa.duration("us"): st.timedeltas(),
    pa.month_day_nano_interval(): st.tuples(integers(32), integers(32), integers(64)),
    pa.binary(3): st.binary(min_size=3, max_size=3),
    pa.binary(): BYTES,
    pa.large_binary(): BYTES,
    pa.binary_view(): BYTES,
    pa.utf8(): TEXT,
    pa.large_utf8(): TEXT,
    pa.string_view(): TEXT,
}
# pyarrow's own to_pylist gives microseconds up to here.
LEAVES[pa.duration("us")] = st.integers(-(2**63) + 1, 2**63 - 1)

MOST_SLOTS = 8


def masks(length: int) -> SearchStrategy[pa.Array]:
    """True for nulls, as pyarrow's constructors want it."""
    return st.lists(st.booleans(), min_size=length, max_size=length).map(
        lambda bits: pa.array(bits, pa.bool_())
    )


@st.composite
def leaf_arrays(
    draw: DrawFn, length: int, types: list[pa.DataType] | None = None, nulls: bool = True
) -> pa.Array:
    type_ = draw(st.sampled_from(types or list(LEAVES)))
    value = st.none() | LEAVES[type_] if nulls else LEAVES[type_]
    return pa.array(draw(st.lists(value, min_size=length, max_size=length)), type_)


@st.composite
def offset_arrays(draw: DrawFn, length: int) -> list[int]:
    sizes = draw(st.lists(st.integers(0, 3), min_size=length, max_size=length))
    start = draw(st.integers(0, 2))
    return [start + sum(sizes[:i]) for i in range(length + 1)]


@st.composite
def list_arrays(draw: DrawFn, length: int, depth: int) -> pa.Array:
    large = draw(st.booleans())
    offsets = draw(offset_arrays(length))
    child = draw(arrays(offsets[-1] + draw(st.integers(0, 2)), depth - 1))
    make = pa.LargeListArray if large else pa.ListArray
    ends = pa.array(offsets, pa.int64() if large else pa.int32())
    return make.from_arrays(ends, child, mask=draw(masks(length)))


@st.composite
def list_view_arrays(draw: DrawFn, length: int, depth: int) -> pa.Array:
    large = draw(st.booleans())
    child = draw(arrays(draw(st.integers(0, 6)), depth - 1))
    starts = draw(st.lists(st.integers(0, len(child)), min_size=length, max_size=length))
    sizes = [draw(st.integers(0, len(child) - start)) for start in starts]
    make, kind = (pa.LargeListViewArray, pa.int64()) if large else (pa.ListViewArray, pa.int32())
    return make.from_arrays(
        pa.array(starts, kind), pa.array(sizes, kind), child, mask=draw(masks(length))
    )


@st.composite
def fixed_size_list_arrays(draw: DrawFn, length: int, depth: int) -> pa.Array:
    size = draw(st.integers(1, 3))
    child = draw(arrays(length * size, depth - 1))
    return pa.FixedSizeListArray.from_arrays(child, size, mask=draw(masks(length)))


@st.composite
def struct_arrays(draw: DrawFn, length: int, depth: int) -> pa.Array:
    children = [draw(arrays(length, depth - 1)) for _ in range(draw(st.integers(1, 3)))]
    return pa.StructArray.from_arrays(
        children, list("abc")[: len(children)], mask=draw(masks(length))
    )


@st.composite
def map_arrays(draw: DrawFn, length: int, depth: int) -> pa.Array:
    offsets = draw(offset_arrays(length))
    keys = draw(leaf_arrays(offsets[-1], [pa.utf8(), pa.int16()], nulls=False))
    items = draw(arrays(offsets[-1], depth - 1))
    return pa.MapArray.from_arrays(
        pa.array(offsets, pa.int32()), keys, items, mask=draw(masks(length))
    )


CODES = [5, 0, 127]


@st.composite
def union_arrays(draw: DrawFn, length: int, depth: int) -> pa.Array:
    codes = CODES[: draw(st.integers(1, 3))]
    ids = draw(st.lists(st.sampled_from(codes), min_size=length, max_size=length))
    names = list("abc")[: len(codes)]
    type_ids = pa.array(ids, pa.int8())
    if draw(st.booleans()):
        children = [draw(arrays(length, depth - 1)) for _ in codes]
        return pa.UnionArray.from_sparse(type_ids, children, names, codes)
    children = [draw(arrays(draw(st.integers(1, 4)), depth - 1)) for _ in codes]
    # The format wants the offsets into each child in order.
    in_order = [
        iter(sorted(draw(st.integers(0, len(child) - 1)) for _ in range(ids.count(code))))
        for code, child in zip(codes, children, strict=True)
    ]
    places = [next(in_order[codes.index(code)]) for code in ids]
    return pa.UnionArray.from_dense(type_ids, pa.array(places, pa.int32()), children, names, codes)


@st.composite
def dictionary_arrays(draw: DrawFn, length: int, depth: int) -> pa.Array:
    dictionary = draw(arrays(draw(st.integers(1, 12)), depth - 1))
    index = st.none() | st.integers(0, len(dictionary) - 1)
    indices = draw(st.lists(index, min_size=length, max_size=length))
    kind = draw(st.sampled_from([pa.int8(), pa.uint8(), pa.int32(), pa.uint64()]))
    return pa.DictionaryArray.from_arrays(pa.array(indices, kind), dictionary)


@st.composite
def run_arrays(draw: DrawFn, length: int, depth: int) -> pa.Array:
    sizes = draw(st.lists(st.integers(1, 4), min_size=length, max_size=length))
    ends = [sum(sizes[: i + 1]) for i in range(length)]
    kind = draw(st.sampled_from([pa.int16(), pa.int32(), pa.int64()]))
    values = draw(arrays(length, depth - 1))
    whole = pa.RunEndEncodedArray.from_arrays(pa.array(ends, kind), values)
    return whole.slice(draw(st.integers(0, len(whole) - length)), length)


NESTED: list[Callable[[int, int], SearchStrategy[pa.Array]]] = [
    list_arrays,
    list_view_arrays,
    fixed_size_list_arrays,
    struct_arrays,
    map_arrays,
    union_arrays,
    dictionary_arrays,
    run_arrays,
]


@st.composite
def arrays(draw: DrawFn, length: int | None = None, depth: int = 2) -> pa.Array:
    """An array of that length, usually a slice of a longer one, nested up to `depth` levels."""
    if length is None:
        length = draw(st.integers(0, MOST_SLOTS))
    before, after = draw(st.integers(0, 9)), draw(st.integers(0, 2))
    whole = before + length + after
    if depth == 0 or draw(st.booleans()):
        array = draw(leaf_arrays(whole))
    else:
        array = draw(draw(st.sampled_from(NESTED))(whole, depth))
    return array.slice(before, length)
