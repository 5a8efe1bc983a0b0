"""Measurements of several processes on one device: they compile side by side, and measure in turn.

A benchmark with the options `--part K/N` and `--jobs N` runs itself once for each job, with every N-th
measurement. The processes name a file by `--turn`; whoever has locked it has the device for itself.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any

from colkern.cuda import adapter
from colkern.errors import DeviceUnavailableError


def has_device() -> bool:
    """Whether there is a device to measure; prints the reason if there is none."""
    try:
        adapter.require_device()
    except DeviceUnavailableError as error:
        print(f"no figures: {error}")
        return False
    return True


def add_options(parser: argparse.ArgumentParser) -> None:
    """Give a benchmark its options: the file of results, the part, and the jobs."""
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument(
        "--part",
        type=part,
        default=slice(0, None, 1),
        metavar="K/N",
        help="only every N-th measurement, from the K-th on: 1/2, then 2/2",
    )
    parser.add_argument("--jobs", type=int, default=1, help="how many processes compile")
    parser.add_argument("--turn", type=Path, help="the file that is locked while one measures")


def part(text: str) -> slice:
    """`K/N` as the places of measurements."""
    number, _, parts = text.partition("/")
    if not 1 <= int(number) <= int(parts):
        raise ValueError
    return slice(int(number) - 1, None, int(parts))


@contextmanager
def device_alone(turn: Path | None) -> Iterator[None]:
    """Keep the other processes that name this file from measuring."""
    if turn is None:
        yield
        return
    with turn.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def rows_of_jobs(module: str, options: argparse.Namespace) -> Iterator[list[dict[str, Any]]]:
    """Run a benchmark in several processes; all rows so far, again and again until it ends.

    Args:
        module: The benchmark, as `python -m` takes it.
        options: Its options; what `sys.argv` says besides is passed on.
    """
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{job}.json" for job in range(options.jobs)]
        processes = [
            subprocess.Popen(
                [
                    *(sys.executable, "-m", module, *sys.argv[1:], "--jobs", "1"),
                    *("--json", file, "--turn", Path(folder) / "turn"),
                    *("--part", _part_of_job(options.part, job, options.jobs)),
                ],
                stdout=subprocess.DEVNULL,
            )
            for job, file in enumerate(files)
        ]
        try:
            while any(process.poll() is None for process in processes):
                yield _joined(files)
                time.sleep(1)
            yield _joined(files)
        finally:
            for process in processes:
                process.kill()
    if broken := [process.returncode for process in processes if process.returncode not in (0, 1)]:
        raise RuntimeError(f"processes ended with {broken}: rows are missing")


def _part_of_job(whole: slice, job: int, jobs: int) -> str:
    return f"{whole.start + 1 + job * whole.step}/{whole.step * jobs}"


def _joined(files: list[Path]) -> list[dict[str, Any]]:
    """The rows of all jobs, in the order of one process."""
    of_jobs = [json.loads(file.read_text())["rows"] for file in files if file.exists()]
    return [row for each in zip_longest(*of_jobs) for row in each if row is not None]
