"""Methods of builders in compiled code, as `Builder` documents them.

A value is checked and room is made before anything changes, so a builder holds together after any error.
"""

from __future__ import annotations

from functools import cache

from numba import types
from numba.core.errors import TypingError

# Imported for the methods, and for what they append.
import colkern.jit.building.byte_strings
import colkern.jit.building.whole_values  # noqa: F401
from colkern.cpu.compiler import jit
from colkern.cpu.dispatcher import CachedDispatcher
from colkern.generated import function_of_text
from colkern.jit.building.builder_type import APPENDS, method
from colkern.jit.building.nodes import HINTS, NodeKind
from colkern.jit.environment import library_key
from colkern.jit.lowering import unwrapped


@method("append", prefer_literal=True)
def _ol_append(out, value):
    if isinstance(value, types.NoneType):
        return lambda out, value: out.append_null()
    if isinstance(value, types.Optional):

        def append_optional(out, value):
            if value is None:
                out.append_null()
            else:
                out.append(unwrapped(value))

        return append_optional
    method = APPENDS[out.node.kind](out, value)
    if method is None:
        got = str(types.unliteral(value)).replace("unicode_type", "str")
        hint = HINTS.get(out.node.kind, "")
        raise TypingError(f"append: {got} to a builder of {out.data_type}{hint}")
    return method


@APPENDS.of(NodeKind.NULL)
def _none_alone(out, value):
    return None


@cache
def compiled_method(name: str) -> CachedDispatcher:
    """A function that calls a method of a builder."""
    source = f"def {name}(out, *arguments):\n    out.{name}(*arguments)\n"
    call = function_of_text(name, source, {"__name__": __name__}, "builder")
    method: CachedDispatcher = jit(call, library_key())
    return method
