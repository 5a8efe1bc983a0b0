"""A standalone Spark on the loopback interface: a master and two workers, each a process of its own."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pyspark

from colkern.spark.java import find_java
from colkern.spark.worker import READER_VARIABLE

WORKERS = 2
PATIENCE = 250
"""Seconds that any process of the cluster gets for what it has to do."""

T = TypeVar("T")
P = TypeVar("P", bound=subprocess.Popen[Any])

_HOME = Path(pyspark.__file__).parent
_DEPLOY = "org.apache.spark.deploy"
_CONNECT_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
_SMALL = {
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.ui.enabled": "false",
    "spark.log.level": "WARN",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}


def steps(n: int) -> int:
    """The function of the jobs: how many steps Collatz's sequence takes from a number to one."""
    taken = 0
    while n > 1:
        n = 3 * n + 1 if n % 2 else n // 2
        taken += 1
    return taken


@dataclass(frozen=True)
class Cluster:
    """A master and its workers.

    Args:
        url: What `--master` must be.
        folder: Where all of it writes: logs, and each worker's directories of its applications.
    """

    url: str
    folder: Path

    @property
    def cache(self) -> str:
        """The driver's directory for compiled code."""
        return str(self.folder / "cache")

    @contextlib.contextmanager
    def submitted(self, script: Path, *arguments: str | Path, **config: str) -> Iterator[Job]:
        """A script on its way by `spark-submit`; it ends with the block, if it has not by then.

        Args:
            script: The driver's program.
            *arguments: What it gets.
            **config: Further settings, `__` in their names for a point.
        """
        settings = {name.replace("__", "."): value for name, value in config.items()}
        command = [*self._submit(settings), script, *arguments]
        log = self.folder / f"{script.stem}.log"
        with _stopped(_started(command, log, self._driver_environment())) as process:
            yield Job(process, log)

    @contextlib.contextmanager
    def connect_server(self, **config: str) -> Iterator[str]:
        """A server of Spark Connect whose executors are the cluster's; gives its address.

        It finds no colkern, as it would not in most places.
        """
        log = self.folder / "connect.log"
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        settings = {name.replace("__", "."): value for name, value in config.items()} | {
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(port),
        }
        command = [*self._submit(settings), "--class", _CONNECT_SERVER]
        with _stopped(_started(command, log, _environment())) as server:
            wait_for(lambda: _is_open(port) or server.poll() is not None, log)
            assert server.poll() is None, log.read_text()[-6000:]
            yield f"sc://127.0.0.1:{port}"

    @contextlib.contextmanager
    def connected(self, script: Path, *arguments: str | Path) -> Iterator[Job]:
        """A plain Python script, which gets to a server of Spark Connect by itself."""
        log = self.folder / f"{script.stem}.log"
        command = [sys.executable, script, *arguments]
        with _stopped(_started(command, log, self._driver_environment())) as process:
            yield Job(process, log)

    def _submit(self, settings: dict[str, str]) -> list[str | Path]:
        pairs = [
            part for item in (_SMALL | settings).items() for part in ("--conf", "=".join(item))
        ]
        return [_HOME / "bin" / "spark-submit", "--master", self.url, *pairs]

    def _driver_environment(self) -> dict[str, str]:
        return _environment() | {"PYTHONPATH": _import_path(), "COLKERN_CACHE_DIR": self.cache}


@dataclass(frozen=True)
class Job:
    """A driver's process, and the file with all that it printed."""

    process: subprocess.Popen[bytes]
    log: Path

    def wait_for(self, written: Path) -> str:
        """The content of a file that the job writes, once it is there."""
        wait_for(lambda: written.exists() or self.process.poll() is not None, self.log)
        assert written.exists(), self.log.read_text()[-6000:]
        return written.read_text()

    def end(self) -> None:
        """Wait until the job has ended well."""
        wait_for(lambda: self.process.poll() is not None, self.log)
        assert self.process.returncode == 0, self.log.read_text()[-6000:]


@contextlib.contextmanager
def standalone_cluster(folder: Path) -> Iterator[Cluster]:
    """A cluster that runs until the end of the block, however that ends."""
    with contextlib.ExitStack() as processes:
        log = folder / "master.log"
        options = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
        master = _daemon("master.Master", options, log)
        processes.enter_context(_stopped(master))
        url = wait_for(lambda: re.search(r"spark://127\.0\.0\.1:\d+", log.read_text()), log).group()
        for n in range(WORKERS):
            work = folder / f"worker-{n}"
            options = ["--host", "127.0.0.1", "--webui-port", "0", "--cores", "1"]
            options += ["--memory", "1g", "--work-dir", str(work), url]
            worker = _daemon("worker.Worker", options, folder / f"worker-{n}.log")
            processes.enter_context(_stopped(worker))
        wait_for(lambda: log.read_text().count("Registering worker") == WORKERS, log)
        yield Cluster(url, folder)


def _daemon(name: str, options: list[str], log: Path) -> subprocess.Popen[bytes]:
    command: list[str | Path] = [_HOME / "bin" / "spark-class", f"{_DEPLOY}.{name}", *options]
    return _started(command, log, _environment() | {"SPARK_DAEMON_MEMORY": "256m"})


def _started(
    command: Sequence[str | Path], log: Path, environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    with log.open("wb") as output:
        return subprocess.Popen(
            command,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _is_open(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


@functools.cache
def _environment() -> dict[str, str]:
    """Variables by which Spark finds Java and Python, and none by which executors would find colkern."""
    java = find_java().home
    return {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": "/dev/null",
        "JAVA_HOME": str(java),
        "SPARK_HOME": str(_HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        READER_VARIABLE: os.environ.get(READER_VARIABLE, "0"),
        # One thread of the JVM's compiler and collector each: tests run beside.
        "JAVA_TOOL_OPTIONS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    }


def _import_path() -> str:
    """Where this process finds colkern."""
    import colkern

    return str(Path(colkern.__file__).parent.parent)


def wait_for(answer: Callable[[], T | None], log: Path) -> T:
    """The first answer that is true."""
    limit = time.monotonic() + PATIENCE
    while not (actual := answer()):
        assert time.monotonic() < limit, log.read_text()[-6000:]
        time.sleep(0.05)
    return actual


@contextlib.contextmanager
def _stopped(process: P) -> Iterator[P]:
    """A process that leads a session, all of which ends with the block."""
    try:
        yield process
    finally:
        # The leader first: a worker would start its executors anew.
        process.kill()
        for member in _session(process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(member, signal.SIGKILL)
        process.wait(PATIENCE)


def _session(leader: int) -> list[int]:
    """The processes of a session: an executor's Python has a process group of its own."""
    actual = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.getsid(int(entry.name)) == leader:
                actual.append(int(entry.name))
    return actual
