"""A Numba dispatcher that finds its compiled code before it loads what a compilation needs.

Forks wait for compilations: a child of a process whose other thread compiles would never compile itself.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable
from typing import Any

from llvmlite.binding import ffi
from numba import types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.entrypoints import init_all
from numba.core.registry import CPUDispatcher

from colkern.forks import hold_over_forks

hold_over_forks(global_compiler_lock, ffi.lib._lock)


class CachedDispatcher(CPUDispatcher):
    """A dispatcher over a `ContentCache`.

    Packages that extend Numba may take as long to import as Numba. They are when an argument is of
    none of the types that Numba knows, or when the cache has no compiled code.
    """

    def _compilation_chain_init_hook(self) -> None:
        """Called by Numba ahead of the types of the arguments: too early."""

    def compile(self, sig: object) -> Any:
        """Compile or load the code for a signature."""
        # Without the collector of cycles meanwhile: it would look at all that compiling makes, often.
        was_on = gc.isenabled()
        gc.disable()
        try:
            return super().compile(sig)
        finally:
            if was_on:
                gc.enable()

    def typeof_pyval(self, val: object) -> types.Type:
        """The Numba type of an argument."""
        kind = super().typeof_pyval(val)
        if kind is types.pyobject:
            init_all()
            kind = super().typeof_pyval(val)
        return kind


class HelperDispatcher(CachedDispatcher):
    """A dispatcher of what becomes part of its callers, so that LLVM, not Numba, sees constants.

    Functions that call each other would be compiled apart for a constant and for a variable.
    """

    def fold_argument_types(self, args: Iterable[object], kws: object) -> Any:
        """The types of the arguments of a call from within."""
        return super().fold_argument_types(tuple(map(types.unliteral, args)), kws)

    def get_call_template(self, args: Iterable[object], kws: object) -> Any:
        """Numba's form of a call."""
        return super().get_call_template(tuple(map(types.unliteral, args)), kws)
