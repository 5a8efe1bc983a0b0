"""A line in the worker's log about the rows of a task that a function left to Python."""

from __future__ import annotations

import logging
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from colkern.rows.reports import Report
    from colkern.spark.functions.declarations import ColumnFunction

LOGGER = logging.getLogger("colkern.spark")


class LeftRows:
    """A count of the rows that a function leaves to Python from now on, logged at the end.

    Spark does not tell a worker that a task ends. It unpickles functions for each task, so the end is when
    the one that keeps this object is dropped, or when the process ends.
    """

    def __init__(self, function: ColumnFunction) -> None:
        report = function.report()
        # A function of a module is the same for all tasks of a worker.
        weakref.finalize(self, _log, report, report.copy())


def _log(report: Report, before: Report) -> None:
    since = report.since(before)
    if since.sites:
        LOGGER.warning("%s", "; ".join(map(str.strip, str(since).splitlines())))
