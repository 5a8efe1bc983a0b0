"""What one of Spark's Python workers does when it meets the first function of colkern."""

from __future__ import annotations

import os

from pyspark import TaskContext

from colkern.spark.deployment.unpacking import unpack_on_executor

READER_VARIABLE = "COLKERN_SPARK_READER"
"""Set to 1 in the workers' environment, it lets colkern read what Spark sends."""


def set_up_worker() -> None:
    """Unpack compiled functions that were shipped; read with colkern if the environment says so.

    Functions are unpickled, which imports `colkern.spark`, before the first stream is opened. Outside of
    workers nothing is done.
    """
    if TaskContext.get() is None:
        return
    unpack_on_executor()
    if os.environ.get(READER_VARIABLE) == "1":
        # Imported late: it loads all of `colkern.ipc`.
        from colkern.spark.worker_reader import use_own_reader

        use_own_reader()
