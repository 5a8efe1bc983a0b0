"""A process that is forked while other threads work: the child is not held up by what they held.

Each test runs in a process of its own: pytest's has threads that a fork would leave behind.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")

FORK = """
import os, signal, threading

import colkern as ck

def fork_and(child):
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        os._exit(0 if child() else 1)
    _, status = os.waitpid(pid, 0)
    print(os.waitstatus_to_exitcode(status))

def held(lock, seconds=0.3):
    "A thread that has a lock for a while; the fork comes meanwhile."
    taken = threading.Event()

    def hold():
        with lock:
            taken.set()
            threading.Event().wait(seconds)

    threading.Thread(target=hold).start()
    taken.wait()

def compiles():
    @ck.udf
    def scaled(x: int) -> int:
        return x * 7 + 3

    return scaled(ck.array([1, 2])).to_pylist() == [10, 17]
"""


def outcome(code: str) -> str:
    command = [sys.executable, "-c", FORK + code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("lock", ["global_compiler_lock", "ffi.lib._lock"])
def test_a_child_compiles_where_another_thread_was_compiling(lock: str) -> None:
    code = f"""
compiles()
from llvmlite.binding import ffi
from numba.core.compiler_lock import global_compiler_lock
held({lock})
fork_and(compiles)
"""
    assert outcome(code) == "0"


def test_forks_within_compilations_leave_parent_and_child_able_to_compile() -> None:
    code = """
compiles()
stop = threading.Event()

from numba import int64

def compile_on():
    while not stop.is_set():
        ck.njit([(int64,)])(lambda x: x * 3 + 1)

thread = threading.Thread(target=compile_on)
thread.start()
for _ in range(3):
    fork_and(compiles)
stop.set()
thread.join()
print(compiles())
"""
    assert outcome(code).split() == ["0", "0", "0", "True"]


def test_a_child_makes_a_column_that_another_thread_was_making() -> None:
    code = """
from colkern.arrays import RecordBatch

making, leave = threading.Event(), threading.Event()
parent = os.getpid()

def load(position):
    if os.getpid() == parent:
        making.set()
        leave.wait()
    return ck.array([1, 2])

batch = RecordBatch.lazy(ck.schema.Schema([("x", ck.int64())]), 2, load)
threading.Thread(target=lambda: batch.column(0)).start()
making.wait()
fork_and(lambda: batch.column(0).to_pylist() == [1, 2])
leave.set()
"""
    assert outcome(code) == "0"


def test_locks_of_others_are_free_again_after_a_fork() -> None:
    code = """
from colkern.forks import hold_over_forks
lock = threading.Lock()
hold_over_forks(lock)
held(lock)
fork_and(lambda: lock.acquire(timeout=5))
print(lock.acquire(timeout=5))
"""
    assert outcome(code).split() == ["0", "True"]
