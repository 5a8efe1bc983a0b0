"""`install`: ships colkern and its compiled functions to the executors of a running session.

Its report has findings about executors, compared with the driver.
"""

from __future__ import annotations

import atexit
import functools
import json
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pyspark import cloudpickle
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from colkern.cache import FILES
from colkern.cuda.device_code import kept_files
from colkern.spark.deployment import executor_facts
from colkern.spark.deployment.archives import kernel_archive, package_archive
from colkern.spark.deployment.executor_facts import Facts
from colkern.spark.session import require_session, runs_here, use_this_python
from colkern.spark.source import ColkernDataSource, register_source

_SAME_MACHINE_CODE = ("python", "numpy", "numba", "llvmlite")
"""Packages whose releases differ in machine code, or cannot read each other's pickles."""

ENVIRONMENT = (
    "pack the driver's environment (venv-pack -o env.tar.gz) and start the session with "
    "spark.archives=env.tar.gz#env and spark.pyspark.python=./env/bin/python"
)
_CACHE = "set spark.executorEnv.COLKERN_CACHE_DIR to a private, writable directory of each machine"
_PROCESSOR = (
    "nothing, if one compilation a machine is fine; else run the driver on the executors' kind of "
    "machine"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of a report."""

    name: str
    state: str
    remedy: str = ""  #: The action to take; empty if nothing is wrong.

    def __str__(self) -> str:
        if not self.remedy:
            return f"ok       {self.name}: {self.state}"
        return f"problem  {self.name}: {self.state}; to do: {self.remedy}"


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of `install`; as text, one line for each."""

    findings: tuple[Finding, ...]

    @property
    def works(self) -> bool:
        """Whether no finding has a problem."""
        return not self.problems

    @property
    def problems(self) -> tuple[Finding, ...]:
        """The findings that require an action."""
        return tuple(finding for finding in self.findings if finding.remedy)

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings))

    __repr__ = __str__


def diagnosed(driver: Facts, executors: Iterable[Facts]) -> Iterator[Finding]:
    """Yields the findings about executors, whose facts are compared with those of the driver."""
    executors = list(executors)
    hosts = len({facts["host"] for facts in executors})
    where = "one host" if hosts == 1 else f"{hosts} hosts"
    yield Finding("executors", f"{len(executors)} answered, on {where}")
    yield from _packages(driver, executors)
    yield from _same(
        "colkern", driver, executors, lambda facts: facts.get("error") or facts["colkern"]
    )
    working = [facts for facts in executors if "error" not in facts]
    yield from _same("processor", driver, working, lambda facts: facts["processor"], _PROCESSOR)
    yield from _caches(working)


def _packages(driver: Facts, executors: list[Facts]) -> Iterator[Finding]:
    for name in driver["versions"]:

        def version(facts: Facts, name: str = name) -> str:
            return facts["versions"][name]

        lacking = [facts for facts in executors if not version(facts)]
        if lacking:
            yield Finding(name, f"not installed on {_hosts(lacking)}", ENVIRONMENT)
        elif name in _SAME_MACHINE_CODE:
            yield from _same(name, driver, executors, version)


def _same(
    name: str,
    driver: Facts,
    executors: list[Facts],
    value: Callable[[Facts], str],
    remedy: str = ENVIRONMENT,
) -> Iterator[Finding]:
    """Yields a finding for each value that differs from the driver's; one finding if none does."""
    here, others = value(driver), defaultdict(list)
    for facts in executors:
        if value(facts) != here:
            others[value(facts)].append(facts)
    for there, having in others.items():
        yield Finding(name, f"{there} on {_hosts(having)}, {here} on the driver", remedy)
    if not others and executors:
        yield Finding(name, here)


def _caches(executors: list[Facts]) -> Iterator[Finding]:
    for facts in executors:
        if not facts["cache"]:
            yield Finding("cache", f"{facts['host']}: {facts['no_cache']}", _CACHE)
    refused = {refusal: facts["host"] for facts in executors for refusal in facts["passed_over"]}
    for refusal, host in refused.items():
        yield Finding("cache", f"{host}: a directory is not used: {refusal}", _CACHE)
    folders = sorted({facts["cache"] for facts in executors if facts["cache"]})
    if folders:
        yield Finding("cache", f"compiled functions are in {', '.join(folders)}")


def _hosts(executors: list[Facts]) -> str:
    return ", ".join(sorted({facts["host"] for facts in executors}))


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
