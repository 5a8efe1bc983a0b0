"""The state of a reducer: a number, a bool, or a tuple of them; an array for each in generated loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from colkern.errors import CompileError
from colkern.jit.compiling.compilation import plain_types, returned_type, signatures
from colkern.jit.rows.arguments import Reader, Value

_SCALARS = (types.Integer, types.Float, types.Boolean)


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

    def arrays(self, value: Any, count: int) -> list[NDArray[Any]]:
        """Arrays of `count` states that are all `value`."""
        values = value if self.packed else (value,)
        pairs = zip(self.fields, values, strict=True)
        return [np.full(count, item, _DTYPES.get(field, str(field))) for field, item in pairs]

    def reader(self) -> Reader:
        """How a loop over arrays of states reads them as one argument."""
        parameters = tuple("{n}_" + name for name in self.parameters)
        return Reader("state", parameters, self.load("i", parameters), tuple)


_DTYPES = {types.boolean: np.bool_}


def state_of(name: str, init: Any, update: Any, values: Sequence[Value], nullable: Any) -> State:
    """The state that `init` begins with and `update` goes on with.

    An integer becomes a float where `update` makes it one: `init` may return 0 for a sum of floats.

    Args:
        name: The reducer's name.
        init: The dispatcher of its `init`.
        update: That of its `update`.
        values: What `update` gets for the columns: names as in `Reader.value`.
        nullable: Which of them it also gets as None.

    Raises:
        CompileError: If one of them does not compile, or the state is none, or changes its type.
    """
    begun = types.unliteral(returned_type(init, ()))
    state = _state(begun)
    if state is None:
        raise CompileError(
            f"{name}: init returns {plain_types(str(begun))}; a state is a number, a bool "
            f"or a tuple of them{_line(init)}"
        )
    # Each time round, a number may become wider; there is nothing above a float of 64 bits.
    while True:
        widened = state
        for signature in signatures(values, nullable):
            widened = next_state(name, "update", update, (widened.type, *signature), widened)
        if widened == state:
            return state
        state = widened


def next_state(
    name: str, verb: str, function: Any, signature: tuple[Any, ...], state: State
) -> State:
    """The state that holds `state` and what a function returns for arguments of those Numba types.

    Raises:
        CompileError: If there is none.
    """
    returned = types.unliteral(returned_type(function, signature))
    found = _state(returned)
    if found is not None and found.packed == state.packed:
        pairs = list(zip(state.fields, found.fields, strict=False))
        fields = [_wider(a, b) for a, b in pairs]
        if None not in fields and len(found.fields) == len(state.fields):
            return State(tuple(fields), state.packed)
    raise CompileError(
        f"{name}: {verb} returns {plain_types(str(returned))} where the state is "
        f"{plain_types(str(state.type))}; a state keeps its type{_line(function)}"
    )


def _state(found: Any) -> State | None:
    packed = isinstance(found, types.Tuple | types.UniTuple)
    fields = tuple(map(types.unliteral, found)) if packed else (found,)
    if not fields or not all(isinstance(field, _SCALARS) for field in fields):
        return None
    return State(fields, packed)


def _wider(a: Any, b: Any) -> Any:
    """The type that holds numbers of two types; None if there is none that keeps what they are."""
    if a == b:
        return a
    if types.boolean in (a, b):
        return None
    if isinstance(a, types.Float) or isinstance(b, types.Float):
        return types.float64
    return max(a, b, key=lambda kind: kind.bitwidth) if a.signed == b.signed else None


def _line(dispatcher: Any) -> str:
    code = dispatcher.py_func.__code__
    return f'\n  File "{code.co_filename}", line {code.co_firstlineno}'
