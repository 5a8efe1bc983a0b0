"""User's functions made ready for Numba: the plain functions that they call are compiled with them.

Numba compiles a copy of the function with globals of its own, which name this package as its module: code
from `__main__`, a notebook or a pickle would name a module that another process cannot import.
"""

from __future__ import annotations

import inspect
import types
from typing import Any

from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.typing.templates import builtin_registry

from colkern.cpu.compiler import jit
from colkern.cpu.content import is_copied
from colkern.cpu.dispatcher import CachedDispatcher
from colkern.jit.compiling.names import global_names, is_empty
from colkern.jit.compiling.replacements import CheckedCompiler
from colkern.jit.environment import library_key
from colkern.rows.front import is_of_standard_library

_HOME = "colkern.jit.compiling"
"""The module that copies say they are from: Numba imports it when it loads their machine code."""


Options = dict[str, Any]
"""For `colkern.cpu.compiler.jit`."""


class UsersDispatcher(CachedDispatcher):
    """A dispatcher whose callers compile a copy of it, even if it was declared for certain types."""


def dispatcher_of(function: types.FunctionType, options: Options | None = None) -> CachedDispatcher:
    """A dispatcher for a user's plain function; the plain functions that it calls become ones too.

    Args:
        options: Those for functions of a row, if None.
    """
    copies = _Copies()
    dispatcher = copies.dispatcher_of(function, options or _ROW_OPTIONS)
    copies.close_cycles()
    assert isinstance(dispatcher, CachedDispatcher)
    return dispatcher


def jit_options(dispatcher: CPUDispatcher) -> Options:
    """The options of a dispatcher, for copies of its function."""
    return {
        "nogil": False,
        "error_model": "python",
        **dispatcher.targetoptions,
        "locals": dispatcher.locals,
        "pipeline_class": dispatcher._compiler.pipeline_class,
    }


_ROW_OPTIONS: Options = {"boundscheck": True, "pipeline_class": CheckedCompiler}

# Of one function, not of those that it calls.
_OWN_OPTIONS = ("inline", "forceinline", "locals")


class _Copies:
    """The functions that one function reaches, each copied and compiled once for its options."""

    def __init__(self) -> None:
        self._copies: dict[tuple[types.FunctionType, str], types.FunctionType] = {}
        self._dispatchers: dict[tuple[types.FunctionType, str], CachedDispatcher] = {}

    def dispatcher_of(
        self, function: types.FunctionType, options: Options
    ) -> CachedDispatcher | types.FunctionType:
        """The dispatcher of a copy; a copy alone while its own dispatcher is being made."""
        key = function, repr(sorted(options.items()))
        if key in self._copies:
            return self._dispatchers.get(key, self._copies[key])
        dispatcher: CachedDispatcher = jit(self.copy(function, options), library_key(), **options)
        if inspect.isgeneratorfunction(function):
            # Numba knows how to go on with a generator only where it was compiled. What calls it has
            # its code inside, and is stored.
            dispatcher._cache.disable()
        self._dispatchers[key] = dispatcher
        return dispatcher

    def copy(self, function: types.FunctionType, options: Options) -> types.FunctionType:
        """A copy that calls dispatchers."""
        copy = self._copies[function, repr(sorted(options.items()))] = _copy(function)
        # One that calls itself may be compiled before its name is given to what it becomes.
        itself = {function.__name__: function}
        for name in global_names(function.__code__):
            if name in function.__globals__ or name in itself:
                value = function.__globals__.get(name, itself.get(name))
                copy.__globals__[name] = self._compilable(value, options)
        for name, cell in zip(copy.__code__.co_freevars, copy.__closure__ or (), strict=True):
            if not is_empty(cell) or name in itself:
                value = itself[name] if is_empty(cell) else cell.cell_contents
                cell.cell_contents = self._compilable(value, options)
        return copy

    def close_cycles(self) -> None:
        """Let functions that call each other in a circle do so through dispatchers."""
        compiled = {id(self._copies[key]): value for key, value in self._dispatchers.items()}
        for copy in self._copies.values():
            for name, value in copy.__globals__.items():
                copy.__globals__[name] = compiled.get(id(value), value)
            for cell in copy.__closure__ or ():
                if is_empty(cell):
                    continue
                cell.cell_contents = compiled.get(id(cell.cell_contents), cell.cell_contents)

    def _compilable(self, value: Any, options: Options) -> object:
        """The value in the copy of a global or a variable of an outer function."""
        # Code that Numba has compiled before may be of other globals than there are now.
        if isinstance(value, UsersDispatcher) or is_copied(value):
            return self.dispatcher_of(value.py_func, jit_options(value))
        plain = getattr(value, "row_function", value)
        if not isinstance(plain, types.FunctionType):
            return value
        if plain is not value:
            return self.dispatcher_of(plain, _ROW_OPTIONS)
        if _is_known(plain):
            return value
        return self.dispatcher_of(
            plain, {k: v for k, v in options.items() if k not in _OWN_OPTIONS}
        )


def _copy(function: types.FunctionType) -> types.FunctionType:
    namespace = {"__name__": _HOME, "__builtins__": __builtins__}
    cells = tuple(
        types.CellType(*([] if is_empty(cell) else [cell.cell_contents]))
        for cell in function.__closure__ or ()
    )
    copy = types.FunctionType(
        function.__code__, namespace, function.__name__, function.__defaults__, cells
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__module__ = _HOME
    return copy


def _is_known(function: types.FunctionType) -> bool:
    """Whether Numba has its own compiled form of a function, as for NumPy's."""
    package = (function.__module__ or "").partition(".")[0]
    if package in ("numpy", "numba"):
        return True
    if is_of_standard_library(function):
        # Numba learns these by imports that take a while; users' own are there already.
        cpu_target.typing_context.refresh()
    return any(known is function for known, _ in builtin_registry.globals)
