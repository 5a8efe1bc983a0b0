"""Paths of sources and sinks."""

from __future__ import annotations

import os
import re

from colkern.errors import UnsupportedError

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def is_url(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a URL, and no file has that name."""
    return bool(_URL.match(os.fsdecode(path))) and not os.path.exists(path)


def require_local(path: str | os.PathLike[str], argument: str) -> None:
    """Raise `UnsupportedError` for URLs, which would be taken for names of folders."""
    if not is_url(path):
        return
    name = os.fsdecode(path)
    advice = "pass a binary file object, for instance one of fsspec"
    if name.startswith("file://"):
        advice = "pass the path alone"
    elif "want_data=" in name:
        advice = "colkern.dissociated.connect reads from a service"
    raise UnsupportedError(
        f"{argument}: {name!r} is a URL, and only local paths are opened: {advice}"
    )
