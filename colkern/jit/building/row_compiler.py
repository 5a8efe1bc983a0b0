"""The loops of `colkern.jit.building.rows`, generated around a user's function.

The function is a global of the loop's namespace. As a closure's variable it would never be found
again in a cache on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from weakref import WeakKeyDictionary

import numba
import numpy as np
from numba import types

# Imported for what it teaches Numba: the methods of builders.
import colkern.jit.building.methods  # noqa: F401
from colkern import schema as s
from colkern.cpu.compiler import jit
from colkern.cpu.dispatcher import CachedDispatcher
from colkern.generated import function_of_text
from colkern.jit.building.builder_type import BuilderType, Mode
from colkern.jit.building.nodes import ROW, subtree
from colkern.jit.building.state import builder_at
from colkern.jit.compiling.attempt import compile_or_explain
from colkern.jit.compiling.functions import dispatcher_of
from colkern.jit.compiling.library import library_key

# `places` are the positions of lengths in the state; the room for a length follows it, see
# `colkern.jit.building.nodes.State`.

_MEASURE = """
def measure(start, stop, places, counts, arguments):
    state = np.zeros(numbers, np.int64)
    out = builder_at(np.uint64(state.ctypes.data))
    for i in range(start, stop):
        for k in range(len(places)):
            state[places[k]] = 0
        function(i, *arguments, out)
        for k in range(len(places)):
            counts[k, i + 1] = state[places[k]]
    return state
"""

_WRITE = """
def write(start, stop, pointers, places, starts, arguments):
    state = pointers.copy()
    out = builder_at(np.uint64(state.ctypes.data))
    changed = False
    for i in range(start, stop):
        for k in range(len(places)):
            state[places[k]] = starts[k, i]
            state[places[k] + 1] = starts[k, i + 1]
        function(i, *arguments, out)
        for k in range(len(places)):
            changed |= state[places[k]] != starts[k, i + 1]
    return changed, state
"""


Loops = tuple[CachedDispatcher, CachedDispatcher]

_compiled: WeakKeyDictionary[
    Callable[..., None], dict[tuple[tuple[types.Type, ...], s.DataType], Loops]
] = WeakKeyDictionary()


def row_loops(
    function: Callable[..., None], arguments: tuple[object, ...], returns: s.DataType
) -> Loops:
    """The loops that measure and that write; made once for a function and types.

    Raises:
        CompileError: If the function does not compile for those arguments.
    """
    kinds = tuple(map(numba.typeof, arguments))
    loops = _compiled.setdefault(function, {})
    if (kinds, returns) not in loops:
        loops[kinds, returns] = _compile(function, kinds, returns)
    return loops[kinds, returns]


def _compile(
    function: Callable[..., None], kinds: tuple[types.Type, ...], returns: s.DataType
) -> Loops:
    dispatcher = dispatcher_of(function) if isinstance(function, FunctionType) else function
    modes: tuple[tuple[Mode, str], ...] = (("measure", _MEASURE), ("write", _WRITE))
    loops = []
    for mode, source in modes:
        builder = BuilderType(returns, mode=mode)
        compile_or_explain(dispatcher, (numba.int64, *kinds, builder))
        loops.append(_loop(source, dispatcher, builder))
    return loops[0], loops[1]


def _loop(source: str, dispatcher: Callable[..., None], builder: BuilderType) -> CachedDispatcher:
    namespace: dict[str, object] = {
        "__name__": __name__,
        "np": np,
        "builder_at": builder_at(builder),
        "function": dispatcher,
        "numbers": sum(1 for _ in subtree(builder.data_type)) * ROW,
    }
    title = f"rows of {dispatcher.__name__}"
    plain = function_of_text(builder.mode, source, namespace, title)
    loop: CachedDispatcher = jit(plain, library_key(), outermost=True)
    return loop
