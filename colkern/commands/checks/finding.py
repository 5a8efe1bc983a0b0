"""Findings, the lines of the report."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum


class Mark(StrEnum):
    """The state of the thing that was checked."""

    OK = "ok"
    MISSING = "missing"
    """An option that is not there; colkern works without it."""
    PROBLEM = "problem"
    """Something that does not work, or must be there and is not."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    name: str
    mark: Mark
    state: str  #: The version, the place or the error.
    enables: str = ""  #: Its use; may be empty.
    remedy: str = ""  #: What to install or to set; empty if there is nothing to do.


def ok(name: str, state: str, enables: str = "") -> Finding:
    """A thing that is there and works."""
    return Finding(name, Mark.OK, state, enables)


def missing(name: str, state: str, enables: str = "", remedy: str = "") -> Finding:
    """An option that is not there."""
    return Finding(name, Mark.MISSING, state, enables, remedy)


def problem(name: str, state: str, enables: str = "", remedy: str = "") -> Finding:
    """A thing that does not work."""
    return Finding(name, Mark.PROBLEM, state, enables, remedy)


def checked(
    name: str, check: Callable[..., Finding | Iterable[Finding]], *arguments: object
) -> list[Finding]:
    """The findings of a check; an exception becomes a problem after those it has yielded."""
    findings = []
    try:
        result = check(*arguments)
        for finding in [result] if isinstance(result, Finding) else result:
            findings.append(finding)
    except Exception as error:  # noqa: BLE001  # a broken installation raises anything
        findings.append(problem(name, f"cannot be checked: {explained(error)}"))
    return findings


def explained(error: BaseException) -> str:
    """An exception in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
