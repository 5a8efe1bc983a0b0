"""The folder of files that are kept between runs: compiled kernels, generated data, small scripts.

Compiled kernels are loaded as pickles, so the directory must belong to this user, and nobody else may
write to it; any other directory is skipped.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path


def cache_dir(name: str = "") -> Path:
    """A private, writable directory; the first that works of

    `$COLKERN_CACHE_DIR`, `$NUMBA_CACHE_DIR/colkern`, `$XDG_CACHE_HOME/colkern`, `~/.cache/colkern`, and
    `colkern-<uid>` in the directory for temporary files (for executors without a home, or with a
    read-only one). Nothing is ever written where colkern is installed.

    Args:
        name: A sub-directory of it, made as well.

    Raises:
        PermissionError: If there is none that this user alone can write to.

    Skipped directories are named in a `RuntimeWarning`, once a process.
    """
    refusals: dict[Path, str] = {}
    for candidate in _candidates():
        directory = candidate / name
        refusal = _refusal(candidate, directory)
        if refusal is None:
            _say_once(refusals, f"files are kept in {candidate} instead")
            return directory
        refusals[candidate] = refusal
    _say_once(refusals, "nothing is kept between runs")
    raise PermissionError(
        "no private directory for cached files; set COLKERN_CACHE_DIR. Tried "
        + "; ".join(refusals.values())
    )


_SAID: set[Path] = set()


def _say_once(refusals: Mapping[Path, str], instead: str) -> None:
    """Warn about skipped directories once a process, since kernels ask for the directory all the time."""
    new = [refusal for candidate, refusal in refusals.items() if candidate not in _SAID]
    _SAID.update(refusals)
    if new:
        warnings.warn(
            f"a cache directory is not used: {'; '.join(new)}; {instead}. Set COLKERN_CACHE_DIR to a "
            f"directory that this user alone can write to",
            RuntimeWarning,
            stacklevel=3,
        )


def passed_over() -> list[str]:
    """The reasons why directories that come before `cache_dir()` are skipped; all, if none is usable."""
    refusals = []
    for candidate in _candidates():
        refusal = _refusal(candidate, candidate)
        if refusal is None:
            break
        refusals.append(refusal)
    return refusals


def _refusal(candidate: Path, directory: Path) -> str | None:
    """The reason why a directory, which is made if need be, cannot be used; None if it can."""
    try:
        # On its own, as `parents` follow the umask, which may leave them open to a group.
        candidate.parent.mkdir(parents=True, exist_ok=True)
        candidate.mkdir(mode=0o700, exist_ok=True)
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        return f"{directory}: {error.strerror}"
    if not _is_private(candidate):
        return f"{candidate}: writable by others, or another user's"
    if not os.access(directory, os.W_OK | os.X_OK):
        return f"{directory}: not writable"
    return None


def _candidates() -> Iterator[Path]:
    if chosen := os.environ.get("COLKERN_CACHE_DIR"):
        yield Path(chosen).absolute()
    if numba := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(numba).absolute() / "colkern"
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        yield Path(xdg).absolute() / "colkern"
    home = os.path.expanduser("~")
    if os.path.isabs(home):
        yield Path(home) / ".cache" / "colkern"
    yield Path(tempfile.gettempdir()) / f"colkern-{os.getuid()}"


def _is_private(directory: Path) -> bool:
    status = directory.lstat()
    return (
        stat.S_ISDIR(status.st_mode)
        and status.st_uid == os.getuid()
        and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )


COUNTS: Counter[str] = Counter()
"""Counts of this process: code `loaded` from disk, `compiled` anew, `saved` to disk."""

FILES: set[str] = set()
"""The files of the cache that this process has loaded from or saved to."""

_DIGEST = hashlib.sha256().digest_size


def compilations() -> dict[str, int]:
    """The numbers of functions that this process `compiled`, `loaded` from the disk cache and `saved`."""
    return {what: COUNTS[what] for what in ("compiled", "loaded", "saved")}


def read_whole(path: Path) -> bytes | None:
    """The content of a file that `write_whole` wrote; None if it is damaged: its code would crash."""
    stored = path.read_bytes()
    digest, content = stored[:_DIGEST], stored[_DIGEST:]
    return content if hashlib.sha256(content).digest() == digest else None


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that other processes see either all of it or nothing."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(content).digest() + content)
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise
