"""The directory of compiled kernels."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from colkern.cache import cache_dir, passed_over
from colkern.commands.checks.finding import Finding, checked, missing, ok, problem
from colkern.commands.output import counted, size_text

_ENABLES = "kernels that are compiled once, not in each process"
_LEAST_FREE = 1 << 28
"""The bytes needed for all kernels and some users' functions."""


def findings() -> Iterator[Finding]:
    """The section about the cache."""
    try:
        directory = cache_dir("kernels")
    except PermissionError as error:
        remedy = "set COLKERN_CACHE_DIR to a directory that this user alone can write to"
        yield problem("directory", str(error), _ENABLES, remedy)
        return
    yield from checked("directory", _directory, directory)
    yield from checked("kernels", _kernels, directory)
    yield from checked("free space", _free_space, directory)


def _directory(directory: Path) -> Finding:
    refusals = passed_over()
    if refusals:
        state = f"{directory}, as others cannot be used: {'; '.join(refusals)}"
        remedy = "make that directory this user's alone and writable (chmod 700), or choose another"
        return problem("directory", state, _ENABLES, remedy)
    status = directory.parent.stat()
    mode = stat.filemode(status.st_mode)
    return ok("directory", f"{directory}, writable, {mode} of user {status.st_uid}", _ENABLES)


def _kernels(directory: Path) -> Finding:
    sizes = _sizes(directory)
    enables = "first calls without a compilation"
    all_kernels = _all_kernels()
    if sizes:
        state = f"{counted(len(sizes), 'compiled function')}, {size_text(sum(sizes))}"
        return ok("kernels", f"{state}; `colkern warm` completes the {all_kernels}", enables)
    remedy = f"`colkern warm` compiles the {all_kernels} ahead of their first calls"
    return missing("kernels", "none is compiled yet", enables, remedy)


def _sizes(directory: Path) -> list[int]:
    """Returns the sizes of the files of compiled functions; other processes may remove files meanwhile."""
    sizes = []
    for entry in os.scandir(directory):
        if entry.name.endswith((".kernel", ".cubin")):
            try:
                sizes.append(entry.stat().st_size)
            except FileNotFoundError:
                continue
    return sizes


def _all_kernels() -> str:
    from colkern.kernels import KERNELS

    variants = sum(1 for kernel in KERNELS.values() for _ in kernel.variants())
    return f"{counted(len(KERNELS), 'kernel')} ({counted(variants, 'variant')})"


def _free_space(directory: Path) -> Finding:
    free = shutil.disk_usage(directory).free
    if free >= _LEAST_FREE:
        return ok("free space", size_text(free))
    remedy = "make room, or set COLKERN_CACHE_DIR to a directory with more"
    return problem("free space", f"{size_text(free)} only", _ENABLES, remedy)
