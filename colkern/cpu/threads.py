"""A pool of threads that run ranges of loops without the GIL.

Numba's own parallel layers are not used: they support neither `fork`, which Spark's workers use, nor
concurrent callers.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from colkern.integers import integer
from colkern.memory import Items

Item = TypeVar("Item")
Result = TypeVar("Result")

GRAIN = 1 << 17
"""The least number of items that a thread is worth waking for, where nobody has measured them."""

_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None
_threads = 0


class _Role(threading.local):
    """Whether a thread is in the pool: then it waits for no other, since all may wait for it."""

    is_worker = False


_role = _Role()


def num_threads() -> int:
    """The number of threads for a loop: by `set_num_threads`, `COLKERN_NUM_THREADS`, or one a core."""
    if _threads:
        return _threads
    if chosen := os.environ.get("COLKERN_NUM_THREADS", ""):
        if not chosen.isdigit() or int(chosen) < 1:
            raise ValueError(f"COLKERN_NUM_THREADS: expected a positive number, got {chosen!r}")
        return int(chosen)
    return len(os.sched_getaffinity(0))


def set_num_threads(count: int) -> None:
    """Let loops of this process use `count` threads from now on; 0 restores the default.

    Raises:
        TypeError: If `count` is no integer.
        ValueError: If it is negative.
    """
    global _threads
    count = integer(count, "count")
    if count < 0:
        raise ValueError(f"count: must not be negative, got {count}")
    with _lock:
        _threads = count
        _drop_pool()


def run_ranges(
    loop: Callable[..., Result],
    count: int,
    args: tuple[object, ...],
    grain: int = GRAIN,
    balance: Items | None = None,
) -> list[Result]:
    """The results of `loop(start, stop, *args)` over ranges that cover `count` items, in order."""
    # There is one call, in this thread, if there is less work than twice the grain (the least worth
    # waking a thread for), and in a thread of the pool. `balance` is the running sum of the cost of
    # each item, [count + 1]. An exception in any call is raised after all calls have ended.
    work = count if balance is None else int(balance[count] - balance[0])
    workers = max(count, work) // grain
    if workers > 1:
        workers = min(workers, num_threads())
    if workers <= 1 or _role.is_worker:
        return [loop(0, count, *args)]
    if balance is None:
        cuts = [count * i // workers for i in range(workers + 1)]
    else:
        begin, end = int(balance[0]), int(balance[count])
        shares = [begin + (end - begin) * i // workers for i in range(1, workers)]
        cuts = [0, *np.searchsorted(balance[: count + 1], shares).tolist(), count]
    first, *others = itertools.pairwise(cuts)
    futures: list[Future[Result]] = []
    try:
        _submit(futures, loop, [(*part, *args) for part in others])
        done = [loop(*part, *args) for part in (first, *others[len(futures) :])]
    finally:
        _wait_for_all(futures)
    return [done[0], *(future.result() for future in futures), *done[1:]]


def map_items(
    function: Callable[[Item], Result], items: Sequence[Item], total: int
) -> list[Result]:
    """`[function(item) for item in items]` on threads, without the GIL; `total` is the work in bytes."""
    # Each thread takes the next item when it has finished one. One thread is used for little work,
    # and in a thread of the pool. An exception in any call is raised after all threads have
    # stopped.
    workers = min(len(items), num_threads())
    if workers <= 1 or total < GRAIN or _role.is_worker:
        return [function(item) for item in items]
    results: dict[int, Result] = {}
    # Taking the next number from a range's iterator is one step under the GIL.
    numbers = iter(range(len(items)))

    def work() -> None:
        for number in numbers:
            results[number] = function(items[number])

    futures: list[Future[None]] = []
    try:
        _submit(futures, work, [()] * (workers - 1))
        work()
    finally:
        # Calls that have not begun would find nothing to do, and may wait for a thread that waits
        # here.
        futures = [future for future in futures if not future.cancel()]
        _wait_for_all(futures)
    for future in futures:
        future.result()
    return [results[number] for number in range(len(items))]


def _submit(
    futures: list[Future[Result]],
    function: Callable[..., Result],
    calls: Sequence[tuple[object, ...]],
) -> None:
    """Start calls in the pool, and append their futures; starts none while the interpreter shuts down."""
    # Locked, since `set_num_threads` shuts the pool down for new work.
    with _lock:
        pool = _shared_pool()
        for arguments in calls:
            try:
                futures.append(pool.submit(function, *arguments))
            except RuntimeError as error:
                # Other errors are raised: if a thread cannot start, its call may already be in the
                # queue.
                if "interpreter shutdown" not in str(error):
                    raise
                return


def _wait_for_all(futures: Sequence[Future[Result]]) -> None:
    """Wait for all futures, also through interrupts: loops read memory that the caller frees afterwards."""
    interrupt = None
    for future in futures:
        while not future.done():
            try:
                future.exception()
            except KeyboardInterrupt as error:
                interrupt = error
    if interrupt is not None:
        raise interrupt


def _shared_pool() -> ThreadPoolExecutor:
    global _pool
    if _pool is None:
        # The calling thread runs one range itself.
        workers = max(num_threads() - 1, 1)
        _pool = ThreadPoolExecutor(workers, "colkern", setattr, (_role, "is_worker", True))
    return _pool


def _drop_pool() -> None:
    global _pool
    if _pool is not None:
        _pool.shutdown(wait=False)
        _pool = None


def _after_fork() -> None:
    """Reset a forked child, which has the pool's object, none of its threads, perhaps a held lock."""
    global _lock, _pool
    _lock = threading.Lock()
    _pool = None
    _role.is_worker = False


os.register_at_fork(after_in_child=_after_fork)
