"""A process that is forked while other threads work: the child is not held up by what they held.

Each test runs in a process of its own: pytest's has threads that a fork would leave behind.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

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
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(FORK + code)
        script.flush()
        command = [sys.executable, script.name]
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
    while not stop.wait(0.01):
        ck.njit([(int64,)])(lambda x: x * 3 + 1)

thread = threading.Thread(target=compile_on)
thread.start()
fork_and(compiles)
stop.set()
thread.join()
print(compiles())
"""
    assert outcome(code).split() == ["0", "True"]


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


@pytest.mark.parametrize("make", ["threading.Lock", "threading.RLock"])
def test_a_lock_that_another_thread_held_is_free_in_a_child(make: str) -> None:
    code = f"""
from colkern.forks import Lock
lock = Lock({make})
held(lock)

def use():
    with lock:
        return True

fork_and(use)
"""
    assert outcome(code) == "0"


@pytest.mark.parametrize("make", ["threading.Lock", "threading.RLock"])
def test_a_lock_that_the_forking_thread_holds_stays_held_until_it_lets_go(make: str) -> None:
    """In parent and child: another thread of the child waits for it, and then gets it."""
    code = f"""
from colkern.forks import Lock
lock = Lock({make})

def waits():
    entered = threading.Event()

    def enter():
        with lock:
            entered.set()

    threading.Thread(target=enter, daemon=True).start()
    return entered

def child():
    entered = waits()
    was_kept_out = not entered.wait(0.2)
    lock.__exit__(None, None, None)
    return was_kept_out and entered.wait(10)

with lock:
    fork_and(child)
print(waits().wait(10))
"""
    assert outcome(code).split() == ["0", "True"]


def test_a_child_enters_again_a_lock_that_the_forking_thread_holds() -> None:
    code = """
from colkern.forks import Lock
lock = Lock(threading.RLock)

def child():
    with lock:
        pass
    lock.__exit__(None, None, None)
    with lock:
        return True

with lock:
    fork_and(child)
"""
    assert outcome(code) == "0"


def test_a_child_makes_a_cached_property_that_another_thread_was_making() -> None:
    code = """
from colkern.forks import cached_property

making, leave = threading.Event(), threading.Event()
parent = os.getpid()

class Made:
    @cached_property
    def value(self):
        if os.getpid() == parent:
            making.set()
            leave.wait()
        return object()

made, seen = Made(), []
thread = threading.Thread(target=lambda: seen.append(made.value))
thread.start()
making.wait()
fork_and(lambda: made.value is made.value)
leave.set()
thread.join()
print(seen == [made.value])
"""
    assert outcome(code).split() == ["0", "True"]


READERS = """
import io, tempfile
from colkern.errors import UnsupportedError

written = io.BytesIO()
with ck.ipc.new_file(written, ck.schema.Schema([("x", ck.int64()), ("y", ck.int64())])) as writer:
    writer.write(ck.record_batch({"x": [1, 2], "y": [3, 4]}))
"""


def test_a_child_is_told_that_it_shares_the_position_of_a_file_object() -> None:
    """A thread of the parent is within a read: the child must neither wait for it nor read elsewhere."""
    code = f"""{READERS}
reading, leave = threading.Event(), threading.Event()

class Waiting(io.BytesIO):
    waits = False

    def readinto(self, view):
        if self.waits:
            reading.set()
            leave.wait()
        return super().readinto(view)

file = Waiting(written.getvalue())
batch = ck.ipc.open_file(file)[0]
file.waits = True
thread = threading.Thread(target=lambda: batch.column(0))
thread.start()
reading.wait()

def is_refused():
    try:
        batch.column(1)
    except UnsupportedError as error:
        return "Waiting" in str(error) and "fork" in str(error)

fork_and(is_refused)
leave.set()
thread.join()
print(batch.column(1).to_pylist() == [3, 4])
"""
    assert outcome(code).split() == ["0", "True"]


