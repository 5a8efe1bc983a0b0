"""What an executor says of itself. This module travels by value: it must work without colkern."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PACKAGES = ("numpy", "numba", "llvmlite", "pyarrow", "pyspark", "lz4", "zstandard")
"""The packages that colkern's functions need on an executor."""


def facts_in_arrow(batches: Iterator[Any]) -> Iterator[Any]:
    """For `mapInArrow`: one row with `facts` as JSON, whatever comes in."""
    import pyarrow as pa

    for _ in batches:
        pass
    yield pa.RecordBatch.from_pydict({"facts": [json.dumps(facts(unpack=True))]})


def facts(*, unpack: bool = False) -> dict[str, Any]:
    """The host of this process, its packages' releases, its colkern, and that one's cache."""
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = ""
    found: dict[str, Any] = {
        "host": socket.gethostname(),
        "folder": os.getcwd(),
        "versions": versions,
    }
    try:
        return found | _facts_of_colkern(unpack)
    except Exception as error:  # noqa: BLE001  # a broken installation raises anything
        return found | {"error": f"{type(error).__name__}: {error}"}


def _facts_of_colkern(unpack: bool) -> dict[str, Any]:
    import colkern
    from colkern.cache import cache_dir, passed_over
    from colkern.cpu.processor import compiled_for

    found = {
        "colkern": colkern.__version__,
        "from": str(Path(colkern.__file__).parent),
        "processor": compiled_for(),
        "passed_over": [],
    }
    try:
        found["cache"] = str(cache_dir("kernels"))
    except PermissionError as error:
        return found | {"cache": "", "no_cache": str(error)}
    found["passed_over"] = passed_over()
    if unpack:
        _unpack()
    return found


def _unpack() -> None:
    """What `colkern.spark` does when it is imported, again: more may have been shipped since."""
    from pyspark import SparkFiles

    from colkern.spark.deployment.unpacking import unpack_kernels

    unpack_kernels(Path(SparkFiles.getRootDirectory()))
