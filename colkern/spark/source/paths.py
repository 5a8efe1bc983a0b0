"""The paths that a user names, as every process of a job has them."""

from __future__ import annotations

import os
import re
from urllib.parse import unquote, urlsplit

from colkern.errors import UnsupportedError

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")


def local_path(path: str) -> str:
    """The absolute path that a path or a `file:` address leads to.

    Relative ones begin at the directory of this process: the driver's, as it is asked for there.

    Raises:
        UnsupportedError: If it is an address of another kind.
    """
    if not _SCHEME.match(path):
        return os.path.abspath(path)
    parts = urlsplit(path)
    if parts.scheme.lower() != "file" or parts.netloc not in ("", "localhost"):
        raise UnsupportedError(
            f"{path}: the data source reads and writes file systems that are mounted on the driver "
            f"and on the executors; mount this one, and give the path"
        )
    return os.path.abspath(unquote(path[len(parts.scheme) + 1 :].removeprefix(f"//{parts.netloc}")))
