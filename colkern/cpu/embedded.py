"""Compiled code that only ever runs as part of its callers'.

Numba optimises each function by itself and makes machine code of it, before it does the same with those
that call it. What is inlined everywhere needs neither: its callers' optimisation sees all of it. This
halves what a function of many small helpers takes to compile.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class _NoEngine:
    """Stands for the engine that machine code would be added to."""

    def set_env(self, name: str, env: object) -> None:
        """Only a function that raises has an environment to look at."""


class _EmbeddedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a function, for other libraries to link."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """Left to the callers."""

    def _finalize_final_module(self) -> None:
        """Ready as it is."""
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """None: there is no machine code."""
        return 0

    @property
    def codegen(self) -> Any:
        """What Numba tells of a function's environment."""
        return _NoEngine()


class EmbeddedCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler, for functions that are marked `forceinline` and have no wrappers."""

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        super().__init__(typing, target, library, *rest)
        if library is None:
            self.state.library = _EmbeddedLibrary(target.codegen(), "embedded")
