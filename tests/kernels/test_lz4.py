"""LZ4 blocks of any content and with any damage: plain Python, compiled, and the LZ4 library."""

from __future__ import annotations

from typing import Any

import lz4.block
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernels.case import NOWHERE, POISON, fetched, put
from kernels.running import Plain

from colkern.kernels.lz4 import decode_lz4_blocks

GUARD = 70
"""Bytes around a block's own, more than are copied at a time."""

contents = st.lists(
    st.tuples(st.binary(min_size=1, max_size=40), st.integers(1, 30)), max_size=20
).map(lambda parts: b"".join(part * times for part, times in parts))


def decoded(where: Any, stored: bytes, size: int) -> bytes | None:
    """The decompressed block; None if it is damaged. Nothing else may have been written to."""
    data = put(where, np.frombuffer(b"\xee" * GUARD + stored, np.uint8))
    out = put(where, np.full(size + 2 * GUARD, POISON, np.uint8), written=True)
    table = put(where, np.array([GUARD, len(stored), GUARD, size], np.uint64))
    if isinstance(where, Plain):
        result = decode_lz4_blocks(0, 1, 1, table, data, np.uint64(where.address(data)), out)
    else:
        result = where.reduce(decode_lz4_blocks, 1, table, data, where.address(data), out)
    written = bytes(fetched(out))
    guard = bytes([POISON]) * GUARD
    assert (written[:GUARD], written[GUARD + size :]) == (guard, guard)
    return written[GUARD : GUARD + size] if result == NOWHERE else None


@given(contents, st.sampled_from(["default", "high_compression"]))
def test_what_the_library_compresses(target: Any, content: bytes, mode: str) -> None:
    stored = lz4.block.compress(content, mode=mode, store_size=False)
    for where in (Plain(), target):
        assert decoded(where, stored, len(content)) == content
        assert decoded(where, stored, len(content) + 1) is None
        if content:
            assert decoded(where, stored, len(content) - 1) is None


@given(st.binary(max_size=300), st.integers(0, 400))
def test_any_bytes_stay_within_their_places(target: Any, stored: bytes, size: int) -> None:
    assert decoded(Plain(), stored, size) == decoded(target, stored, size)


@given(contents.filter(bool), st.data())
def test_nothing_is_right_that_the_library_refuses(
    target: Any, content: bytes, data: st.DataObject
) -> None:
    stored = bytearray(lz4.block.compress(content, store_size=False))
    for _ in range(data.draw(st.integers(1, 3))):
        stored[data.draw(st.integers(0, len(stored) - 1))] = data.draw(st.integers(0, 255))
    actual = [decoded(where, bytes(stored), len(content)) for where in (Plain(), target)]
    assert actual[0] == actual[1]
    try:
        result = lz4.block.decompress(bytes(stored), uncompressed_size=len(content))
    except lz4.block.LZ4BlockError:
        result = None
    # The library takes a distance of 0.
    assert actual[0] in (None, result)


@pytest.mark.parametrize("cut", [1, 2, 10])
def test_truncated_blocks_are_damaged(target: Any, cut: int) -> None:
    content = b"the quick brown fox jumps over the lazy dog " * 20
    stored = lz4.block.compress(content, store_size=False)
    assert decoded(target, stored[:-cut], len(content)) is None


def test_the_farthest_match(target: Any) -> None:
    far = np.random.default_rng(0).bytes(65535)
    stored = (
        b"\xf0"
        + b"\xff" * 256
        + bytes([65535 - 15 - 256 * 255])
        + far
        + b"\xff\xff\xc0last literal"
    )
    assert decoded(target, stored, 65535 + 4 + 12) == far + far[:4] + b"last literal"


def test_zeros_of_a_megabyte(target: Any) -> None:
    stored = lz4.block.compress(bytes(1 << 20), store_size=False)
    assert decoded(target, stored, 1 << 20) == bytes(1 << 20)
