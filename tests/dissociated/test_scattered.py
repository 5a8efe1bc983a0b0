"""A body in several places reads as the packed body that it stands for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colkern.dissociated.connecting import ScatteredBody
from colkern.errors import InvalidArrowError
from colkern.memory import Buffer

sizes = st.lists(st.tuples(st.integers(1, 20), st.integers(0, 9)), max_size=6)


def made(buffers_and_gaps: list[tuple[int, int]]) -> tuple[ScatteredBody, bytes, list[int]]:
    """A body of buffers with gaps behind them, the packed one, and where buffers begin."""
    rng = np.random.default_rng(0)
    packed, offsets, buffers = b"", [], []
    for size, gap in buffers_and_gaps:
        data = rng.integers(1, 256, size, np.uint8)
        offsets.append(len(packed))
        buffers.append(Buffer(data))
        packed += data.tobytes() + bytes(gap)
    return ScatteredBody(offsets, buffers, len(packed)), packed, offsets


@given(sizes)
def test_buffers_and_parts_of_them_are_slices(parts: list[tuple[int, int]]) -> None:
    body, packed, offsets = made(parts)
    assert body.size == len(packed)
    for offset, (size, _) in zip(offsets, parts, strict=True):
        for start, length in ((offset, size), (offset, size // 2), (offset + size // 2, 1)):
            assert body.read(start, length).tobytes() == packed[start : start + length]


@given(sizes, st.data())
def test_any_range_is_copied_with_zeros_between_buffers(
    parts: list[tuple[int, int]], data: st.DataObject
) -> None:
    body, packed, _ = made(parts)
    start = data.draw(st.integers(0, len(packed)))
    view = np.full(data.draw(st.integers(0, len(packed) - start)), 7, np.uint8)
    body.read_into(start, view)
    assert view.tobytes() == packed[start : start + view.size]


def test_ranges_outside_of_buffers() -> None:
    body, _, _ = made([(8, 8), (8, 0)])
    assert body.read(99, 0).size == 0
    for offset, length in ((0, 9), (8, 1), (7, 2), (16, 9), (24, 1)):
        with pytest.raises(InvalidArrowError, match="in no buffer of the body"):
            body.read(offset, length)
