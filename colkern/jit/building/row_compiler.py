"""The loop of `colkern.jit.building.rows`, generated around a user's function.

The function is a global of the loop's namespace. As a closure's variable it would never be found
again in a cache on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

import numba
import numpy as np
from numba import types
from numba.core.errors import NumbaError
from numpy.typing import NDArray

# Imported for what it teaches Numba: the methods of builders.
import colkern.jit.building.methods  # noqa: F401
from colkern import schema as s
from colkern.cpu.compiler import jit
from colkern.cpu.dispatcher import CachedDispatcher
from colkern.generated import function_of_text
from colkern.jit.building.builder_type import BuilderType
from colkern.jit.building.nodes import wholes
from colkern.jit.building.state import builder_at
from colkern.jit.compiling.explanations import explained
from colkern.jit.compiling.functions import dispatcher_of
from colkern.jit.environment import library_key

_LOOP = """
def loop(start, stop, row, state, wholes, arguments):
    out = builder_at(np.uint64(state.ctypes.data))
    for i in range(start, stop):
        row[0] = i
        function(i, *arguments, out)
        for k in range(len(wholes)):
            if state[wholes[k, 0]] != state[wholes[k, 1]] * wholes[k, 2]:
                return False
    return True
"""

Loop = tuple[CachedDispatcher, NDArray[np.int64]]

_compiled: WeakKeyDictionary[
    Callable[..., None], dict[tuple[tuple[types.Type, ...], s.DataType], Loop]
] = WeakKeyDictionary()


def row_loop(
    function: Callable[..., None], arguments: tuple[object, ...], returns: s.DataType
) -> Loop:
    """The loop that calls a function for each row, and ends after one that is incomplete; the numbers of
    `wholes`. Made once for a function and types.

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
) -> Loop:
    dispatcher: Any = dispatcher_of(function) if isinstance(function, FunctionType) else function
    builder = BuilderType(returns)
    try:
        dispatcher.compile((numba.int64, *kinds, builder))
    except NumbaError as error:
        raise explained(dispatcher, error) from None
    except Exception as error:  # Code of any kind may lead Numba into exceptions of any kind.
        raise explained(dispatcher, error) from error
    namespace: dict[str, object] = {
        "__name__": __name__,
        "np": np,
        "builder_at": builder_at(builder),
        "function": dispatcher,
    }
    plain = function_of_text("loop", _LOOP, namespace, f"rows of {dispatcher.__name__}")
    numbers = np.array([numbers for *numbers, _, _ in wholes(returns)], np.int64).reshape(-1, 3)
    return jit(plain, library_key(), outermost=True), numbers
