"""A file of results in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchmarks.gpu.case import TARGETS

OUTCOMES = ("tests", "failures", "errors", "skipped")
"""The description of the tests on a device."""


def line(row: dict[str, Any]) -> str:
    """A row as text."""
    start = f"{row['case']:56}{row['kind']:14}"
    if "error" in row:
        return f"{start}{row['error']}"
    rate = f"{row['seconds'] * 1e3:10.3f}{row['bytes_per_second'] / 1e9:9,.0f}"
    verdict = {None: "", True: "met", False: "missed"}[row["meets_target"]]
    return f"{start}{rate}{row['bandwidth_share']:12.0%}{verdict:>9}"


def summary(result: dict[str, Any]) -> Iterable[str]:
    """The results in a few lines."""
    if result["tests"]:
        counts = (f"{result['tests'].get(name, 0)} {name}" for name in OUTCOMES)
        yield f"tests on this device: {', '.join(counts)}"
    measured = [r for r in result["rows"] if "error" not in r]
    for kind, least in TARGETS.items():
        verdicts = [r["meets_target"] for r in measured if r["kind"] == kind]
        yield f"{kind}: {sum(verdicts)} of {len(verdicts)} at {least:.0%} of a copy or more"
    errors = [r["case"] for r in result["rows"] if "error" in r]
    if errors:
        yield f"failed: {'; '.join(errors)}"


def failed(result: dict[str, Any]) -> bool:
    """Whether a test or a launch failed; a target that is missed is a figure, not a failure."""
    tests = result["tests"]
    broken = tests.get("failures", 0) + tests.get("errors", 0)
    return broken > 0 or any("error" in row for row in result["rows"])
