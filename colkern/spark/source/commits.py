"""Commits: make the files that tasks have written visible to readers.

Tasks write into a directory of the job, below the target, which readers ignore. On commit the driver moves
each file into the target, and adds a `_SUCCESS` when all are there. A job that fails leaves at most that
directory, never a part of a file where readers see it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from colkern.spark.source.listing import visible_entries

SUCCESS = "_SUCCESS"


@dataclass(frozen=True, slots=True)
class Staging:
    """The files of one job until it is committed, in a directory that only this job uses."""

    target: str
    job: str  #: A name that no other job uses that writes there.

    @property
    def folder(self) -> Path:
        """The job's own directory, in the same file system as the target."""
        return Path(self.target, f"_colkern-{self.job}")

    def begin(self) -> None:
        """Make the directory; raise NotADirectoryError if the target is a file."""
        if os.path.exists(self.target) and not os.path.isdir(self.target):
            raise NotADirectoryError(f"{self.target}: a file stands where a directory is written")
        self.folder.mkdir(parents=True, exist_ok=True)

    def publish(self, names: Mapping[str, str], *, overwrite: bool) -> None:
        """Move files into the target, also if an earlier call has moved some; `overwrite` removes all
        others."""
        # If a file is missing, raises `FileNotFoundError` before anything is moved.
        target = Path(self.target)
        target.mkdir(parents=True, exist_ok=True)
        for name, final in names.items():
            if not (self.folder / name).exists() and not (target / final).exists():
                raise FileNotFoundError(
                    f"{self.folder / name}: written by a task, but not to be seen on the driver; "
                    f"write to a file system that the driver and all executors share"
                )
        (target / SUCCESS).unlink(missing_ok=True)
        before = visible_entries(self.target) if overwrite else []
        for name, final in names.items():
            staged = self.folder / name
            if staged.exists():
                # Streams that read this directory go by the time of modification.
                os.utime(staged)
                os.replace(staged, target / final)
        kept = set(names.values())
        for entry in before:
            if entry.name in kept:
                continue
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                Path(entry.path).unlink(missing_ok=True)
        self.remove()
        (target / SUCCESS).touch()

    def remove(self) -> None:
        """Remove the directory and its files."""
        # Tasks of a failed job may still be writing; after this renaming they can add no files.
        removed = self.folder.with_name(f"{self.folder.name}-removed")
        with contextlib.suppress(OSError):
            os.replace(self.folder, removed)
        shutil.rmtree(removed, ignore_errors=True)
