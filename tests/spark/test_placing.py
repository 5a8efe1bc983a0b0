"""Where a batch runs, by a clock that the test moves."""

from __future__ import annotations

from colkern.memory import HOST, Device
from colkern.spark.devices import TIMED, Placing, placing_of

CUDA = Device("cuda", 1)


class Task:
    """A task with a GPU that takes 100 for a transfer and 1 for a row; the CPU takes 3 for a row."""

    def __init__(self) -> None:
        self.now = 0.0
        self.placing = Placing(lambda: self.now)
        self.compiled: set[Device] = set()

    def run(self, rows: int) -> Device:
        device = self.placing.device(rows, CUDA)
        with self.placing.timed(rows, device):
            self.now += 3 * rows if device == HOST else 100 + rows
            # Whoever comes first compiles, for much longer than a batch takes.
            self.now += 0 if device in self.compiled else 10_000
            self.compiled.add(device)
        return device


def test_batches_are_timed_on_both_sides_in_turn_and_then_run_on_the_faster_one() -> None:
    task = Task()
    assert [task.run(1000) for _ in range(2 * TIMED)] == [CUDA, HOST] * TIMED
    assert [task.run(1000), task.run(700)] == [CUDA, CUDA]


def test_sizes_that_were_not_timed_follow_those_that_were() -> None:
    task = Task()
    for rows in (1000, 20):
        assert [task.run(rows) for _ in range(2 * TIMED)] == [CUDA, HOST] * TIMED
    assert [task.run(rows) for rows in (100_000, 1000, 20, 3)] == [CUDA, CUDA, HOST, HOST]
    # Between the two, nobody knows yet.
    assert [task.run(100) for _ in range(2)] == [CUDA, HOST]


def test_what_stays_on_the_host_is_not_asked_again() -> None:
    task = Task()
    task.placing.stays_on_host = True
    assert task.run(1000) == HOST
    assert Placing().device(1000, HOST) == HOST


def test_a_function_keeps_its_choice() -> None:
    def function() -> None:
        pass

    assert placing_of(function) is placing_of(function)
    assert placing_of(function) is not placing_of(placing_of)
