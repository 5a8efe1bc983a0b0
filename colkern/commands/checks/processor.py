"""The processor, the memory and the threads, and the limits of this process's control group.

These are the limits of a container, which the system's own figures do not show. Both versions of control
groups are read, from this process's group up to the root: the tightest limit counts.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

from colkern.commands.checks.children import ask
from colkern.commands.checks.finding import Finding, checked, missing, ok, problem
from colkern.commands.output import size_text
from colkern.machine import machine

_ROOT = Path("/sys/fs/cgroup")
_GROUPS = Path("/proc/self/cgroup")


def cpu_quota() -> float | None:
    """Returns the number of cores whose time the group may use; None without a limit."""
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
    """Returns the group's memory limit in bytes; None if it is not below `most`, the machine's memory."""
    names = ("memory.max", "memory.limit_in_bytes")
    texts = [_text(folder / name) for folder in _folders("memory") for name in names]
    least = min((int(text) for text in texts if text.isdigit()), default=most)
    return least if least < most else None


def _folders(controller: str) -> Iterator[Path]:
    """Yields the folders of this process's group and of the groups around it."""
    for line in _text(_GROUPS).splitlines():
        number, controllers, path = line.split(":", 2)
        if number == "0":
            root = _ROOT
        elif controller in controllers.split(","):
            root = _ROOT / controller
        else:
            continue
        # In a container, the path may be the host's, which does not exist here; then the root counts.
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


_FEATURES = {
    "popcnt": "counts of nulls and set bits, 64 slots an instruction",
    "bmi2": "filters, and bits cut out of bitmaps by others",
    "avx2": "32 bytes an instruction",
    "avx512f": "64 bytes an instruction",
    "neon": "16 bytes an instruction",
}
_OF_ARM = {"neon"}


def findings() -> Iterator[Finding]:
    """The sections about the CPU."""
    here = machine()
    yield ok("processor", f"{here['processor']}, {here['system']}")
    yield from checked("cores", _cores)
    yield from checked("instructions", _instructions)
    yield from checked("memory", _memory, here["memory_bytes"])
    yield from checked("threads", _threads)


def _cores() -> Finding:
    allowed, there, quota = len(os.sched_getaffinity(0)), os.cpu_count(), cpu_quota()
    limit = "no quota" if quota is None else f"a quota of {quota:g} cores' time"
    return ok("cores", f"{allowed} of {there} by affinity, {limit} of the control group")


def _instructions() -> Iterator[Finding]:
    features = ask("colkern.cpu.processor:fast_features")
    is_arm = os.uname().machine == "aarch64"
    for name, enables in _FEATURES.items():
        if name in features:
            yield ok(name, "kernels use it", enables)
        elif (name in _OF_ARM) == is_arm:
            yield missing(name, "not on this processor", enables)


def _memory(there: int) -> Finding:
    limit = memory_limit(there)
    allowed = "no limit" if limit is None else f"a limit of {size_text(limit)}"
    return ok("memory", f"{size_text(there)}, {allowed} of the control group")


def _threads() -> Finding:
    from colkern.cpu.threads import num_threads

    enables = "large columns, a range a thread"
    try:
        threads = num_threads()
    except ValueError as error:
        return problem("threads", str(error), enables, "set it to a number, or not at all")
    quota = cpu_quota()
    if quota is None or threads <= -(-quota // 1):
        return ok("threads", str(threads), enables)
    state = f"{threads}, which share {quota:g} cores' time"
    remedy = f"set COLKERN_NUM_THREADS={max(round(quota), 1)}"
    return missing("threads", state, enables, remedy)
