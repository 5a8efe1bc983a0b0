"""Paths that sources and sinks are given as."""

from __future__ import annotations

import os
import re

from colkern.errors import UnsupportedError

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def is_url(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a URL, and there is no file of that name."""
    return bool(_URL.match(os.fsdecode(path))) and not os.path.exists(path)


def require_local(path: str | os.PathLike[str], argument: str) -> None:
    """Refuse URLs, which would be taken for the names of folders; `argument` is the argument's name."""
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
