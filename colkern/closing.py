"""A base of objects that are closed when their `with` block ends."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class Closing:
    """A context manager: its `close` is called when the block ends, however it does."""

    def close(self) -> None:
        """Let go of what was opened."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class AsyncClosing:
    """The same for `async with`."""

    async def close(self) -> None:
        """Let go of what was opened."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()
