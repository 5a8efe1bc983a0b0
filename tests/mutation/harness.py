"""Whether the tests of the day notice faults of the package: `make mutants COUNT=100 SEED=0`.

Each fault is made in a copy of the repository, and the tests run there that lie nearest to it: those that
import the file, then those of its package, until one fails. What none of the day notices is shown to
those of the night (`tests/tiers.py`). A test counts that fails with the fault, and not without.

    python -m mutation --count 100 --seed 0 --jobs 2 --out mutants.txt
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from mutation.mutants import Mutant, chosen
from tiers import ROOT, turn

DAY, NIGHT = "not night", "night"

SECONDS = 3600
"""The limit of the time of a tier's tests. Compiled code that does not end is not stopped by pytest."""

FOLDERS = {
    "colkern/arrays/": ["tests/arrays", "tests/operations", "tests/interchange"],
    "colkern/builders/": ["tests/test_builders.py", "tests/arrays", "tests/jit/test_builders.py"],
    "colkern/commands/": ["tests/commands", "tests/test_cli.py"],
    "colkern/cpu/": [
        "tests/cpu",
        "tests/kernels/test_target.py",
        "tests/kernels/test_properties.py",
    ],
    "colkern/cuda/": [
        "tests/cuda",
        "tests/ipc",
        "tests/interchange",
        "tests/kernels/test_machine.py",
    ],
    "colkern/dissociated/": ["tests/dissociated", "tests/deaths"],
    "colkern/extensions/": ["tests/test_extensions.py", "tests/operations", "tests/interchange"],
    "colkern/functions/": ["tests/functions", "tests/operations", "tests/arrays"],
    "colkern/integration/": ["tests/integration", "tests/commands/test_integration.py"],
    "colkern/interchange/": ["tests/interchange", "tests/arrays", "tests/operations"],
    "colkern/ipc/": ["tests/ipc", "tests/integration", "tests/fuzz", "tests/dissociated"],
    "colkern/jit/": ["tests/jit", "tests/spark/test_worker_calls.py", "tests/cpu"],
    "colkern/kernels/": [
        "tests/kernels/test_plain.py",
        "tests/kernels",
        "tests/operations",
        "tests/rows",
        "tests/jit",
        "tests/cuda/test_operations.py",
    ],
    "colkern/operations/": ["tests/operations", "tests/arrays", "tests/cuda/test_operations.py"],
    "colkern/rows/": ["tests/rows", "tests/corpus", "tests/jit", "tests/functions"],
    "colkern/spark/": ["tests/spark"],
    "colkern/": [
        "tests/test_*.py",
        "tests/arrays",
        "tests/functions",
        "tests/cpu",
        "tests/operations",
        "tests/ipc",
    ],
}
"""The tests that may notice a fault, by where it is."""


@dataclass(frozen=True)
class Outcome:
    """The verdict on a mutant: the tier that catches it ("" if none does), and the test."""

    mutant: Mutant
    tier: str
    test: str


class Copies:
    """Copies of the repository, each for one mutant at a time, besides one without any."""

    def __init__(self, folder: Path, jobs: int, most: int | None) -> None:
        self._sound = _copy(folder / "sound")
        self._free: SimpleQueue[Path] = SimpleQueue()
        for job in range(jobs):
            self._free.put(_copy(folder / str(job)))
        self._most = most
        self._flaws: dict[str, bool] = {}
        self._lock = threading.Lock()

    def outcome(self, mutant: Mutant) -> Outcome:
        """The tier that catches a mutant."""
        with self._mutated(mutant) as root:
            near, rest = relevant(mutant.path, self._most)
            for tier, paths in ((DAY, near), (DAY, rest), (NIGHT, [*near, *rest])):
                if test := self._failing(root, tier, paths):
                    return Outcome(mutant, tier, test)
        return Outcome(mutant, "", "")

    @contextmanager
    def _mutated(self, mutant: Mutant) -> Iterator[Path]:
        root = self._free.get()
        path = root / mutant.path
        sound = path.read_bytes()
        path.write_bytes(mutant.applied(sound))
        try:
            yield root
        finally:
            path.write_bytes(sound)
            self._free.put(root)

    def _failing(self, root: Path, tier: str, paths: list[str]) -> str:
        """A test that fails in a copy, and not without the fault; "" if there is none."""
        passed_over: list[str] = []
        while paths:
            test = run(root, tier, paths, passed_over)
            if not test or not self._fails_without(test):
                return test
            passed_over.append(test)
        return ""

    def _fails_without(self, test: str) -> bool:
        with self._lock:
            if test not in self._flaws:
                is_test = test.startswith("tests/")
                self._flaws[test] = is_test and bool(run(self._sound, "", [test], []))
            return self._flaws[test]


