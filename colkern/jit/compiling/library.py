"""What colkern itself puts into users' compiled functions, as part of their cache keys."""

from __future__ import annotations

import os

from colkern.cpu.sources import source_key

_COMPILED_IN = ("colkern.kernels", "colkern.cpu", "colkern.jit")


def library_key() -> str:
    """A hash of what colkern puts into compiled functions: its code, and whether it is checked."""
    return " ".join([*map(source_key, _COMPILED_IN), str(is_checked())])


def is_checked() -> bool:
    """Whether the environment asks for checks in code that has none otherwise (`CK_CHECKED=1`)."""
    return os.environ.get("CK_CHECKED") == "1"
