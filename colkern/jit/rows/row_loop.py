"""Running a compiled loop over rows: ranges over threads, and what goes wrong, with its row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any

import numba

from colkern import schema as s
from colkern.cpu.threads import run_ranges
from colkern.errors import InvalidArrowError
from colkern.jit.compiling.attempt import compile_or_explain
from colkern.jit.rows.flags import (
    CHANGED,
    NARROWED,
    NARROWED_MESSAGE,
    OUT_OF_RANGE,
    TOO_WIDE,
)

_ERRORS = TOO_WIDE | NARROWED | OUT_OF_RANGE | CHANGED


@dataclass
class RowLoop:
    """A loop over rows, and what messages say about it.

    Args:
        name: The function's name.
        loop: From `colkern.jit.rows.loops.compile_loop`.
        returns: The type of what the function returns or yields.
        place: What a row is called.
    """

    name: str
    loop: Callable[..., Any]
    returns: s.DataType
    place: str = "row"
    _ready: bool = field(default=False, init=False)

    def compile(self, arguments: Sequence[Any]) -> None:
        """Compile for such arguments.

        Raises:
            CompileError: If it does not compile.
        """
        if not self._ready:
            kinds = (numba.int64, numba.int64, *map(numba.typeof, arguments))
            compile_or_explain(self.loop, kinds)
            self._ready = True

    def run(self, length: int, arguments: Sequence[Any]) -> int:
        """The flags of all slots; ranges of them go to threads.

        Raises:
            CompileError: If the loop does not compile.
            OverflowError, ValueError, InvalidArrowError: For what the flags report.

        What the function raises comes through. A note says in which row it was.
        """
        self.compile(arguments)
        flags: int = reduce(or_, run_ranges(self._run_noted, length, (arguments,)))
        return flags

    def _run_noted(self, start: int, stop: int, arguments: Sequence[Any]) -> int:
        def run(start: int, stop: int) -> int:
            return self.run_range(start, stop, arguments)

        flags: int = run_noted(run, self.name, start, stop, self.place)
        return flags

    def run_range(self, start: int, stop: int, arguments: Sequence[Any]) -> int:
        """The flags of a range, by a loop that is compiled.

        Raises:
            OverflowError, ValueError, InvalidArrowError: For what the flags report.
        """
        flags: int = self.loop(start, stop, *arguments)
        if flags & _ERRORS:
            self._raise(flags)
        return flags

    def _raise(self, flags: int) -> None:
        if flags & TOO_WIDE:
            raise InvalidArrowError(f"{self.name}: a decimal has more digits than its type says")
        if flags & NARROWED:
            raise OverflowError(f"{self.name}: {NARROWED_MESSAGE}")
        if flags & OUT_OF_RANGE:
            raise OverflowError(f"{self.name}: a result does not fit {self.returns}")
        raise ValueError(
            f"{self.name}: called twice for one row, it did not give the same again; "
            f"a function must depend on its arguments alone"
        )


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