def _copy(folder: Path) -> Path:
    """A copy of what git knows, and of what it would."""
    command = [
        "git",
        "-C",
        str(ROOT),
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]
    for name in filter(None, subprocess.check_output(command, text=True).split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def relevant(path: str, most: int | None = None) -> tuple[list[str], list[str]]:
    """The files of tests that import a file of the package, and the others that may notice a fault there.

    Args:
        path: The file of the package.
        most: How many files at most; None for all.
    """
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    package, _, name = module.rpartition(".")
    imports = re.compile(
        rf"(from {re.escape(module)}|import {re.escape(module)})\b"
        rf"|from {re.escape(package)} import [^\n]*\b{re.escape(name)}\b"
    )
    folder = max((f for f in FOLDERS if path.startswith(f)), key=len)
    result = [
        file.relative_to(ROOT).as_posix()
        for place in FOLDERS[folder]
        for start in sorted(ROOT.glob(place))
        for file in ([start] if start.is_file() else sorted(start.rglob("test_*.py")))
    ]
    # The more their names have in common with the file's, the sooner they notice it.
    by_name = sorted(dict.fromkeys(result), key=lambda file: -len(_words(file) & _words(path)))
    near = [file for file in by_name if imports.search((ROOT / file).read_text())][:most]
    rest = [file for file in by_name if file not in near]
    return near, rest if most is None else rest[: most - len(near)]


def _words(path: str) -> set[str]:
    """The words of a path, singular or plural."""
    return {word.removesuffix("s") for word in re.findall("[a-z]+", path.removesuffix(".py"))}


def run(root: Path, tier: str, paths: list[str], passed_over: list[str]) -> str:
    """The first test that fails in a copy; "" if all pass."""
    environment = os.environ | {
        "PYTHONPATH": str(root),
        "COLKERN_TURN": str(turn()),
        "ARROW_TEST_DATA": os.environ.get(
            "ARROW_TEST_DATA", str(ROOT.parent / "shared" / "arrow-testing" / "data")
        ),
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--tb=no"]
    command += ["-m", tier, *(f"--deselect={test}" for test in passed_over), *paths]
    try:
        done = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return "(no end)"
    # 5: no test was selected.
    if done.returncode in (0, 5):
        return ""
    failed = re.search(
        r"^(?:FAILED|ERROR) (\S+?\.py(?:::.*?)?)(?: - .*)?$", done.stdout, re.MULTILINE
    )
    return failed[1] if failed else "(nothing can be imported)"


def table(outcomes: list[Outcome]) -> str:
    """A table of the mutants that each tier caught, by package; then those that the day misses."""
    names = {DAY: "by day", NIGHT: "at night alone", "": "not at all"}
    counts = Counter((_package(o.mutant), o.tier) for o in outcomes)
    packages = sorted({package for package, _ in counts})
    lines = [f"{'package':14}" + "".join(f"{name:>16}" for name in names.values())]
    for package in [*packages, "all"]:
        row = [
            sum(n for (p, t), n in counts.items() if t == tier and package in (p, "all"))
            for tier in names
        ]
        lines.append(f"{package:14}" + "".join(f"{n:16}" for n in row))
    for tier in (NIGHT, ""):
        lines += [f"\ncaught {names[tier]}:"]
        lines += [f"  {o.mutant}  {o.test}" for o in outcomes if o.tier == tier]
    return "\n".join(lines)


def _package(mutant: Mutant) -> str:
    first, *rest = mutant.path.split("/")[1:]
    return first if rest else "(top)"


def main() -> int:
    """Make mutants, run the tests, print the table."""
    parser = argparse.ArgumentParser(prog="mutation", description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="how many mutants at a time")
    parser.add_argument("--files", type=int, help="how many files of tests at most for each")
    parser.add_argument("--out", type=Path, help="a file for the table")
    options = parser.parse_args()
    mutants = chosen(ROOT, options.count, options.seed)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        copies = Copies(Path(folder), options.jobs, options.files)
        outcomes: list[Outcome] = []
        for outcome in pool.map(copies.outcome, mutants):
            outcomes.append(outcome)
            message = f"{outcome.tier or 'survives'}: {outcome.mutant}  {outcome.test}"
            print(f"{len(outcomes)}/{len(mutants)} {message}", flush=True)
            if options.out:
                options.out.write_text(table(outcomes) + "\n")
    print(table(outcomes))
    return 0
