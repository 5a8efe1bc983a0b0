"""Which row an exception of a loop was raised in: a note says it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Attempt = Callable[[int, int], object]
"""Does rows from one to another, and goes on where it did some; where it raises, it did none."""


def run_noted(
    attempt: Callable[[int, int], Any], name: str, start: int, stop: int, place: str
) -> Any:
    """`attempt(start, stop)`; what it raises gets a note as by `note_row`."""
    try:
        return attempt(start, stop)
    except Exception as error:
        note_row(error, name, attempt, start, stop, place)
        raise


def note_row(
    error: Exception, name: str, attempt: Attempt, start: int, stop: int, place: str = "row"
) -> None:
    """Add a note to an exception that says at which row it was raised.

    Loops do not keep count of where they are: the row is searched once something was raised, by halves.

    Args:
        error: What was raised.
        name: The function's name.
        attempt: What raised it, and is tried again.
        start: The first row of the range that it was raised in.
        stop: The row after the last.
        place: What a row is called.
    """
    row = _first_failing(attempt, start, stop)
    if row is not None:
        error.add_note(f"{name}: {place} {row}")


def _first_failing(attempt: Attempt, start: int, stop: int) -> int | None:
    """The row that raises; None if none does when it is tried again."""
    while stop - start > 1:
        middle = (start + stop) // 2
        if _fails(attempt, start, middle):
            stop = middle
        else:
            start = middle
    return start if _fails(attempt, start, stop) else None


def _fails(attempt: Attempt, start: int, stop: int) -> bool:
    try:
        attempt(start, stop)
    except Exception:  # noqa: BLE001  # whatever the user's function raises
        return True
    return False
