"""The report of `install`: findings about executors, compared with the driver."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from colkern.spark.deployment.executor_facts import Facts

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
