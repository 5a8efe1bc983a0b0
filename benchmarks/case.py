"""What one row of the comparison is."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.timing import Work


@dataclass(frozen=True)
class Case:
    """One row of the comparison.

    Args:
        name: Operation and data.
        nbytes: The bytes that the operation must read and write, for its share of the bandwidth.
        contestants: Library → the work; all do the same.
        target: The ratio of the peer's time to colkern's that the project promises.
        keep: What must live as long as the case, such as a folder that is removed after it.
    """

    name: str
    nbytes: int
    contestants: dict[str, Work]
    target: float
    keep: object = None
