"""`RowFunction`: a user's function as loops call it, found by its content and compiled if it must be."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING

from colkern.cpu.content import content_hash
from colkern.forks import cached_property
from colkern.jit.compiling.library import library_key

if TYPE_CHECKING:
    from numba.core.registry import CPUDispatcher


class RowFunction:
    """A user's function of a row.

    Where another process has compiled all that calls it, only its hash is computed here.

    Args:
        plain: The plain function.

    Attributes:
        name: The function's name.
        content: A hash of all that its compiled code follows from, as it was when this was made.
    """

    def __init__(self, plain: Callable[..., object]) -> None:
        self._plain = plain
        self.name = plain.__name__
        self.content = self._hash()

    def is_as_before(self) -> bool:
        """Whether all that it reads is still what it was when this was made."""
        return self._hash() == self.content

    @cached_property
    def dispatcher(self) -> CPUDispatcher:
        """A Numba dispatcher of it."""
        from colkern.jit.compiling.functions import dispatcher_of

        assert isinstance(self._plain, FunctionType)
        return dispatcher_of(self._plain)

    def _hash(self) -> str:
        return content_hash(self._plain, library_key())
