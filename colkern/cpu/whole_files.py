"""Files of compiled code: they hold all that was written to them, or are taken for missing."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections import Counter
from pathlib import Path

COUNTS: Counter[str] = Counter()
"""Counts of this process: code `loaded` from disk, `compiled` anew, `saved` to disk."""

FILES: set[str] = set()
"""The files of the cache that this process has loaded from or saved to."""

_DIGEST = hashlib.sha256().digest_size


def compilations() -> dict[str, int]:
    """How many functions this process `compiled`, `loaded` from the disk cache, and `saved` there."""
    return {what: COUNTS[what] for what in ("compiled", "loaded", "saved")}


def read_whole(path: Path) -> bytes | None:
    """The content of a file of `write_whole`; None if it is damaged: its code would crash."""
    stored = path.read_bytes()
    digest, content = stored[:_DIGEST], stored[_DIGEST:]
    return content if hashlib.sha256(content).digest() == digest else None


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that other processes see all of it or nothing."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(content).digest() + content)
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise
