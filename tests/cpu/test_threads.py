"""Ranges over threads: all of them, in order, whatever happens to one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from colkern.cpu import target as cpu_target
from colkern.cpu import threads
from colkern.cpu.target import CpuTarget
from colkern.cpu.threads import GRAIN, map_items, num_threads, run_ranges, set_num_threads
from colkern.kernels.offsets import lengths_of


@pytest.fixture(autouse=True)
def default_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(cpu_target, "WORTH_WAKING", 0)
    yield
    set_num_threads(0)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 100])
@pytest.mark.parametrize("workers", [1, 2, 3, 8])
def test_ranges_cover_everything_once_and_in_order(count: int, workers: int) -> None:
    set_num_threads(workers)
    result = run_ranges(lambda start, stop: (start, stop), count, (), 1)
    assert [i for start, stop in result for i in range(start, stop)] == list(range(count))
    assert len(result) == max(min(workers, count), 1)


def test_few_items_stay_in_this_thread() -> None:
    set_num_threads(4)
    actual = run_ranges(lambda start, stop: threading.get_ident(), 19, (), 10)
    assert actual == [threading.get_ident()]
    assert len(run_ranges(lambda start, stop: None, 20, (), 10)) == 2


def test_arguments_are_passed_on() -> None:
    set_num_threads(2)
    assert run_ranges(lambda start, stop, a, b: a + b, 2, ("x", "y"), 1) == ["xy", "xy"]


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_exception_is_raised_after_all_have_ended(bad: int) -> None:
    set_num_threads(3)
    ended = []

    def loop(start: int, stop: int) -> None:
        if start == bad:
            raise KeyError(start)
        time.sleep(0.05)
        ended.append(start)

    with pytest.raises(KeyError, match=str(bad)):
        run_ranges(loop, 3, (), 1)
    assert sorted(ended) == [i for i in range(3) if i != bad]


def test_an_interrupt_is_raised_after_all_have_ended() -> None:
    # The caller frees what the loops read as soon as it is out.
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    set_num_threads(2)
    ended = []

    def loop(start: int, stop: int) -> None:
        if start:
            # Set here: the alarm must not come before the loops have started.
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            time.sleep(0.3)
            ended.append(start)

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_ranges(loop, 2, (), 1)
        assert ended == [1]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_threads_that_do_not_start_leave_no_loop_running(monkeypatch: pytest.MonkeyPatch) -> None:
    set_num_threads(3)
    ended = []

    def loop(start: int, stop: int) -> None:
        time.sleep(0.1)
        ended.append(start)

    submit = ThreadPoolExecutor.submit

    def first_only(pool: ThreadPoolExecutor, loop: Any, start: int, *rest: Any) -> Any:
        if start > 1:
            raise RuntimeError("can't start new thread")
        return submit(pool, loop, start, *rest)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", first_only)
    with pytest.raises(RuntimeError, match="start new thread"):
        run_ranges(loop, 3, (), 1)
    assert ended == [1]


def test_a_loop_within_a_loop_waits_for_no_thread() -> None:
    # All threads of the pool may be in the outer loop, and wait for the inner one.
    set_num_threads(2)

    def outer(start: int, stop: int) -> set[int]:
        inner = run_ranges(lambda start, stop: threading.get_ident(), 2, (), 1)
        items = map_items(lambda _: threading.get_ident(), range(2), GRAIN)
        return {*inner, *items} if start else {threading.get_ident()}

    _, result = run_ranges(outer, 2, (), 1)
    assert len(result) == 1


def test_works_after_an_exception() -> None:
    set_num_threads(2)
    with pytest.raises(ZeroDivisionError):
        run_ranges(lambda start, stop: 1 // 0, 2, (), 1)
    assert run_ranges(lambda start, stop: stop, 2, (), 1) == [1, 2]


def lengths(target: CpuTarget, count: int) -> list[int]:
    offsets = target.table(np.arange(count + 1) ** 2, np.int32)
    out = target.allocate(count, np.int64)
    target.map(lengths_of, count, offsets, out, work=GRAIN)
    result: list[int] = out.tolist()
    return result


def test_concurrent_callers() -> None:
    set_num_threads(3)
    target = CpuTarget()
    expected = [2 * i + 1 for i in range(1000)]
    results: list[bool] = []

    def caller() -> None:
        results.extend(lengths(target, 1000) == expected for _ in range(20))

    callers = [threading.Thread(target=caller) for _ in range(6)]
    for thread in callers:
        thread.start()
    for thread in callers:
        thread.join()
    assert results == [True] * 120


def test_number_of_threads_changes_while_others_run() -> None:
    done = threading.Event()
    failures: list[BaseException] = []

    def caller() -> None:
        try:
            while not done.is_set():
                assert run_ranges(lambda start, stop: stop - start, 64, (), 1)
        except BaseException as error:
            failures.append(error)
            raise

    callers = [threading.Thread(target=caller) for _ in range(3)]
    set_num_threads(2)
    for thread in callers:
        thread.start()
    for k in range(300):
        set_num_threads(2 + k % 4)
    done.set()
    for thread in callers:
        thread.join()
    assert failures == []


# How many


def test_default_is_one_a_core_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLKERN_NUM_THREADS", raising=False)
    assert num_threads() == len(os.sched_getaffinity(0))


def test_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLKERN_NUM_THREADS", "7")
    assert num_threads() == 7
    set_num_threads(2)
    assert num_threads() == 2
    set_num_threads(0)
    assert num_threads() == 7


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", " "])
def test_bad_environment(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLKERN_NUM_THREADS", value)
    with pytest.raises(ValueError, match="COLKERN_NUM_THREADS: expected a positive number"):
        num_threads()


def test_negative_number() -> None:
    with pytest.raises(ValueError, match="count: must not be negative, got -1"):
        set_num_threads(-1)


def test_one_thread_needs_no_pool() -> None:
    set_num_threads(1)
    assert run_ranges(lambda start, stop: stop, 1 << 20, (), 1) == [1 << 20]
    assert threads._pool is None


def test_items_may_be_mapped_within_items() -> None:
    set_num_threads(2)
    actual = map_items(
        lambda i: map_items(lambda j: 10 * i + j, range(4), 1 << 30), range(4), 1 << 30
    )
    assert actual == [[10 * i + j for j in range(4)] for i in range(4)]


def test_an_error_in_one_item_comes_out_when_all_have_stopped() -> None:
    running = set()

    def work(i: int) -> int:
        running.add(i)
        try:
            if i == 3:
                raise ValueError("three")
            return i
        finally:
            running.discard(i)

    with pytest.raises(ValueError, match="three"):
        map_items(work, range(50), 1 << 30)
    assert not running


def test_work_while_the_interpreter_shuts_down() -> None:
    code = """
import atexit
from colkern.cpu.threads import map_items, run_ranges, set_num_threads

set_num_threads(3)

@atexit.register
def late():
    print(map_items(str, range(4), 1 << 30), run_ranges(lambda a, b: b - a, 1 << 20, ()))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lists, _, counts = done.stdout.partition("] ")
    assert lists == "['0', '1', '2', '3'"
    assert sum(json.loads(counts)) == 1 << 20
    assert done.stderr == ""


class Clock:
    """A clock that work moves on: half a millisecond in one range, and some other time in two."""

    def __init__(self, shared: float) -> None:
        self.now, self.shared = 0.0, shared
        self.ranges: list[int] = []

    def run(self, loop: Any, count: int, args: Any, grain: int, balance: Any) -> list[int]:
        if count < 2 * grain:
            return [loop(0, count, *args)]
        self.ranges.append(2)
        self.now += self.shared
        return [0, 0]

    def loop(self, start: int, stop: int, *args: Any) -> int:
        self.ranges.append(1)
        self.now += 0.0005
        return 0


@pytest.mark.parametrize(("shared", "expected"), [(0.0008, 1), (0.0003, 2), (0.1, 2)])
def test_several_threads_do_what_takes_them_less_time(
    shared: float, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(shared)
    key: Any = lengths_of, "clock"
    monkeypatch.setattr(cpu_target, "WORTH_WAKING", 75e-6)
    monkeypatch.setattr(cpu_target, "_paces", {})
    monkeypatch.setattr(cpu_target, "run_ranges", clock.run)
    monkeypatch.setattr(cpu_target, "perf_counter", lambda: clock.now)
    monkeypatch.setitem(cpu_target._loops, key, clock.loop)
    set_num_threads(2)
    for _ in range(200):
        cpu_target._spread(key, clock.loop, 1 << 20, (), 1)
    # What takes longer is tried again now and then, where little is lost by that.
    assert 185 <= clock.ranges.count(expected) <= 200
    assert (clock.ranges.count(3 - expected) > 1) == (shared < 0.1)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("count", [8, 11, 100])
def test_running_sums_of_several_threads(
    dtype: Any, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu_target, "_WORTH_SUMMING", 4)
    set_num_threads(3)
    lengths = np.arange(count, dtype=np.int64) * 7 % 5
    expected = [0, *np.cumsum(lengths).tolist()]
    sums, total = CpuTarget().running_sum(lengths, dtype)
    assert (sums.tolist(), total) == (expected, expected[-1])
    in_place = np.array([99, *lengths], dtype)
    CpuTarget().accumulate(in_place)
    assert in_place.tolist() == expected
    for most in (1 << 31, (1 << 63) - 1):
        lengths[count // 2] = most
        assert CpuTarget().running_sum(lengths, dtype)[1] == sum(lengths.tolist())
