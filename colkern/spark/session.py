"""Starts a Spark session on this machine, quietly, with the running Python and a Java that works."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from colkern.spark.java import find_java

_QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}
_LOCAL_MASTER = re.compile(r"local(\[.*\])?")
"""Masters whose workers run on the driver's machine."""

_LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",
}


def start_session(
    master: str = "local[*]",
    *,
    name: str = "colkern",
    config: Mapping[str, str] | None = None,
    log: str | Path | None = None,
) -> SparkSession:
    """Returns a Spark session whose workers run this Python.

    Sets `PYSPARK_PYTHON` and `PYSPARK_DRIVER_PYTHON`, and `JAVA_HOME` to the result of
    `colkern.spark.java.find_java`, in the environment of this process.

    Args:
        master: Spark's master URL; a local one listens on 127.0.0.1 only.
        name: The name of the application.
        config: Further Spark settings; they override the ones made here.
        log: A file for the standard error of the Java process and the Python workers; None lets them write
            to the standard error of this process.

    Raises:
        JavaNotFoundError: If there is no Java runtime for Spark.
        RuntimeError: If Spark does not start; the message ends with the last lines of the log.
    """
    local = master.startswith("local")
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["JAVA_HOME"] = str(find_java().home)
    if local:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {
        **_QUIET,
        **(_LOCAL if local else {}),
        "spark.sql.warehouse.dir": tempfile.gettempdir() + "/colkern-spark-warehouse",
        **(config or {}),
    }
    builder = SparkSession.builder.master(master).appName(name)
    for key, value in settings.items():
        builder = builder.config(key, value)
    log = None if log is None else Path(log)
    with _standard_error_to(log):
        try:
            return builder.getOrCreate()
        except PySparkException as error:
            tail = "" if log is None else "\n" + "\n".join(log.read_text().splitlines()[-15:])
            raise RuntimeError(f"Spark does not start: {error}{tail}") from error


def require_session(spark: object) -> None:
    """Raise TypeError unless `spark` is a session, of Spark or of Spark Connect."""
    # Columns and data frames return something for any attribute name.
    if not hasattr(type(spark), "addArtifacts"):
        raise TypeError(f"spark: expected a SparkSession, got {type(spark).__name__}")


def runs_here(spark: SparkSession) -> bool:
    """Whether workers run on this machine. The server of Spark Connect may be anywhere."""
    classic = isinstance(spark, SparkSession)
    return classic and _LOCAL_MASTER.fullmatch(str(spark.conf.get("spark.master", ""))) is not None


def use_this_python() -> None:
    """Make the workers of a local session run this Python, unless `PYSPARK_PYTHON` names another."""
    # Spark takes the first `python3` on PATH, which is another one if the environment of this process is
    # not activated. Called on the driver whenever Spark takes a function of colkern.
    if "PYSPARK_PYTHON" in os.environ:
        return
    session = SparkSession.getActiveSession()
    if session is not None and runs_here(session):
        session.sparkContext.pythonExec = sys.executable


@contextlib.contextmanager
def _standard_error_to(log: Path | None) -> Iterator[None]:
    """Makes child processes inherit `log` as their standard error; the Java process keeps it."""
    if log is None:
        yield
        return
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with log.open("wb") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)
