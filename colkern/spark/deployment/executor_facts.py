"""The facts about an executor. This module is pickled by value: it must work without colkern."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    import pyarrow as pa

PACKAGES = ("numpy", "numba", "llvmlite", "pyarrow", "pyspark", "lz4", "zstandard")
"""The packages that colkern's functions need on an executor."""


class Facts(TypedDict, total=False):
    """The facts about a process; `error` is set if its colkern does not work."""

    host: str
    folder: str
    versions: dict[str, str]
    error: str
    colkern: str
    processor: str
    cache: str
    no_cache: str
    passed_over: list[str]


def facts_in_arrow(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """A function for `mapInArrow`: returns one row, `facts` as JSON, for any input."""
    import pyarrow as pa

    for _ in batches:
        pass
    yield pa.RecordBatch.from_pydict({"facts": [json.dumps(facts(unpack=True))]})


def facts(*, unpack: bool = False) -> Facts:
    """Returns the facts about this process; with `unpack`, first unpacks compiled functions that were
    shipped."""
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = ""
    here: Facts = {"host": socket.gethostname(), "folder": os.getcwd(), "versions": versions}
    try:
        _add_facts_of_colkern(here, unpack)
    except Exception as error:  # noqa: BLE001  # a broken installation raises anything
        here["error"] = f"{type(error).__name__}: {error}"
    return here


def _add_facts_of_colkern(here: Facts, unpack: bool) -> None:
    import colkern
    from colkern.cache import cache_dir, passed_over
    from colkern.cpu.processor import compiled_for

    processor = compiled_for()
    here |= {"colkern": colkern.__version__, "processor": processor, "passed_over": []}
    try:
        here["cache"] = str(cache_dir("kernels"))
    except PermissionError as error:
        here |= {"cache": "", "no_cache": str(error)}
        return
    here["passed_over"] = passed_over()
    if unpack:
        from pyspark import SparkFiles

        from colkern.spark.deployment.archives import unpack_kernels

        # As on import of `colkern.spark`; more archives may have been shipped since.
        unpack_kernels(Path(SparkFiles.getRootDirectory()))
