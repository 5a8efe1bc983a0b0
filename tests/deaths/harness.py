"""One side of a stream is killed (SIGKILL) at a random point, the other lives on: `make deaths RUNS=200`.

This process is the one that lives, as client or as server, for all runs: what it keeps of the dead shows.
A finding is a batch with a wrong value, an error of another kind than those of a peer that has gone, one
that comes too late, and whatever is held longer than before: shared memory, descriptors, threads.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import gc
import importlib.util
import multiprocessing
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple

from deaths.holdings import Holdings, holdings
from deaths.numbered import Numbered, check
from deaths.victims import read_until_killed, serve_until_killed, wait_until_killed

from colkern.dissociated import Server, connect, serve
from colkern.errors import InvalidArrowError, StreamError

TIMEOUT = 5.0
"""Of the streams; a peer that has gone must be noticed within it."""

_START_SECONDS = 60.0
_HANG_SECONDS = 120.0
_PROGRESS = 20

# Fork where nothing runs but one thread: a start takes milliseconds.
_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["deaths.victims"])


class Way(NamedTuple):
    """The way a stream goes.

    Args:
        name: The name.
        uri: The service.
        data_uri: A second one, for bodies.
        longest_life: For how many seconds the one lives that is killed, at most.
    """

    name: str
    uri: str
    data_uri: str | None = None
    longest_life: float = 0.3


WAYS = [
    Way("tcp", "tcp:"),
    Way("unix", "unix:"),
    Way("shm", "shm:"),
    Way("two tcp", "tcp:", "tcp:"),
    Way("two shm", "shm:", "shm:"),
]
if importlib.util.find_spec("ucxx"):
    # Its start takes long.
    WAYS += [Way("ucx", "ucx:", None, 3.0), Way("two ucx", "ucx:", "ucx:", 3.0)]


@dataclass
class Report:
    """The output so far.

    Args:
        runs: How many there were.
        batches: How many batches the client had whole before a server died.
        outcomes: How many ended how.
        findings: What must not be: number of the run → what happened.
    """

    runs: int = 0
    batches: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    findings: dict[int, str] = field(default_factory=dict)


def run(seed: int, first: int, runs: int) -> Report:
    """Runs of those numbers; the same number dies in the same way, as far as clocks allow it.

    Each way and each side have their turn.
    """
    report = Report()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as serving:
        servers = {way: serving.enter_context(_served(way, Path(folder, "ours"))) for way in WAYS}
        with _victim(wait_until_killed):
            # The process that others are forked from stays.
            pass
        before = _settled()
        for number in range(first, first + runs):
            way, chance = WAYS[number // 2 % len(WAYS)], random.Random(f"{seed} {number}")
            faulthandler.dump_traceback_later(_HANG_SECONDS, exit=True)
            try:
                if number % 2:
                    outcome = _serve_a_client(way, servers[way], chance)
                else:
                    outcome = _read_a_server(way, Path(folder, str(number)), chance, report)
                _wait_for_leaks_to_go(before)
                report.outcomes[f"{way.name}: {outcome}"] += 1
            except AssertionError as finding:
                report.findings[number] = f"{way.name}: {finding}"
            report.runs += 1
            if report.runs % _PROGRESS == 0:
                print(f"{report.runs} runs, {len(report.findings)} findings", flush=True)
        faulthandler.cancel_dump_traceback_later()
    return report


def _read_a_server(way: Way, folder: Path, chance: random.Random, report: Report) -> str:
    """A server dies while this process reads; how far it came."""
    folder.mkdir()
    with _victim(serve_until_killed, *_uris(way, folder)) as (process, ready):
        uri, data_uri = ready.recv()
        killed: list[float] = []

        def kill() -> None:
            process.kill()
            killed.append(time.monotonic())

        timer = threading.Timer(_life(way, chance), kill)
        timer.start()
        try:
            outcome = _read(uri, data_uri, chance, report)
        finally:
            seen = time.monotonic()
            timer.join()
        late = seen - killed[0]
        assert late < TIMEOUT, f"the client saw it {late:.1f} s later"
    return outcome


def _read(uri: str, data_uri: str | None, chance: random.Random, report: Report) -> str:
    kept = {}
    try:
        with connect(uri, data_uri=data_uri, timeout=TIMEOUT) as reader:
            for number, batch in enumerate(reader):
                check(batch, number)
                report.batches += 1
                if chance.random() < 0.1:
                    kept[number] = batch
                    del kept[chance.choice(list(kept))]
    except (StreamError, InvalidArrowError) as error:
        text = str(error)
        assert "gone" in text or "ended" in text, f"the client says: {text}"
        outcome = "the client had been reading"
    except OSError as error:
        outcome = f"the client had not connected ({type(error).__name__})"
    else:
        raise AssertionError("an endless stream has come to its end")
    # What is kept stays good without the server.
    for number, batch in kept.items():
        check(batch, number)
    return outcome


def _serve_a_client(way: Way, server: Server, chance: random.Random) -> str:
    """A client dies while this process serves it; how far it was."""
    seed = chance.randrange(1 << 32)
    with _victim(read_until_killed, server.uri, server.data_uri, seed) as (process, ready):
        ready.recv()
        time.sleep(_life(way, chance))
        streams = server.num_streams
        process.kill()
        killed = time.monotonic()
        while server.num_streams or server.outstanding_bytes:
            late = time.monotonic() - killed
            assert late < TIMEOUT, f"the server keeps {server.outstanding_bytes} bytes for the dead"
            time.sleep(0.002)
    return "the server had been sending" if streams else "the server had not been asked"


def _wait_for_leaks_to_go(before: Holdings) -> None:
    end = time.monotonic() + TIMEOUT
    while more := _settled().beyond(before):
        assert time.monotonic() < end, f"held more than before: {more}"
        time.sleep(0.002)


def _settled() -> Holdings:
    gc.collect()
    return holdings()


def _life(way: Way, chance: random.Random) -> float:
    """Seconds until it is killed: as often within the first messages as within the first hundred."""
    return way.longest_life * chance.random() ** 3


def _uris(way: Way, folder: Path) -> tuple[str, str | None]:
    """Sockets of a server that is killed stay: they are made in a folder that goes."""
    names = iter("md")

    def placed(uri: str) -> str:
        return uri if uri in ("tcp:", "ucx:") else f"{uri}//{folder}/{next(names)}"

    return placed(way.uri), None if way.data_uri is None else placed(way.data_uri)


@contextlib.contextmanager
def _served(way: Way, folder: Path) -> Iterator[Server]:
    folder = folder / way.name
    folder.mkdir(parents=True)
    uri, data_uri = _uris(way, folder)
    # A client that dies in between has asked at one of two services: that is waited for no longer.
    with serve(Numbered(), uri, data_uri=data_uri, timeout=1.0) as server:
        yield server


@contextlib.contextmanager
def _victim(
    work: Callable[..., None], *arguments: object
) -> Iterator[tuple[BaseProcess, Connection]]:
    """A process that does it, and what it says; it is killed at the end if it has not been."""
    ours, theirs = _processes.Pipe()
    process = _processes.Process(target=work, args=(theirs, *arguments), daemon=True)
    process.start()
    theirs.close()
    try:
        assert ours.poll(_START_SECONDS), "the process has not started"
        yield process, ours
    finally:
        process.kill()
        process.join()
        process.close()
        ours.close()


def main() -> int:
    """Run, print what came out; 1 if there is a finding."""
    parser = argparse.ArgumentParser(prog="deaths", description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first run")
    options = parser.parse_args()
    report = run(options.seed, options.first, options.runs)
    for outcome, count in sorted(report.outcomes.items()):
        print(f"{count:5} {outcome}")
    for number, finding in report.findings.items():
        print(f"run {number}: {finding}")
    print(f"{report.runs} runs, {report.batches} batches read, {len(report.findings)} findings")
    return int(bool(report.findings))
