"""What a trace has found that stops it."""

from __future__ import annotations

from colkern.errors import UnsupportedError


class Tracer:
    """Remembers the first thing that cannot be compiled, also where the traced body goes on after it.

    Attributes:
        refusal: What it was; None if there was nothing.
        steps: How many operations were recorded.
    """

    def __init__(self) -> None:
        self.refusal: UnsupportedError | None = None
        self.steps = 0

    def refused(self, reason: str) -> UnsupportedError:
        """An exception to raise, for what cannot be compiled."""
        error = UnsupportedError(reason)
        if self.refusal is None:
            self.refusal = error
        return error
