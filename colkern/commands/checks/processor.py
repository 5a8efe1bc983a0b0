"""The processor, the memory and the threads."""

from __future__ import annotations

import os
from collections.abc import Iterator

from colkern.commands.checks.cgroup import cpu_quota, memory_limit
from colkern.commands.checks.children import ask
from colkern.commands.checks.finding import Finding, checked, missing, ok, problem
from colkern.commands.output import size_text
from colkern.machine import machine

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
