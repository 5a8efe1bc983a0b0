"""What the state of a reducer is, found out by compiling its functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numba import types

from colkern.errors import CompileError
from colkern.jit.compiling.compilation import returned_kind, returned_type, signatures
from colkern.jit.compiling.explanations import plain_types
from colkern.jit.results.kinds import Kind
from colkern.jit.rows.arguments import Value
from colkern.jit.rows.states import State

_SCALARS = (types.Integer, types.Float, types.Boolean)


def state_and_result(
    name: str, functions: Sequence[Any], values: Sequence[Value], nullable: Any
) -> tuple[State, Kind]:
    """What the state of a reducer is, and what its `finish` returns.

    Args:
        name: The reducer's name.
        functions: The dispatchers of `init`, `update`, `merge` and `finish`; None for no `merge`.
        values: What `update` gets for the columns: names as in `Reader.value`.
        nullable: Which of them it also gets as None.

    Raises:
        CompileError: If one of them does not compile, or the state is none, or changes its type.
    """
    init, update, merge, finish = functions
    state = state_of(name, init, update, values, nullable)
    if merge is not None and next_state(name, "merge", merge, (state.type,) * 2, state) != state:
        raise CompileError(f"{name}: merge returns other numbers than update")
    return state, returned_kind(finish, (state.type,))


def state_of(name: str, init: Any, update: Any, values: Sequence[Value], nullable: Any) -> State:
    """The state that `init` begins with and `update` goes on with.

    An integer becomes a float where `update` makes it one: `init` may return 0 for a sum of floats. A
    literal that is not negative becomes a uint64 where `update` does not compile with signed ones.

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
    try:
        return _settled(name, update, values, nullable, state)
    except CompileError:
        unsigned = _with_unsigned_literals(returned_type(init, ()), state)
        if unsigned == state:
            raise
    return _settled(name, update, values, nullable, unsigned)


def _with_unsigned_literals(begun: Any, state: State) -> State:
    """The state with a uint64 for each literal that `init` returns and that is not negative."""
    parts = tuple(begun) if state.packed else (begun,)
    is_unsigned = [
        isinstance(part, types.IntegerLiteral) and part.literal_value >= 0 for part in parts
    ]
    pairs = zip(state.fields, is_unsigned, strict=True)
    return State(tuple(types.uint64 if u else field for field, u in pairs), state.packed)


def _settled(name: str, update: Any, values: Sequence[Value], nullable: Any, state: State) -> State:
    """The state that `update` goes on with, beginning with `state`.

    Each time round, a number may become wider; there is nothing above a float of 64 bits.
    """
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
