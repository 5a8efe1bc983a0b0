"""Context managers that close an object at the end of a block, or undo work if the block fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self


class Closing:
    """A context manager that calls its own `close` when the block ends, also with an exception."""

    def close(self) -> None:
        """Release what was opened."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()


class AsyncClosing:
    """As `Closing`, for `async with`."""

    async def close(self) -> None:
        """Release what was opened."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.close()


class OnFailure:
    """A context manager that calls `undo` if an exception ends the block, and lets it pass on."""

    __slots__ = ("_undo",)

    def __init__(self, undo: Callable[[], object]) -> None:
        self._undo = undo

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if kind is not None:
            self._undo()
