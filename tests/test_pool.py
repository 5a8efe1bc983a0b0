"""Blocks are used again, once nothing shows them any more and not before."""

from __future__ import annotations

import threading

import numpy as np

from colkern.memory import Buffer, allocate_for_overwrite
from colkern.pool import Pool

LEAST = 1 << 16

MOST = 8 * LEAST


def leased(pool: Pool, size: int) -> np.ndarray:
    memory, start = pool.lease(size)
    return memory[start : start + size]


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
        memory, start = pool.lease(size)
        after = memory[start + size : start + size + -size % 64].copy()
        memory[:] = 255
        assert not after.any()
        del memory


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
