"""`progress` reports the progress of long work to whoever asks for it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias, TypeVar

Item = TypeVar("Item")

Report: TypeAlias = Callable[[str, int, int | None], None]
"""Called with a description of the work, the steps done, and the steps in all (None if unknown)."""

_report: ContextVar[Report | None] = ContextVar("progress", default=None)

_PATIENCE = 0.5
"""The seconds that work may take before a line reports it."""


@contextmanager
def progress(report: Report | None = None) -> Iterator[None]:
    """Within the context, long work in chunks or batches reports its progress.

    Args:
        report: Called after each step with a description of the work, the steps done, and the steps in
            all, or None if that is unknown. By default, a line on standard error, after half a second.
    """
    token = _report.set(report or _Line())
    try:
        yield
    finally:
        _report.reset(token)


def steps(items: Iterable[Item], work: str) -> Iterable[Item]:
    """The items, each counted as a step of work; unchanged if no one asked for progress."""
    report = _report.get()
    return items if report is None else _counted(items, work, report)


def _counted(items: Iterable[Item], work: str, report: Report) -> Iterator[Item]:
    count = len(items) if isinstance(items, Sized) else None
    for done, item in enumerate(items, 1):
        yield item
        report(work, done, count)


class _Line:
    """A line on standard error that each report overwrites, ended with the work."""

    def __init__(self) -> None:
        self._begun = self._written = 0.0

    def __call__(self, work: str, done: int, count: int | None) -> None:
        now = time.monotonic()
        if done == 1:
            self._begun, self._written = now, now + _PATIENCE
        ends = done == count and self._written > self._begun + _PATIENCE
        if now < self._written + 0.1 and not ends:
            return
        self._written = now
        of = "" if count is None else f" of {count}"
        print(f"\r{work}: {done}{of}", end="\n" if ends else "", file=sys.stderr, flush=True)
