"""Findings, the lines of the report."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum


class Mark(StrEnum):
    """The state of the checked item."""

    OK = "ok"
    MISSING = "missing"
    """An option that is not installed; colkern works without it."""
    PROBLEM = "problem"
    """An item that does not work, or that is required and missing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    name: str
    mark: Mark
    found: str  #: The version, the location or the error.
    enables: str = ""  #: Its use; may be empty.
    remedy: str = ""  #: The package to install or the variable to set; empty if neither.


def ok(name: str, found: str, enables: str = "") -> Finding:
    """Returns a finding for an item that works."""
    return Finding(name, Mark.OK, found, enables)


def missing(name: str, found: str, enables: str = "", remedy: str = "") -> Finding:
    """Returns a finding for an option that is not installed."""
    return Finding(name, Mark.MISSING, found, enables, remedy)


def problem(name: str, found: str, enables: str = "", remedy: str = "") -> Finding:
    """Returns a finding for an item that does not work."""
    return Finding(name, Mark.PROBLEM, found, enables, remedy)


def checked(
    name: str, check: Callable[..., Finding | Iterable[Finding]], *arguments: object
) -> list[Finding]:
    """Returns the findings of a check; an exception becomes a problem after the findings yielded so far."""
    findings = []
    try:
        result = check(*arguments)
        for finding in [result] if isinstance(result, Finding) else result:
            findings.append(finding)
    except Exception as error:  # noqa: BLE001  # a broken installation raises anything
        findings.append(problem(name, f"cannot be checked: {explained(error)}"))
    return findings


def explained(error: BaseException) -> str:
    """Returns an exception as one line of text."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
