"""Compiling a user's function in a worker, and logging the rows that it leaves to Python.

Workers that start at the same time compile one after the other: the first compiles for all.

After each task, Spark makes a worker collect garbage. With the compiler loaded, the collector would look at
so many objects that it took some 60 ms. So, once per process, all objects that exist after compiling are
excluded from collection, including those of the task that runs then.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import logging
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark import TaskContext

from colkern.cache import cache_dir

if TYPE_CHECKING:
    from colkern.rows.reports import Report
    from colkern.spark.functions.declarations import ColumnFunction


@contextlib.contextmanager
def one_process_compiles() -> Iterator[None]:
    """Wait for other processes of this machine that compile, and make later ones wait."""
    with contextlib.ExitStack() as stack:
        # Without a cache directory, or without locks in its file system, each process compiles.
        with contextlib.suppress(OSError):
            lock = stack.enter_context((cache_dir("kernels") / "compiling.lock").open("wb"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    if TaskContext.get() is not None and not gc.get_freeze_count():
        gc.freeze()


LOGGER = logging.getLogger("colkern.spark")


class LeftRows:
    """Logs the rows left to Python when the task drops this object, as Spark announces no end of a task."""

    def __init__(self, function: ColumnFunction) -> None:
        report = function.report()
        # A function of a module is the same object for all tasks of a worker.
        weakref.finalize(self, _log, report, report.copy())


def _log(report: Report, before: Report) -> None:
    since = report.since(before)
    if since.sites:
        LOGGER.warning("%s", "; ".join(map(str.strip, str(since).splitlines())))
