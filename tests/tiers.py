"""Which tests run by day (`make test`), and which at night alone (`make test-all`): the mark `night`.

What no rule names runs by day. A rule names tests by how their ids begin:

- `NIGHT`: at night alone.
- `IN_TURN`: by day a quarter of them.
- `EACH_KERNEL`: by day a variant of each kernel, and a quarter of the others.
- `EACH_PATTERN`: by day a kernel of each pattern, those of files that have changed, and a quarter of the
  others.

The commit says which quarter: a commit has the same tests everywhere, and a few commits have all of them.
COLKERN_QUARTER (0 to 3) chooses another one. COLKERN_BASE is the commit before the changes: HEAD~1, if it
is not set.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from zlib import crc32

import pytest

from colkern.kernels import KERNELS, Kernel

ROOT = Path(__file__).parent.parent

QUARTERS = 4

MOST_CHANGED = 60
"""How many kernels of changed files run by day."""

NIGHT = (
    # Minutes of one thing, in processes of their own.
    "tests/cuda/test_gpu_machine.py::test_every_test_for_a_gpu_is_collected",
    "tests/deaths/test_harness.py::test_either_side_is_killed_in_every_way",
    "tests/fuzz/test_clean_memory.py",
    "tests/fuzz/test_harness.py::test_a_slice_of_the_mutations_ends_cleanly",
    # A JVM or several for few tests, of what others show on the session that they share.
    "notebooks/spark_udfs.ipynb",
    "tests/spark/cluster/",
    "tests/spark/test_demo.py::test_the_demo_from_end_to_end",
    "tests/spark/test_example.py",
    "tests/spark/test_functions.py::test_functions_of_a_script_run_without_a_home",
    "tests/spark/test_leaks.py",
    "tests/spark/test_spark_benchmarks.py::test_all_ways_give_the_same_rows",
)

IN_TURN = (
    # What is launched is proved kernel by kernel, and on the CPU.
    "tests/cuda/test_gpu_benchmarks.py::test_a_device_computes_what_a_cpu_does",
    "tests/cuda/test_operations.py::test_simulated_operation",
    # They restate tests for the CPU.
    "tests/jit/test_cuda_columns.py::test_in_the_simulator",
    "tests/jit/test_rows_on_device.py::test_in_the_simulator",
    "tests/jit/test_udf_on_device.py::test_in_the_simulator",
    # Several processes for each; tests/cpu has the rules of the cache in one.
    "tests/cpu/test_cached_features.py",
    "tests/jit/test_processes.py",
    # One loop over all types, each of which takes seconds of compiling.
    "tests/jit/test_columns.py",
    # A query for each; the types are tested without a JVM, and the kinds with Spark's own reader.
    "tests/spark/test_functions.py::test_a_value_of_each_type_goes_in_and_out",
    "tests/spark/test_worker_reader.py",
)

EACH_KERNEL = (
    "tests/kernels/test_target.py::test_compiled[",
    "tests/kernels/test_target.py::test_compiled_over_several_threads",
)

EACH_PATTERN = (
    "tests/kernels/test_machine.py::test_ptx_keeps_the_rules_and_computes_what_is_expected",
    "tests/kernels/test_ptx.py::test_ptx",
    "tests/kernels/test_simulator.py::test_simulated",
)


def tests_of_the_night(items: Iterable[pytest.Item]) -> Iterator[pytest.Item]:
    """Those of the tests that run at night alone."""
    by_day: set[tuple[str, str]] = set()
    for item in items:
        test, _, case = item.nodeid.partition("[")
        if item.nodeid.startswith(EACH_KERNEL + EACH_PATTERN):
            kernel = case.rstrip("]").partition("[")[0]
            stands = item.nodeid.startswith(EACH_KERNEL) or kernel in kernels_of_day()
            first = (test, kernel) not in by_day
            by_day.add((test, kernel))
            at_night = not ((first and stands) or _is_in_turn(case))
        else:
            at_night = item.nodeid.startswith(IN_TURN) and not _is_in_turn(case or test)
        if at_night or item.nodeid.startswith(NIGHT):
            yield item


def _is_in_turn(name: str) -> bool:
    return crc32(name.encode()) % QUARTERS == quarter()


@cache
def quarter() -> int:
    """The number of the quarter that runs by day."""
    chosen = os.environ.get("COLKERN_QUARTER")
    return int(chosen or _git("rev-parse", "HEAD")[:8] or "0", 10 if chosen else 16) % QUARTERS


@cache
def kernels_of_day() -> frozenset[str]:
    """A kernel of each pattern, and those that have changed."""
    return frozenset(kernels_of_patterns()) | changed_kernels()


def kernels_of_patterns() -> list[str]:
    """A kernel for each way in which targets launch kernels and combine what they return."""
    return list({_pattern(kernel): kernel.name for kernel in KERNELS.values()}.values())


def _pattern(kernel: Kernel) -> tuple[object, ...]:
    combined = kernel.combine if kernel.returns else ""
    written = kernel.arguments[-1].written
    return combined, written, kernel.sequential, kernel.grouped, kernel.within_warp


@cache
def changed_kernels() -> frozenset[str]:
    """The kernels in files that differ from those of the commit before; some of them, if they are many."""
    base = os.environ.get("COLKERN_BASE") or "HEAD~1"
    files = _git("diff", "--name-only", base, "--", "colkern/kernels").split()
    modules = {Path(file).with_suffix("").as_posix().replace("/", ".") for file in files}
    changed = [k.name for k in KERNELS.values() if k.body.__module__ in modules]
    return frozenset(sorted(changed, key=lambda name: crc32(name.encode()))[:MOST_CHANGED])


def _git(*arguments: str) -> str:
    """What git says; nothing, outside of a repository."""
    command = ["git", "-C", str(ROOT), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""


def selected_cases(request: pytest.FixtureRequest, parameter: str) -> list[str]:
    """The values of a parameter in the selected tests that use the fixture of the request."""
    return [
        test.callspec.params[parameter]
        for test in request.session.items
        if isinstance(test, pytest.Function) and request.fixturename in test.fixturenames
    ]


def report_header() -> str:
    """Which of the tests run by day."""
    changed = len(changed_kernels())
    return f"by day: quarter {quarter()} of 0 to {QUARTERS - 1}, {changed} changed kernels"
