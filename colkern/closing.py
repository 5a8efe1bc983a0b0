"""The end of a `with` block: its object is closed, or what was begun is undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self


class Closing:
    """A context manager: its `close` is called when the block ends, however it does."""

    def close(self) -> None:
        """Let go of what was opened."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()


class AsyncClosing:
    """The same for `async with`."""

    async def close(self) -> None:
        """Let go of what was opened."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.close()


class OnFailure:
    """A context manager: `undo` is called if an exception ends the block; the exception goes on."""

    __slots__ = ("_undo",)

    def __init__(self, undo: Callable[[], object]) -> None:
        self._undo = undo

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if kind is not None:
            self._undo()
