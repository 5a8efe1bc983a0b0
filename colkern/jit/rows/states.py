"""The state of a reducer: a number, a bool, or a tuple of them; an array for each in generated loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from colkern.jit.rows.arguments import Reader


@dataclass(frozen=True, slots=True)
class State:
    """What a state is made of.

    Args:
        fields: The Numba type of each number.
        packed: Whether it is a tuple; else it is one number.
    """

    fields: tuple[Any, ...]
    packed: bool

    @property
    def type(self) -> Any:
        """Its Numba type."""
        return types.Tuple(self.fields) if self.packed else self.fields[0]

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters of a loop for arrays of states."""
        return tuple(f"s{k}" for k in range(len(self.fields)))

    def load(self, place: str, names: Sequence[str] | None = None) -> str:
        """The expression for the state at a place of the arrays, which are the parameters or `names`."""
        items = [f"{name}[{place}]" for name in names or self.parameters]
        return f"({', '.join(items)},)" if self.packed else items[0]

    def store(self, place: str) -> tuple[str, ...]:
        """The lines that put the variable `state` there."""
        if not self.packed:
            return (f"s0[{place}] = state",)
        return tuple(f"s{k}[{place}] = state[{k}]" for k in range(len(self.fields)))

    def arrays(self, count: int) -> list[NDArray[Any]]:
        """Arrays for `count` states, with whatever stands there."""
        return [np.empty(count, _DTYPES.get(field, str(field))) for field in self.fields]

    def reader(self) -> Reader:
        """How a loop over arrays of states reads them as one argument."""
        parameters = tuple("{n}_" + name for name in self.parameters)
        return Reader("state", parameters, self.load("i", parameters), tuple)


_DTYPES = {types.boolean: np.bool_}
