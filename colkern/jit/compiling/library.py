"""What colkern itself puts into users' compiled functions, as part of their cache keys."""

from __future__ import annotations

import os

from colkern.cpu.sources import module_key, source_key

_COMPILED_IN = ("colkern.kernels", "colkern.cpu", "colkern.jit")

# Where in memory the parts of a column are, and of what types, is told by these.
_DESCRIBED_BY = ("colkern.layouts", "colkern.schema", "colkern.values")


def library_key() -> str:
    """A hash of what colkern puts into compiled functions: its code, and whether it is checked."""
    files = *map(source_key, _COMPILED_IN), *map(module_key, _DESCRIBED_BY)
    return " ".join([*files, str(is_checked())])


def is_checked() -> bool:
    """Whether the environment asks for checks in code that has none otherwise (`CK_CHECKED=1`)."""
    return os.environ.get("CK_CHECKED") == "1"