@pytest.mark.parametrize("opening", ["io.BytesIO()", "tempfile.TemporaryFile()"])
def test_a_child_reads_files_whose_position_it_does_not_share(opening: str) -> None:
    """Memory is the child's own, and a file of the system is read without its position."""
    code = f"""{READERS}
file = {opening}
file.write(b"ahead" + written.getvalue())
file.seek(5)
batch = ck.ipc.open_file(file)[0]
file.seek(2)
fork_and(lambda: batch.column(1).to_pylist() == [3, 4])
print(batch.column(0).to_pylist() == [1, 2], file.tell())
"""
    assert outcome(code).split()[:2] == ["0", "True"]


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


def test_kernels_run_over_several_threads_in_parent_and_child() -> None:
    code = """
import numpy as np
from colkern.cpu import target as cpu_target
from colkern.cpu.target import CpuTarget
from colkern.cpu.threads import GRAIN, set_num_threads
from colkern.kernels.offsets import lengths_of
cpu_target.WORTH_WAKING = 0
set_num_threads(3)
target = CpuTarget()
offsets = target.table(range(101), np.int32)

def run():
    out = target.allocate(100, np.int64)
    target.map(lengths_of, 100, offsets, out, work=GRAIN)
    return out.tolist() == [1] * 100

assert run()
fork_and(lambda: run() and run())
print(run())
"""
    assert outcome(code).split() == ["0", "True"]


def test_the_threads_of_a_child_are_new_where_another_thread_held_their_lock() -> None:
    code = """
from colkern.cpu import threads
threads.set_num_threads(2)
held(threads._lock)
fork_and(lambda: threads.run_ranges(lambda start, stop: stop - start, 2, (), 1) == [1, 1])
"""
    assert outcome(code) == "0"


STREAM = """
import io
from colkern.errors import StreamError, UnsupportedError

written = io.BytesIO()
ck.ipc.write_stream(written, [ck.record_batch({"x": [1]}), ck.record_batch({"x": [2]})])

def refused(reader, kind):
    try:
        next(reader)
    except kind as error:
        return "fork" in str(error)

"""


def test_a_child_is_told_that_it_shares_the_position_of_a_stream() -> None:
    """A thread of the parent waits for bytes: the child must neither wait for it nor take its bytes."""
    code = f"""{STREAM}
begin, write = os.pipe()
data = written.getvalue()
os.write(write, data[:-8])
source = os.fdopen(begin, "rb", buffering=0)
reader = ck.ipc.open_stream(source)
taken = [next(reader), next(reader)]
thread = threading.Thread(target=lambda: taken.extend(reader))
thread.start()
threading.Event().wait(0.3)
fork_and(lambda: refused(reader, (UnsupportedError, StreamError)))
os.write(write, data[-8:])
thread.join()
fork_and(lambda: list(reader) == [])

begin, write = os.pipe()
os.write(write, data)
other = ck.ipc.open_stream(os.fdopen(begin, "rb", buffering=0))
fork_and(lambda: refused(other, UnsupportedError))
print([batch.column(0).to_pylist() for batch in other])
"""
    assert outcome(code).split("\n") == ["0", "0", "0", "[[1], [2]]"]


def test_a_child_reads_a_stream_in_memory_unless_another_thread_was_within_a_message() -> None:
    code = f"""{STREAM}
from colkern.ipc.reading import messages

reader = ck.ipc.open_stream(written.getvalue())
fork_and(lambda: [batch.column(0).to_pylist() for batch in reader] == [[1], [2]])
reading, leave, take = threading.Event(), threading.Event(), messages.MessageStream.next

def waiting(self):
    message = take(self)
    reading.set()
    leave.wait()
    return message

messages.MessageStream.next = waiting
taken = []
thread = threading.Thread(target=lambda: taken.extend(reader))
thread.start()
reading.wait()
fork_and(lambda: refused(reader, StreamError))
leave.set()
thread.join()
print([batch.column(0).to_pylist() for batch in taken])
"""
    assert outcome(code).split("\n") == ["0", "0", "[[1], [2]]"]
