"""The archives that are shipped to executors: the package, and compiled functions, which they unpack."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import marshal
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from pyspark import SparkFiles

from colkern.cache import cache_dir, read_whole, write_whole

_BEGINNING_OF_TIME = (1980, 1, 1, 0, 0, 0)
_UNCHECKED = (1).to_bytes(4, "little")
"""The flags of unchecked bytecode (PEP 552): nobody changes the sources in an archive."""


def package_archive(folder: Path) -> Path:
    """Writes the running colkern as an importable archive, with sources and this Python's bytecode."""
    # Python does not store bytecode of imports from an archive, so without it every worker would compile
    # all sources again. Another release of Python ignores it. The name of the archive follows from its
    # content.
    members = dict(_modules(files("colkern"), "colkern"))
    return _written(folder, "colkern", members)


def kernel_archive(folder: Path, names: Iterable[str]) -> Path | None:
    """Writes the files of compiled functions, named by content, as an archive; None if there are none."""
    cache = cache_dir("kernels")
    files = {name: read_whole(cache / name) for name in sorted(names) if (cache / name).exists()}
    members = {name: content for name, content in files.items() if content is not None}
    return _written(folder, "colkern-kernels", members) if members else None


def _modules(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    """Yields the files of a package and of its subpackages, with their paths in an archive."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        place = f"{name}/{entry.name}"
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _modules(entry, place)
        elif not entry.name.endswith(".pyc"):
            content = entry.read_bytes()
            yield place, content
            if entry.name.endswith(".py"):
                code = marshal.dumps(compile(content, place, "exec", dont_inherit=True))
                header = importlib.util.MAGIC_NUMBER + _UNCHECKED
                yield f"{place}c", header + importlib.util.source_hash(content) + code


def _written(folder: Path, stem: str, members: Mapping[str, bytes]) -> Path:
    """Writes an archive whose name and bytes follow from its members."""
    digest = hashlib.sha256()
    for name, content in members.items():
        digest.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
    path = folder / f"{stem}-{digest.hexdigest()[:16]}.zip"
    # The archive is not compressed, since every worker imports from it.
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, _BEGINNING_OF_TIME), content)
    return path


# On executors


def unpack_kernels(folder: Path) -> int:
    """Unpack the archives of compiled functions in a folder, once; returns the number of new files in the
    cache."""
    cache = cache_dir("kernels")
    return sum(_unpack(path, cache) for path in sorted(folder.glob("colkern-kernels-*.zip")))


def unpack_on_executor() -> None:
    """In a worker process: unpack archives that were shipped to its executor, if it has a cache."""
    with contextlib.suppress(OSError, zipfile.BadZipFile):
        unpack_kernels(Path(SparkFiles.getRootDirectory()))


def _unpack(path: Path, cache: Path) -> int:
    done = cache / f"{path.stem}.unpacked"
    if done.exists():
        return 0
    new = 0
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            # Only the file name counts, so nothing is written outside the cache.
            target = cache / Path(name).name
            if not target.exists():
                write_whole(target, archive.read(name))
                new += 1
    done.touch()
    return new
