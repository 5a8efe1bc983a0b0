"""What surrounds a user's function in a worker: compiling, and a line about rows left to Python.

Workers that start at the same time compile one after the other: the first for all.

After each task Spark has a worker look for garbage. Among the objects of the compiler and of all else that
is loaded for it that takes some 60 ms. So they are left out of it, once a process, and with them what the
task has at that time.
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


FEW = 8
"""The number of rows with which a worker compiles while others wait; they do not wait for more."""


@contextlib.contextmanager
def one_process_compiles() -> Iterator[None]:
    """Wait for the other processes of this machine that compile, and make those that come wait."""
    with contextlib.ExitStack() as stack:
        # Nowhere to keep compiled code, or a file system without locks: then each process compiles.
        with contextlib.suppress(OSError):
            lock = stack.enter_context((cache_dir("kernels") / "compiling.lock").open("wb"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    if TaskContext.get() is not None and not gc.get_freeze_count():
        gc.freeze()


LOGGER = logging.getLogger("colkern.spark")


class LeftRows:
    """The rows a function leaves to Python, logged when the task drops it: Spark does not tell its end."""

    def __init__(self, function: ColumnFunction) -> None:
        report = function.report()
        # A function of a module is the same for all tasks of a worker.
        weakref.finalize(self, _log, report, report.copy())


def _log(report: Report, before: Report) -> None:
    since = report.since(before)
    if since.sites:
        LOGGER.warning("%s", "; ".join(map(str.strip, str(since).splitlines())))
