"""Reports of row functions: the numbers of rows that ran compiled or were left to Python, with reasons."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field

from colkern.rows.program import Site


@dataclass
class Report:
    """The rows of a row function so far.

    Args:
        sites: The numbers of rows left to Python, by the place in the source.
        reason: The reason why the function is not compiled; empty if it is.
    """

    name: str
    rows: int = 0
    sites: Counter[Site | None] = field(default_factory=Counter)
    reason: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def add(self, rows: int, sites: Counter[Site | None]) -> None:
        """Count a call."""
        with self._lock:
            self.rows += rows
            if sites:
                self.sites.update(sites)

    def copy(self) -> Report:
        """Returns a copy of the report."""
        with self._lock:
            return Report(self.name, self.rows, self.sites.copy(), self.reason)

    def since(self, earlier: Report) -> Report:
        """Returns the difference from an earlier copy."""
        now = self.copy()
        return Report(now.name, now.rows - earlier.rows, now.sites - earlier.sites, now.reason)

    @property
    def left(self) -> dict[int, int]:
        """The numbers of rows left to Python, by the line of the source; 0 for all further lines."""
        lines: Counter[int] = Counter()
        for site, count in self.sites.items():
            lines[site.line if site is not None else 0] += count
        return dict(lines)

    def __str__(self) -> str:
        if self.reason:
            return f"{self.name}: not compiled: {self.reason}"
        count = sum(self.sites.values())
        lines = [f"{self.name}: {self.rows:,} rows, {count:,} of them left to Python"]
        for site, rows in self.sites.most_common():
            where = "further lines"
            if site is not None:
                inside = "" if site.function == self.name else f" in {site.function}"
                where = f"line {site.line}{inside}: {site.reason}"
            lines.append(f"  {rows:,} rows, {where}")
        return "\n".join(lines)
