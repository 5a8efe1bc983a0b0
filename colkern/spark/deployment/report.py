"""The report of `install`: its actions, and its findings on the executors."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of a report.

    Args:
        name: The subject.
        found: What was done or found.
        remedy: What to do about it; empty if nothing is wrong.
    """

    name: str
    found: str
    remedy: str = ""

    def __str__(self) -> str:
        if not self.remedy:
            return f"ok       {self.name}: {self.found}"
        return f"problem  {self.name}: {self.found}; to do: {self.remedy}"


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of `install`; the text has a line for each."""

    findings: tuple[Finding, ...]

    @property
    def works(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    @property
    def problems(self) -> tuple[Finding, ...]:
        """The findings with something to do."""
        return tuple(finding for finding in self.findings if finding.remedy)

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings))

    __repr__ = __str__
