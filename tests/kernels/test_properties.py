"""Kernels over any data: plain Python, compiled, and an oracle agree."""

from __future__ import annotations

import bisect
import itertools
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernels.case import Addresses, At, bitmap, fetched, numbers, put, words
from kernels.running import Plain
from kernels.value_cases import halves, inline_view, long_view, view_words

from colkern.kernels import Kernel, bitmaps, filtering, offsets, runs, views


def placed(target: Any, kernel: Kernel, dtypes: dict[str, str], args: tuple[Any, ...]) -> list[Any]:
    """The inputs where a target reads them; numbers as the types that are declared."""
    results: list[Any] = []
    for argument, value in zip(kernel.arguments, args, strict=False):
        dtype = np.dtype(dtypes.get(argument.item, argument.item))
        if isinstance(value, At | Addresses):
            arrays = [value.array] if isinstance(value, At) else value.arrays
            places = [0 if a is None or not len(a) else target.address(a) for a in arrays]
            results.append(
                places[0] if isinstance(value, At) else put(target, np.array(places, dtype))
            )
        elif argument.array:
            results.append(put(target, np.array(value, dtype)))
        else:
            results.append(dtype.type(value) if isinstance(target, Plain) else value)
    return results


def mapped(
    target: Any, kernel: Kernel, count: int, size: int, *args: Any, **dtypes: str
) -> list[list[Any]]:
    """The output of `size` items from plain Python, and from the target."""
    return [written(where, kernel, count, size, *args, **dtypes) for where in (Plain(), target)]


def written(
    where: Any, kernel: Kernel, count: int, size: int, *args: Any, **dtypes: str
) -> list[Any]:
    """The output of `size` items from plain Python or a target."""
    given = placed(where, kernel, dtypes, args)
    item = kernel.arguments[-1].item
    out = put(where, np.zeros(size, dtypes.get(item, item)), written=True)
    if isinstance(where, Plain):
        kernel(0, count, 1, *given, out)
    else:
        where.map(kernel, count, *given, out)
    return fetched(out)


bits = st.lists(st.booleans(), max_size=300)


@given(bits, st.integers(0, 70), st.integers(0, 70))
def test_count_set_bits(target: Any, values: list[bool], before: int, after: int) -> None:
    whole = bitmap([True] * before + values + [True] * after, 0, numbers("count"))
    begin, end = before, before + len(values)
    words = bitmaps.whole_words(begin, end)
    plain = bitmaps.count_set_bits(0, words, 1, whole, np.uint64(begin), np.uint64(end))
    there = put(target, whole)
    compiled = target.reduce(bitmaps.count_set_bits, words, there, begin, end)
    assert plain == compiled == sum(values)


@given(bits, st.integers(0, 80))
def test_bits_move_from_anywhere(target: Any, values: list[bool], offset: int) -> None:
    source = bitmap(values, offset, numbers("move"))
    moved = mapped(
        target,
        bitmaps.copy_bits,
        -(-len(values) // 64),
        -(-len(values) // 64),
        source,
        offset,
        len(values),
    )
    assert moved == [words(values)] * 2


@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=200))
def test_descents(target: Any, items: list[int]) -> None:
    slots = [i for i, (a, b) in enumerate(itertools.pairwise(items)) if b < a]
    for code in ("i4", "i8"):
        array = np.array(items, code)
        there = put(target, array)
        count = len(items) - 1
        bad = len(slots) + (items[0] < 0)
        assert offsets.count_bad_offsets(0, count, 1, array, items[-1]) == bad
        first = slots[0] if slots else 2**64 - 1
        assert offsets.first_descent(0, count, 1, array) == first
        assert target.reduce(offsets.first_descent, count, there) == first


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.data())
def test_runs(target: Any, lengths: list[int], data: st.DataObject) -> None:
    ends = list(itertools.accumulate(lengths))
    offset = data.draw(st.integers(0, ends[-1] - 1))
    count = data.draw(st.integers(0, ends[-1] - offset))
    code = data.draw(st.sampled_from(("i2", "i4", "i8")))
    owners = [bisect.bisect_right(ends, offset + i) for i in range(count)]
    values = data.draw(st.lists(st.integers(0, 255), min_size=len(ends), max_size=len(ends)))
    positions = list(range(count))[::-1]
    actual = mapped(target, runs.find_runs, count, count, ends, positions, offset, R=code, P="i4")
    assert actual == [owners[::-1]] * 2
    decoded = mapped(target, runs.decode_runs, count, count, ends, values, offset, R=code, T="u1")
    assert decoded == [[values[run] for run in owners]] * 2


@given(st.lists(st.binary(max_size=30), max_size=40))
def test_views_there_and_back(target: Any, values: list[bytes]) -> None:
    begins = list(itertools.accumulate(map(len, values), initial=0))
    data = np.frombuffer(b"".join(values), np.uint8)
    result = [
        inline_view(value) if len(value) <= 12 else long_view(value, 0, begin)
        for value, begin in zip(values, begins, strict=False)
    ]
    words = view_words(result)
    size = 2 * len(values)
    for where in (Plain(), target):
        there, bytes_ = put(where, words), put(where, data)
        args: tuple[Any, ...] = (begins, data, At(bytes_), [], 0, views.inline_masks())
        assert written(where, views.encode_views, len(values), size, *args, O="i4") == halves(
            result
        )
        tables = (Addresses([bytes_, there]), [data.nbytes, words.nbytes])
        given_ = placed(where, views.decode_views, {"O": "i4"}, (words, *tables, begins))
        out = put(where, np.zeros(len(data), np.uint8), written=True)
        if isinstance(where, Plain):
            views.decode_views(0, len(values), 1, *given_, out)
        else:
            where.map(views.decode_views, len(values), *given_, out)
        assert fetched(out) == data.tolist()


@given(bits, st.integers(0, 80), st.sampled_from((1, 2, 64)), st.data())
def test_filters(
    target: Any, kept: list[bool], offset: int, block_words: int, data: st.DataObject
) -> None:
    size = 64 * block_words
    blocks = -(-len(kept) // size)
    mask = (bitmap(kept, offset, numbers("filter")), offset, len(kept), block_words)
    counts = [sum(kept[b * size : (b + 1) * size]) for b in range(blocks)]
    assert mapped(target, filtering.count_kept, blocks, blocks, *mask) == [counts] * 2
    starts = list(itertools.accumulate(counts, initial=0))
    slots = [i for i, bit in enumerate(kept) if bit]
    count = len(slots)
    for code in ("u2", "u4", "u8"):
        actual = mapped(target, filtering.kept_positions, blocks, count, *mask, starts, T=code)
        assert actual == [slots] * 2
    for code in ("u1", "u2", "u4", "u8"):
        items = [i % 251 for i in range(len(kept))]
        args = (*mask, starts, items)
        actual = mapped(target, filtering.filter_items, blocks, count, *args, T=code)
        assert actual == [[items[i] for i in slots]] * 2
