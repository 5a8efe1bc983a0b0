"""Processes that a test talks to by their standard input and output, and a wait for what others do."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Child = subprocess.Popen[str]


@contextmanager
def children() -> Iterator[Callable[..., Child]]:
    """A function that starts Python with a code and arguments; the processes are killed when it is left."""
    started: list[Child] = []

    def start(code: str, *arguments: str) -> Child:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    try:
        yield start
    finally:
        for process in started:
            process.kill()
            process.communicate()


def said(process: Child) -> str:
    """The next line that it prints."""
    assert process.stdout is not None
    return process.stdout.readline()


def wait_until(condition: Callable[[], Any], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it has not come so far"
        time.sleep(0.002)
