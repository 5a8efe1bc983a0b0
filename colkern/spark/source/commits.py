"""From files that tasks have written to files that readers see.

Tasks write into a directory of the job's own, below the target, which readers pass over. On commit the
driver moves the files into the target, each at once, and puts a `_SUCCESS` beside them when all are
there. A job that fails leaves at most that directory, never a part of a file under a name that counts.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from colkern.spark.source.listing import visible_entries

SUCCESS = "_SUCCESS"


@dataclass(frozen=True, slots=True)
class Staging:
    """Where the files of a job stand until it is committed.

    Args:
        target: The directory that is written to.
        job: What tells the job from others that write there.
    """

    target: str
    job: str

    @property
    def folder(self) -> Path:
        """The job's own directory, in the same file system as the target."""
        return Path(self.target, f"_colkern-{self.job}")

    def file(self, name: str) -> Path:
        """The path for a file of that name; the directory is there afterwards.

        Raises:
            NotADirectoryError: If the target is a file.
        """
        if os.path.exists(self.target) and not os.path.isdir(self.target):
            raise NotADirectoryError(f"{self.target}: a file stands where a directory is written")
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / name

    def publish(self, names: Mapping[str, str], *, overwrite: bool) -> None:
        """Move files to where readers see them, and remove the directory.

        Can be done again with the same files: those that have been moved are not looked for.

        Args:
            names: Name of a file in the directory → its name in the target.
            overwrite: Whether the files and directories that are in the target now go, but for hidden
                ones.

        Raises:
            FileNotFoundError: If a file is neither in the directory nor in the target; nothing has
                been moved then.
        """
        target = Path(self.target)
        target.mkdir(parents=True, exist_ok=True)
        self._require(names)
        (target / SUCCESS).unlink(missing_ok=True)
        before = visible_entries(self.target) if overwrite else []
        for name, final in names.items():
            staged = self.folder / name
            if staged.exists():
                # For streams that read here, a file is as old as its name.
                os.utime(staged)
                os.replace(staged, target / final)
        kept = set(names.values())
        for entry in before:
            if entry.name not in kept:
                _remove(entry)
        self.remove()
        (target / SUCCESS).touch()

    def _require(self, names: Mapping[str, str]) -> None:
        for name, final in names.items():
            if not (self.folder / name).exists() and not Path(self.target, final).exists():
                raise FileNotFoundError(
                    f"{self.folder / name}: written by a task, but not to be seen on the driver; "
                    f"write to a file system that the driver and all executors share"
                )

    def remove(self) -> None:
        """Remove the directory with whatever is in it."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _remove(entry: os.DirEntry[str]) -> None:
    """Remove a file, a link, or a directory with whatever is in it."""
    if entry.is_dir(follow_symlinks=False):
        shutil.rmtree(entry.path)
    else:
        Path(entry.path).unlink(missing_ok=True)
