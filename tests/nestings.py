"""Random arrays of every type, and of every nesting of them, made by pyarrow."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

Random = np.random.Generator

LENGTH = 40
"""The number of slots of an array, before it is sliced."""

CODES = [5, 0, 127]


def _mask(random: Random, length: int) -> pa.Array:
    return pa.array(random.random(length) < 0.25)


def _bits(type_: pa.DataType, random: Random, length: int) -> pa.Array:
    """Any bits at all, as values of a fixed-size type."""
    width = max(type_.bit_width // 8, 1)
    data = pa.py_buffer(random.bytes(width * length))
    validity = pa.array(random.random(length) < 0.75).buffers()[1]
    return pa.Array.from_buffers(type_, length, [validity, data])


def _moments(type_: pa.DataType, random: Random, length: int) -> pa.Array:
    """Values that Python's types hold too, in their units: days, microseconds."""
    day = 1 if type_ == pa.date32() else 86_400 * 10**6
    least, most = (0, day) if pa.types.is_time(type_) else (-700_000 * day, 2_900_000 * day)
    number = pa.int32() if type_.bit_width == 32 else pa.int64()
    missing = random.random(length) < 0.25
    return pa.array(random.integers(least, most, length), number, mask=missing).cast(type_)


def _halves(type_: pa.DataType, random: Random, length: int) -> pa.Array:
    special = [np.inf, -np.inf, 0.0, -0.0, 2.0**-24, 65504.0, 2.0**-14]
    values = np.concatenate([special, random.normal(size=length)])[:length].astype(np.float16)
    return pa.array(values, mask=random.random(length) < 0.25)


def _floats(type_: pa.DataType, random: Random, length: int) -> pa.Array:
    values = random.normal(size=length)
    return pa.array(values, pa.float64(), mask=random.random(length) < 0.25).cast(type_, safe=False)


def _decimals(type_: pa.DataType, random: Random, length: int) -> pa.Array:
    def value() -> Decimal:
        digits = int(random.integers(1, type_.precision + 1))
        number = int("".join(map(str, random.integers(0, 10, digits))))
        sign = int(random.integers(0, 2))
        return Decimal((sign, tuple(map(int, str(number))), -type_.scale))

    return pa.array([None if random.random() < 0.25 else value() for _ in range(length)], type_)


def _words(type_: pa.DataType, random: Random, length: int) -> pa.Array:
    """Texts of up to 40 bytes: some that fit a view, some that do not."""

    def value() -> str:
        return "".join(random.choice(list("abcxyzé"), int(random.integers(0, 20))))

    values: list[Any] = [None if random.random() < 0.25 else value() for _ in range(length)]
    if not (pa.types.is_string(type_) or type_ in (pa.large_utf8(), pa.string_view())):
        values = [None if text is None else text.encode() for text in values]
    return pa.array(values, type_)


def _months(type_: pa.DataType, random: Random, length: int) -> pa.Array:
    values = [
        None
        if random.random() < 0.25
        else pa.MonthDayNano([int(n) for n in random.integers(-(2**31), 2**31, 3)])
        for _ in range(length)
    ]
    return pa.array(values, type_)


Maker = Callable[[pa.DataType, Random, int], pa.Array]

LEAVES: dict[pa.DataType, Maker] = {
    pa.null(): lambda type_, random, length: pa.nulls(length),
    **dict.fromkeys(
        (
            pa.bool_(),
            pa.int8(),
            pa.int16(),
            pa.int32(),
            pa.int64(),
            pa.uint8(),
            pa.uint16(),
            pa.uint32(),
            pa.uint64(),
            pa.timestamp("us", "UTC"),
            pa.binary(3),
        ),
        _bits,
    ),
    **dict.fromkeys(
        (pa.date32(), pa.timestamp("us"), pa.duration("us"), pa.time64("us")), _moments
    ),
    pa.float16(): _halves,
    pa.float32(): _floats,
    pa.float64(): _floats,
    pa.decimal32(7, 2): _decimals,
    pa.decimal64(18, 3): _decimals,
    pa.decimal128(38, 3): _decimals,
    pa.decimal256(76, 10): _decimals,
    pa.month_day_nano_interval(): _months,
    **dict.fromkeys(
        (
            pa.utf8(),
            pa.large_utf8(),
            pa.string_view(),
            pa.binary(),
            pa.large_binary(),
            pa.binary_view(),
        ),
        _words,
    ),
}


