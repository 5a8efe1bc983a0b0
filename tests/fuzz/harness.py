"""Many damaged inputs, read in child processes that may spend little: `make fuzz SECONDS=600`.

A worker reads one case after the other, and says in shared memory which one. If it dies of a signal,
its alarm's among them, that case is a finding, and a new worker goes on behind it. So are exceptions
that are not colkern's, memory over the limit, results that contradict each other, and cases that take
too long. Each finding prints the command that makes it again, and its input is saved.

Not under test, so not an oracle: pyarrow, which only makes the corpus.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import mmap
import os
import random
import re
import signal
import struct
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz.corpus import corpus
from fuzz.examination import FindingError, Outcome, examine, examine_on_device
from fuzz.guard import limit_memory, memory
from fuzz.mutations import Case, make_case
from fuzz.recording import as_file, as_stream

HANG_SECONDS = 20
SLOW_SECONDS = 1.0
# Cases a worker reads before a fresh one takes its place: what it leaks would show.
_CASES_A_WORKER = 4000
# How many cases to go without a word.
_PROGRESS = 40_000
# Every so many cases, one is used in more ways.
_THOROUGH = 8
_TRICKLED = 16
_ON_DEVICE = 3
_OF_CODEC = re.compile(r"(?<=decompress error: ).*")
"""The messages of codecs for a damaged frame, which depend on where its memory lies."""

_CUT_SHORT = "the source ends after"

_NUMBER = struct.Struct("<q")


@dataclass
class Report:
    """The findings of a run.

    Args:
        cases: How many were read.
        outcomes: How many ended how.
        findings: What must not be: case number → what happened.
        slowest: The processor seconds of the slowest case, and its number.
        memory: The most memory that a worker had over what it started with, in bytes.
        seconds: How long all took, without loading.
    """

    cases: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    findings: dict[int, str] = field(default_factory=dict)
    slowest: tuple[float, int] = (0.0, -1)
    memory: int = 0
    seconds: float = 0.0

    def add(self, number: int, outcome: str, seconds: float) -> None:
        """Count one case."""
        self.cases += 1
        self.outcomes[outcome] += 1
        self.slowest = max(self.slowest, (seconds, number))

    def line(self) -> str:
        """The progress so far."""
        rate = self.cases / max(self.seconds, 1e-9)
        result = len(self.findings)
        return f"{self.cases} cases in {self.seconds:.0f} s ({rate:.0f}/s), {result} findings"

    def merge(self, other: Report) -> None:
        """Count what another has counted."""
        self.cases += other.cases
        self.outcomes += other.outcomes
        self.findings |= other.findings
        self.slowest = max(self.slowest, other.slowest)
        self.memory = max(self.memory, other.memory)


class Trickle:
    """A source that gives few bytes at a time, as sockets and pipes do."""

    def __init__(self, data: bytes, rng: random.Random) -> None:
        self._data = io.BytesIO(data)
        self._random = rng

    def readinto(self, view: memoryview) -> int:
        """1 to 64 bytes, or 0 at the end."""
        return self._data.readinto(view[: self._random.randint(1, 64)])


def read_case(case: Case) -> str:
    """Read a case in its forms; how it ended, in a word.

    Raises:
        FindingError: If two ways to read it disagree.
    """
    thorough = case.number % _THOROUGH == 0
    outcomes = {}
    if case.stream is not None:
        outcomes["stream"] = examine(case.stream, thorough=thorough)
        if case.number % _TRICKLED == 1:
            trickled = examine(Trickle(case.stream, random.Random(case.number)), thorough=False)
            _agree(outcomes["stream"], trickled, "in memory and in small pieces")
        _read_on_device(case, case.stream, outcomes["stream"])
    if case.file is not None:
        outcomes["file"] = examine(case.file, thorough=thorough)
        if case.number % _TRICKLED == 1:
            seekable = examine(io.BytesIO(case.file), thorough=False)
            _agree(outcomes["file"], seekable, "in memory and as a file object")
        _read_on_device(case, case.file, outcomes["file"])
    if len(outcomes) == 2 and all(outcome == "read" for outcome, _ in outcomes.values()):
        stream, (outcome, texts) = outcomes["stream"], outcomes["file"]
        # An end mark among the messages ends a stream; a footer leads past it.
        _agree(stream, (outcome, texts[: len(stream[1])]), "as a stream and as a file")
    return next(iter(outcomes.values()))[0].split(":")[0]


def _read_on_device(case: Case, data: bytes, expected: Outcome) -> None:
    if case.number % _ON_DEVICE:
        return
    if case.number % _THOROUGH == 0:
        # How reading ended, not other uses.
        expected = examine(data, thorough=False)
    # From memory, or as from a socket.
    in_memory = case.number // _ON_DEVICE % 2 == 0
    source = data if in_memory else Trickle(data, random.Random(case.number))
    outcome, texts = examine_on_device(source)
    if not in_memory and _CUT_SHORT in expected[0] and "Error" in outcome:
        # A body is taken late: what else is wrong with its message is told first.
        outcome = expected[0]
    _agree(expected, (outcome, texts), "on the host and on a device")


def _agree(one: Outcome, other: Outcome, how: str) -> None:
    (ended, texts), (other_ended, other_texts) = one, other
    endings = {_OF_CODEC.sub("", each) for each in (ended, other_ended)}
    if len(endings) > 1 or texts != other_texts:
        raise FindingError(f"{how}: {str(one)[:500]} and {str(other)[:500]}")


def run(seed: int, first: int, cases: int, seconds: float, out: Path | None = None) -> Report:
    """Read cases `first` to `first + cases - 1`, or as many as there is time for.

    Args:
        seed: Which cases.
        first: The first case's number.
        cases: How many.
        seconds: For how long at most.
        out: Where the inputs of findings are saved.
    """
    warm_up()
    started = time.monotonic()
    deadline = started + seconds
    report = Report()
    number, end = first, first + cases
    with contextlib.suppress(KeyboardInterrupt):
        while number < end and time.monotonic() < deadline:
            number = _run_worker(seed, number, min(number + _CASES_A_WORKER, end), deadline, report)
            report.seconds = time.monotonic() - started
            if report.cases % _PROGRESS < _CASES_A_WORKER:
                print(report.line(), file=sys.stderr, flush=True)
    for item in sorted(report.findings):
        _save(seed, item, out)
    return report


def warm_up() -> None:
    """Load every kernel once, here, so that no worker has to."""
    for parts in corpus().values():
        for data in (as_stream(parts), as_file(parts, parts[0])):
            examine(data)


def _run_worker(seed: int, number: int, end: int, deadline: float, report: Report) -> int:
    """Read cases in a child process; the number of the case to go on with."""
    progress = mmap.mmap(-1, _NUMBER.size)
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receive)
        try:
            _work(seed, number, end, deadline, progress, send)
        finally:
            os._exit(0)
    os.close(send)
    with os.fdopen(receive) as lines:
        for line in lines:
            part = _from_json(line)
            report.merge(part)
            _tell(seed, part.findings)
    _, status = os.waitpid(child, 0)
    (reached,) = _NUMBER.unpack(progress[:])
    if os.WIFSIGNALED(status):
        which = os.WTERMSIG(status)
        hung = which == signal.SIGALRM
        report.findings[reached] = (
            f"no end within {HANG_SECONDS} s" if hung else f"killed by {signal.Signals(which).name}"
        )
        report.add(reached, "killed", 0.0)
        _tell(seed, {reached: report.findings[reached]})
    result: int = reached + 1
    return result


def _work(
    seed: int, number: int, end: int, deadline: float, progress: mmap.mmap, send: int
) -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    limit_memory()
    resident = memory("VmRSS")
    # By the line: what has been counted before a worker is killed is not lost.
    with os.fdopen(send, "w", buffering=1) as out:
        while number < end and time.monotonic() < deadline:
            progress[:] = _NUMBER.pack(number)
            signal.alarm(HANG_SECONDS)
            report = Report()
            case = make_case(seed, number)
            outcome, finding, seconds = _timed(case)
            if finding is None and seconds > SLOW_SECONDS:
                # The first time may have been a kernel's compilation.
                outcome, finding, seconds = _timed(case)
            signal.alarm(0)
            if finding is None and seconds > SLOW_SECONDS:
                finding = f"took {seconds:.1f} s"
            if finding is not None:
                report.findings[number] = finding
            report.add(number, outcome, seconds)
            out.write(_to_json(report))
            number += 1
        last = Report(memory=memory("VmHWM") - resident)
        out.write(_to_json(last))


def _timed(case: Case) -> tuple[str, str | None, float]:
    """As `_outcome`, and the processor seconds that it took."""
    begun = time.process_time()
    return *_outcome(case), time.process_time() - begun


def _outcome(case: Case) -> tuple[str, str | None]:
    """The end of a case, and what is wrong with that."""
    try:
        return read_case(case), None
    except Exception as error:  # noqa: BLE001
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}:{where.lineno}"
        return "finding", f"{type(error).__name__} at {place}: {str(error)[:1000]}"


def _to_json(report: Report) -> str:
    return json.dumps(vars(report)) + "\n"


def _from_json(line: str) -> Report:
    values: dict[str, Any] = json.loads(line)
    values["outcomes"] = Counter(values["outcomes"])
    values["findings"] = {int(number): text for number, text in values["findings"].items()}
    values["slowest"] = tuple(values["slowest"])
    return Report(**values)


def _tell(seed: int, findings: dict[int, str]) -> None:
    for number, finding in findings.items():
        print(f"FINDING case {number}: {finding}", *_describe(seed, number), sep="\n", flush=True)


def _save(seed: int, number: int, folder: Path | None) -> None:
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    case = make_case(seed, number)
    for form, data in (("stream", case.stream), ("file", case.file)):
        if data is not None:
            (folder / f"{seed}-{number}.{form}").write_bytes(data)


def _describe(seed: int, number: int) -> Iterator[str]:
    case = make_case(seed, number)
    yield f"  made of {case.origin!r}"
    for damage in case.damage:
        yield f"  {damage}"
    yield f"  again: PYTHONPATH=tests python -m fuzz --seed {seed} --case {number}"


def main(arguments: list[str] | None = None) -> int:
    """The command line; 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0, help="which cases (default: 0)")
    parser.add_argument("--first", type=int, default=0, help="the first case's number")
    parser.add_argument("--cases", type=int, default=1 << 62, help="how many cases at most")
    parser.add_argument("--seconds", type=float, default=60, help="how long at most (default: 60)")
    parser.add_argument("--case", type=int, help="read this one case, in this process")
    parser.add_argument("--out", type=Path, help="folder for the inputs of findings")
    options = parser.parse_args(arguments)
    if options.case is not None:
        print("\n".join(_describe(options.seed, options.case)))
        _save(options.seed, options.case, options.out)
        print(read_case(make_case(options.seed, options.case)))
        return 0
    report = run(options.seed, options.first, options.cases, options.seconds, options.out)
    _print(options.seed, report)
    return int(bool(report.findings))


def _print(seed: int, report: Report) -> None:
    slowest, number = report.slowest
    print(f"seed {seed}: {report.line()}")
    print(f"  {dict(report.outcomes.most_common())}")
    print(f"  slowest: {slowest:.2f} s (case {number}); memory: {report.memory >> 20} MiB at most")
