"""A line of the report, and what stands in its place where a check fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Mark(StrEnum):
    """How it is with what was looked at."""

    OK = "ok"
    MISSING = "missing"
    """An option that is not there: colkern works without it."""
    PROBLEM = "problem"
    """Something that is there, or must be, and does not work."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report.

    Args:
        name: What was looked at.
        mark: How it is.
        found: What is there, or what is wrong.
        enables: What it is good for; empty where there is nothing to say.
        remedy: What to install or to set; empty where there is nothing to do.
    """

    name: str
    mark: Mark
    found: str
    enables: str = ""
    remedy: str = ""


def ok(name: str, found: str, enables: str = "") -> Finding:
    """What is there and works."""
    return Finding(name, Mark.OK, found, enables)


def missing(name: str, found: str, enables: str = "", remedy: str = "") -> Finding:
    """What colkern works without."""
    return Finding(name, Mark.MISSING, found, enables, remedy)


def problem(name: str, found: str, enables: str = "", remedy: str = "") -> Finding:
    """What does not work."""
    return Finding(name, Mark.PROBLEM, found, enables, remedy)


def checked(name: str, check: Callable[..., Iterable[Finding]], *arguments: Any) -> list[Finding]:
    """What a check finds; where it fails, a problem in the place of what it has not found yet."""
    findings = []
    try:
        for finding in check(*arguments):
            findings.append(finding)
    except Exception as error:  # noqa: BLE001  # a broken installation raises anything
        findings.append(problem(name, f"cannot be looked at: {explained(error)}"))
    return findings


def explained(error: BaseException) -> str:
    """An exception in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
