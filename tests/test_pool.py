"""Blocks are used again, once nothing shows them any more and not before."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from colkern.memory import Buffer, allocate_for_overwrite
from colkern.pool import Pool

LEAST = 1 << 16

MOST = 8 * LEAST


def leased(pool: Pool, size: int) -> np.ndarray:
    return pool.array(size, np.dtype(np.uint8), size)


def address(array: np.ndarray) -> int:
    return int(array.ctypes.data)


def test_a_block_returns_when_its_last_view_is_gone() -> None:
    pool = Pool(MOST)
    array = leased(pool, LEAST)
    place = address(array)
    part = array[100:200].view(np.int32)
    del array
    other = leased(pool, LEAST)
    assert address(other) != place
    part[:] = 7
    del part
    assert address(leased(pool, LEAST)) == place


@pytest.mark.parametrize("size", [LEAST, 1 << 21])
@pytest.mark.parametrize(
    "view",
    [
        lambda array: array[:8],
        lambda array: array.view(np.uint64)[:1].view(np.uint8),
        lambda array: memoryview(array)[:8],
        lambda array: np.asarray(Buffer.of_items(array).array)[:8],
        lambda array: Buffer.from_object(array)[:8],
    ],
)
def test_whatever_views_an_array_keeps_its_block(view: Callable[[Any], Any], size: int) -> None:
    pool = Pool(4 * size)
    array = leased(pool, size)
    array[:8] = 7
    shown = view(array)
    del array
    for dtype in (np.uint8, np.int32):
        pool.array(size // np.dtype(dtype).itemsize, np.dtype(dtype), size).fill(1)
    assert shown.tobytes() == bytes([7] * 8)


def test_an_array_is_of_the_type_and_size_asked_for() -> None:
    pool = Pool(MOST)
    for dtype, count in ((np.int64, 1000), (np.int64, 999), (np.float64, 999), (np.int32, 2000)):
        array = pool.array(count, np.dtype(dtype), count * np.dtype(dtype).itemsize)
        assert (array.dtype.type, array.shape) == (dtype, (count,))
        assert array.flags.writeable
    assert pool.kept() < 2 * 8 * 1024


def test_an_array_that_was_given_another_shape_is_not_used_again() -> None:
    pool = Pool(MOST)
    pool.array(LEAST, np.dtype(np.uint8), LEAST).shape = (LEAST, 1)
    assert pool.array(LEAST, np.dtype(np.uint8), LEAST).shape == (LEAST,)


def test_two_arrays_of_like_size_get_their_own_blocks_again() -> None:
    pool = Pool(MOST)

    def addresses() -> list[int]:
        words, bytes_ = pool.array(250, np.dtype(np.uint64), 2000), leased(pool, 2000)
        return [address(words), address(bytes_)]

    assert addresses() == addresses() == addresses()


def test_a_buffer_keeps_its_block() -> None:
    array = allocate_for_overwrite(LEAST, np.uint8)
    array[:] = 5
    buffer = Buffer(array)
    del array
    others = [allocate_for_overwrite(LEAST, np.uint8) for _ in range(4)]
    for other in others:
        other[:] = 1
    assert (buffer.array == 5).all()


def test_a_block_of_another_size_is_not_taken() -> None:
    pool = Pool(MOST)
    place = address(leased(pool, 2 * LEAST))
    small = leased(pool, LEAST)
    assert address(small) != place
    assert address(leased(pool, 2 * LEAST - 5)) == place


def test_zeros_follow_the_bytes_of_each_use() -> None:
    pool = Pool(MOST)
    for size in (LEAST - 70, LEAST - 1, LEAST - 100):
        place, padding = address(leased(pool, size)), -size % 64
        assert ctypes.string_at(place + size, padding) == bytes(padding)
        ctypes.memset(place, 255, size + padding)


def test_no_more_is_kept_than_allowed() -> None:
    pool = Pool(3 * LEAST)
    leases = [leased(pool, LEAST) for _ in range(6)]
    assert pool.kept() == 0
    leases.clear()
    assert 0 < pool.kept() <= 3 * LEAST


def test_a_block_that_is_too_large_to_keep_drops_no_other() -> None:
    pool = Pool(MOST)
    leased(pool, LEAST)
    kept = pool.kept()
    leased(pool, 2 * MOST)
    assert pool.kept() == kept > 0


def test_nothing_is_kept_where_nothing_may_be() -> None:
    pool = Pool(0)
    leased(pool, LEAST)
    assert pool.kept() == 0


def test_threads_never_share_a_block() -> None:
    pool = Pool(MOST)
    clashes = []

    def work(mark: int) -> None:
        for _ in range(300):
            array = leased(pool, LEAST)
            array[:64] = mark
            if (array[:64] != mark).any():
                clashes.append(mark)
            del array

    threads = [threading.Thread(target=work, args=(mark,)) for mark in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not clashes
