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
    """The rows a function leaves to Python, logged when the task drops it: Spark does not tell its end."""

    def __init__(self, function: ColumnFunction) -> None:
        report = function.report()
        # A function of a module is the same for all tasks of a worker.
        weakref.finalize(self, _log, report, report.copy())


def _log(report: Report, before: Report) -> None:
    since = report.since(before)
    if since.sites:
        LOGGER.warning("%s", "; ".join(map(str.strip, str(since).splitlines())))
