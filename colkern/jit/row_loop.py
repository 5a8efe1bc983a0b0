"""Running a compiled loop over rows: ranges over threads, and what goes wrong, with its row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any, TypeVar

import numba

from colkern import schema as s
from colkern.cpu.threads import run_ranges
from colkern.errors import InvalidArrowError
from colkern.jit import support
from colkern.jit.compiling import compile_or_explain

_ERRORS = support.TOO_WIDE | support.OUT_OF_RANGE | support.CUT_CHARACTER | support.CHANGED

_T = TypeVar("_T")


@dataclass
class RowLoop:
    """A loop over rows, and what messages say about it.

    Args:
        name: The function's name.
        loop: From `colkern.jit.loops.compile_loop`.
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

        def run_range(start: int, stop: int) -> int:
            return self.run_range(start, stop, arguments)

        def run_noted(start: int, stop: int) -> int:
            return with_row(self.name, run_range, start, stop, self.place)

        flags: int = reduce(or_, run_ranges(run_noted, length, ()))
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
        if flags & support.TOO_WIDE:
            raise InvalidArrowError(f"{self.name}: a decimal has more digits than its type says")
        if flags & support.OUT_OF_RANGE:
            raise OverflowError(f"{self.name}: a result does not fit {self.returns}")
        if flags & support.CUT_CHARACTER:
            raise ValueError(
                f"{self.name}: a result starts or ends within a UTF-8 character; "
                f"slice between characters, or declare returns=ck.binary()"
            )
        raise ValueError(
            f"{self.name}: called twice for one row, it did not give the same again; "
            f"a function must depend on its arguments alone"
        )


def with_row(
    name: str,
    attempt: Callable[[int, int], _T],
    start: int,
    stop: int,
    place: str = "row",
    again: Callable[[], Callable[[int, int], Any]] | None = None,
) -> _T:
    """`attempt(start, stop)`; a note to its exception says at which row it was raised.

    The loop does not keep count of where it is: the row is searched once something was raised, by
    halves.

    Args:
        name: The function's name.
        attempt: Does rows `start` to `stop`.
        start: The first row.
        stop: The row after the last.
        place: What a row is called.
        again: Makes what does rows in the search: it goes on where it did some, and where it raises,
            it did none. None if `attempt` is like that.
    """
    try:
        return attempt(start, stop)
    except Exception as error:
        row = _first_failing(again() if again else attempt, start, stop)
        if row is not None:
            error.add_note(f"{name}: {place} {row}")
        raise


def _first_failing(attempt: Callable[[int, int], Any], start: int, stop: int) -> int | None:
    """The row that raises; None if none does when it is tried again."""
    while stop - start > 1:
        middle = (start + stop) // 2
        if _fails(attempt, start, middle):
            stop = middle
        else:
            start = middle
    return start if _fails(attempt, start, stop) else None


def _fails(attempt: Callable[[int, int], Any], start: int, stop: int) -> bool:
    try:
        attempt(start, stop)
    except Exception:  # noqa: BLE001  # whatever the user's function raises
        return True
    return False