def _offsets(random: Random, length: int, most: int) -> list[int]:
    return [0, *sorted(int(n) for n in random.integers(0, most + 1, length - 1)), most]


def _list(child: pa.Array, random: Random, length: int) -> pa.Array:
    offsets = pa.array(_offsets(random, length, len(child)), pa.int32())
    return pa.ListArray.from_arrays(offsets, child, mask=_mask(random, length))


def _large_list(child: pa.Array, random: Random, length: int) -> pa.Array:
    offsets = pa.array(_offsets(random, length, len(child)), pa.int64())
    return pa.LargeListArray.from_arrays(offsets, child, mask=_mask(random, length))


def _list_view(child: pa.Array, random: Random, length: int) -> pa.Array:
    starts = random.integers(0, len(child), length)
    sizes = [int(random.integers(0, min(4, len(child) - start) + 1)) for start in starts]
    return pa.ListViewArray.from_arrays(
        pa.array(starts, pa.int32()), pa.array(sizes, pa.int32()), child, mask=_mask(random, length)
    )


def _fixed_size_list(child: pa.Array, random: Random, length: int) -> pa.Array:
    size = max(len(child) // length, 1)
    count = len(child) // size
    whole = child.slice(0, count * size)
    return pa.FixedSizeListArray.from_arrays(whole, size, mask=_mask(random, count))


def _struct(child: pa.Array, random: Random, length: int) -> pa.Array:
    numbers = pa.array(random.integers(-9, 9, len(child)), mask=random.random(len(child)) < 0.2)
    mask = _mask(random, len(child))
    return pa.StructArray.from_arrays([child, numbers], ["values", "offset"], mask=mask)


def _map(child: pa.Array, random: Random, length: int) -> pa.Array:
    keys = pa.array([f"k{i}" for i in range(len(child))])
    offsets = pa.array(_offsets(random, length, len(child)), pa.int32())
    return pa.MapArray.from_arrays(offsets, keys, child, mask=_mask(random, length))


def _sparse_union(child: pa.Array, random: Random, length: int) -> pa.Array:
    ids = pa.array(random.choice(CODES[:2], len(child)), pa.int8())
    others = pa.array([None if i % 3 == 0 else f"t{i}" for i in range(len(child))])
    return pa.UnionArray.from_sparse(ids, [child, others], ["a", "b"], CODES[:2])


def _dense_union(child: pa.Array, random: Random, length: int) -> pa.Array:
    ids = random.choice(CODES[1:], len(child))
    others = pa.array(random.normal(size=len(child)))
    # The format wants the offsets into each child in order.
    places = [int((ids[:i] == ids[i]).sum()) for i in range(len(child))]
    return pa.UnionArray.from_dense(
        pa.array(ids, pa.int8()),
        pa.array(places, pa.int32()),
        [child, others],
        ["a", "b"],
        CODES[1:],
    )


def _dictionary(child: pa.Array, random: Random, length: int) -> pa.Array:
    indices = pa.array(
        random.integers(0, len(child), length), pa.int16(), mask=random.random(length) < 0.2
    )
    return pa.DictionaryArray.from_arrays(indices, child)


def _run_ends(child: pa.Array, random: Random, length: int) -> pa.Array:
    ends = np.cumsum(random.integers(1, 4, len(child)))
    return pa.RunEndEncodedArray.from_arrays(pa.array(ends, pa.int32()), child)


Wrapper = Callable[[pa.Array, Random, int], pa.Array]

WRAPPERS: dict[str, Wrapper] = {
    "list": _list,
    "struct": _struct,
    "dictionary": _dictionary,
    "large_list": _large_list,
    "map": _map,
    "run_end_encoded": _run_ends,
    "list_view": _list_view,
    "sparse_union": _sparse_union,
    "fixed_size_list": _fixed_size_list,
    "dense_union": _dense_union,
}


def leaf(type_: pa.DataType, random: Random) -> pa.Array:
    """A slice of an array of that type."""
    return LEAVES[type_](type_, random, LENGTH + 5).slice(3, LENGTH)


def levels(type_: pa.DataType, place: int, random: Random) -> list[pa.Array]:
    """The type alone, and nested once, twice and three times, in other ways for each `place`."""
    result = [leaf(type_, random)]
    wrappers = list(WRAPPERS.values())
    for depth in range(3):
        wrap = wrappers[(place + depth * (1 + place // len(wrappers))) % len(wrappers)]
        child = result[-1]
        outer = wrap(child, random, LENGTH)
        result.append(outer.slice(2, len(outer) - 3))
    return result
