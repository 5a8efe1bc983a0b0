"""Sets up Spark's Python workers at their first function of colkern."""

from __future__ import annotations

import os

from pyspark import TaskContext

from colkern.spark.deployment.archives import unpack_on_executor

READER_VARIABLE = "COLKERN_SPARK_READER"
"""The environment variable with which workers use colkern's reader, if it is 1."""


def set_up_worker() -> None:
    """Unpack compiled functions that were shipped; use colkern's reader if the environment says so."""
    if TaskContext.get() is None:
        return
    # Unpickling a function imports `colkern.spark`, before the first stream is opened.
    unpack_on_executor()
    if os.environ.get(READER_VARIABLE) == "1":
        # Imported late: it loads all of `colkern.ipc`.
        from colkern.spark.worker_reader import use_own_reader

        use_own_reader()
