"""Variables of the environment for compiled code."""

from __future__ import annotations

import os


def is_checked() -> bool:
    """Whether all compiled code is to check positions (`CK_CHECKED=1`)."""
    return os.environ.get("CK_CHECKED") == "1"
