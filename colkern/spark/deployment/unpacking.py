"""Unpacks compiled functions that were shipped to this executor into its cache."""

from __future__ import annotations

import contextlib
import zipfile
from pathlib import Path

from pyspark import SparkFiles

from colkern.cache import cache_dir
from colkern.cpu.whole_files import write_whole
from colkern.spark.deployment.archives import KERNEL_ARCHIVES


def unpack_kernels(folder: Path) -> int:
    """Unpack the archives of compiled functions in a folder, once; returns how many are new in the cache.

    Raises:
        PermissionError: If there is no private directory for the cache.
    """
    cache = cache_dir("kernels")
    return sum(_unpack(path, cache) for path in sorted(folder.glob(KERNEL_ARCHIVES)))


def unpack_on_executor() -> None:
    """In a worker process: unpack what was shipped to its executor, if it has a cache."""
    with contextlib.suppress(OSError, zipfile.BadZipFile):
        unpack_kernels(Path(SparkFiles.getRootDirectory()))


def _unpack(path: Path, cache: Path) -> int:
    done = cache / f"{path.stem}.unpacked"
    if done.exists():
        return 0
    new = 0
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            # A name alone: nothing is written outside of the cache.
            target = cache / Path(name).name
            if not target.exists():
                write_whole(target, archive.read(name))
                new += 1
    done.touch()
    return new
