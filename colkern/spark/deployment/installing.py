"""`install`: ships colkern and its compiled functions to the executors of a running session."""

from __future__ import annotations

import atexit
import functools
import json
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from pyspark import cloudpickle
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from colkern.cache import FILES
from colkern.cuda.device_code import kept_files
from colkern.spark.deployment import executor_facts
from colkern.spark.deployment.archives import kernel_archive, package_archive
from colkern.spark.deployment.diagnosis import ENVIRONMENT, Finding, Report, diagnosed
from colkern.spark.session import require_session, runs_here, use_this_python
from colkern.spark.source import ColkernDataSource, register_source

_TASKS_WITHOUT_A_COUNT = 32
"""The number of tasks that look for executors if the session does not tell the number of cores."""


def install(spark: SparkSession, *, package: bool = True, kernels: bool = True) -> Report:
    """Make colkern's functions run on the executors of a session, without compiling there.

    Ships the colkern that runs here, and the machine code of every function that this process has
    compiled or loaded until now: call it after functions are defined, and again after new ones. Code for
    GPUs is shipped, too, that is in the cache: `colkern warm --cuda` puts it there without a GPU. A small
    job then looks at the executors. In local mode nothing has to be shipped. The data source is
    registered, for `spark.read.format("colkern")`.

    colkern's dependencies have to be there: NumPy, Numba and others hold machine code that cannot be
    shipped this way. What is missing, or of another release than here, stands in the report.

    An executor that starts later gets the same: its first worker unpacks the machine code when it
    imports `colkern.spark`, into the directory of `colkern.cache.cache_dir`. Its environment settles
    which that is; `spark.executorEnv.COLKERN_CACHE_DIR` does, where it is set before the session starts.

    Args:
        spark: A session, of Spark Connect too.
        package: Whether to ship the package; not needed where the executors' image has it.
        kernels: Whether to ship machine code.

    Returns:
        The report, for `print`. Problems of executors are in it, and raise nothing.

    Raises:
        TypeError: If `spark` is no session.
    """
    require_session(spark)
    use_this_python()
    if runs_here(spark):
        shipped = [Finding("shipped", "nothing: the workers run beside the driver")]
    else:
        shipped = list(_shipped(spark, package, kernels))
    register_source(spark)
    source = Finding("data source", f'format("{ColkernDataSource.name()}") is registered')
    return Report((*shipped, source, *_examined(spark)))


def _shipped(spark: SparkSession, package: bool, kernels: bool) -> Iterator[Finding]:
    folder = _folder()
    if package:
        path = package_archive(folder)
        spark.addArtifacts(str(path), pyfile=True)
        yield Finding("package", f"{path.name}, {_size(path)}")
    if kernels:
        try:
            archive = kernel_archive(folder, FILES | kept_files())
        except PermissionError as error:
            yield Finding("compiled functions", str(error), "set COLKERN_CACHE_DIR on the driver")
            return
        if archive is None:
            yield Finding("compiled functions", "none, as this process has compiled none")
            return
        spark.addArtifacts(str(archive), file=True)
        yield Finding("compiled functions", f"{archive.name}, {_size(archive)}")


def _examined(spark: SparkSession) -> Iterable[Finding]:
    """Returns the facts about executors, compared with those about this process."""
    try:
        facts = _facts_of_executors(spark)
    except PySparkException as error:
        text = " ".join(str(error).split())
        remedy = ENVIRONMENT
        if runs_here(spark):
            remedy = (
                f"the workers run {spark.sparkContext.pythonExec}: before the session starts, set "
                f"PYSPARK_PYTHON={sys.executable}, or unset it"
            )
        return [Finding("executors", f"the job that looks at them fails: {text[:500]}", remedy)]
    return diagnosed(executor_facts.facts(), facts)


def _facts_of_executors(spark: SparkSession) -> list[executor_facts.Facts]:
    """Returns the facts about each executor that took one of the tasks."""
    try:
        # Several tasks for each core, so that all idle executors get one.
        tasks = int(2 * spark.sparkContext.defaultParallelism)
    except PySparkException:
        # A client of Spark Connect has no Spark context.
        tasks = _TASKS_WITHOUT_A_COUNT
    cloudpickle.register_pickle_by_value(executor_facts)
    try:
        frame = spark.range(0, tasks, numPartitions=tasks)
        rows = frame.mapInArrow(executor_facts.facts_in_arrow, "facts string").collect()
    finally:
        cloudpickle.unregister_pickle_by_value(executor_facts)
    every = [json.loads(row.facts) for row in rows]
    return list({(facts["host"], facts["folder"]): facts for facts in every}.values())


@functools.cache
def _folder() -> Path:
    """Returns the folder of archives, kept while this process lives, for executors that start later."""
    folder = tempfile.mkdtemp(prefix="colkern-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _size(path: Path) -> str:
    return f"{path.stat().st_size / 1e3:,.0f} kB"
