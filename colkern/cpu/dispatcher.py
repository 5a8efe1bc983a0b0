"""A Numba dispatcher that looks for its compiled code before it loads Numba's compiler.

Forks wait for compilations: if another thread were compiling at a fork, the child could never compile.
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
from numba.core.sigutils import normalize_signature

from colkern.forks import hold_over_forks

hold_over_forks(global_compiler_lock, ffi.lib._lock)


_LOCK: Any = getattr(ffi.lib, "_lock", None)


class CachedDispatcher(CPUDispatcher):
    """A dispatcher over a `ContentCache`.

    Packages that extend Numba may take as long to import as Numba. They are imported only if Numba
    itself does not know an argument's type, or the cache has no compiled code.
    """

    def _compilation_chain_init_hook(self) -> None:
        """Do nothing: Numba calls this before it determines the types of arguments, which is too early."""

    def compile(self, sig: object) -> Any:
        """Compile or load the code for a signature."""
        arguments, _ = normalize_signature(sig)
        existing = self.overloads.get(tuple(arguments))
        if existing is not None:
            return existing.entry_point
        with global_compiler_lock:
            # Without garbage collection, which would often scan the many objects that compiling makes,
            # and without the listeners that Numba calls at each call of LLVM: there is one to measure
            # time for each function that is being compiled. Other versions may have none.
            was_on, lock = gc.isenabled(), _LOCK
            listeners = getattr(lock, "_cblist", None)
            gc.disable()
            if listeners is not None:
                lock._cblist = []
            try:
                return super().compile(sig)
            finally:
                if listeners is not None:
                    lock._cblist = listeners + lock._cblist
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
    """A dispatcher for functions compiled into their callers; LLVM, not Numba, sees constants.

    Otherwise, such functions would be compiled separately for constants and for variables.
    """

    def fold_argument_types(self, args: Iterable[object], kws: object) -> Any:
        """The types of the arguments of a call within compiled code, without literal values."""
        return super().fold_argument_types(tuple(map(types.unliteral, args)), kws)

    def get_call_template(self, args: Iterable[object], kws: object) -> Any:
        """Numba's template for a call, without literal values."""
        return super().get_call_template(tuple(map(types.unliteral, args)), kws)
