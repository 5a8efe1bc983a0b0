"""The limits of this process's control group: those of a container, which the system hides.

Reads both versions of control groups, and all groups from this process's own up to the root. The
tightest limit counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
_GROUPS = Path("/proc/self/cgroup")


def cpu_quota() -> float | None:
    """The number of cores whose time the group may use; None without a limit."""
    quotas = []
    for folder in _folders("cpu"):
        quota, _, period = _text(folder / "cpu.max").partition(" ")
        quotas.append(_share(quota, period))
        quotas.append(
            _share(_text(folder / "cpu.cfs_quota_us"), _text(folder / "cpu.cfs_period_us"))
        )
    least = min(quotas, default=math.inf)
    return None if least == math.inf else least


def memory_limit(most: int) -> int | None:
    """The bytes that the group may use; None if that is not less than `most`, the memory of the machine."""
    names = ("memory.max", "memory.limit_in_bytes")
    texts = [_text(folder / name) for folder in _folders("memory") for name in names]
    least = min((int(text) for text in texts if text.isdigit()), default=most)
    return least if least < most else None


def _folders(controller: str) -> Iterator[Path]:
    """The groups of this process and those around them, in the version that the system has."""
    for line in _text(_GROUPS).splitlines():
        number, controllers, path = line.split(":", 2)
        if number == "0":
            root = _ROOT
        elif controller in controllers.split(","):
            root = _ROOT / controller
        else:
            continue
        # In a container the path may be that of the host, which is not there: the root is.
        group = Path(path.lstrip("/"))
        for part in (group, *group.parents):
            yield root / part


def _share(quota: str, period: str) -> float:
    if not quota.isdigit() or not period.isdigit():
        return math.inf
    return int(quota) / int(period)


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
