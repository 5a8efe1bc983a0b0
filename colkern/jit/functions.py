"""User's functions made ready for Numba: the plain functions that they call are compiled with them.

What is compiled is a copy of the function with globals of its own, which say that it belongs to this
module: code from `__main__`, a notebook or a pickle names modules that another process cannot import.
"""

from __future__ import annotations

import inspect
import pkgutil
import sys
import types
from functools import cache
from hashlib import sha256
from typing import Any

from numba.core.registry import cpu_target
from numba.core.typing.templates import builtin_registry

from colkern.cpu.compiler import jit
from colkern.jit.checks import CheckedCompiler
from colkern.jit.names import global_names, is_empty, row_function
from colkern.jit.yields import ItemsCompiler, KindsCompiler, with_sink

_COMPILED_IN = (
    *(
        f"jit/building/{name}"
        for name in (
            "builder_type",
            "byte_strings",
            "methods",
            "nested",
            "nodes",
            "nulls",
            "numbers",
            "room",
            "state",
        )
    ),
    "jit/checks",
    "jit/parsing",
    "jit/sinks",
    "jit/strings",
    "jit/support",
    "jit/yields",
    "cpu/primitives",
)


@cache
def library_key() -> str:
    """A hash of the code of colkern that ends up in compiled functions."""
    digest = sha256()
    for name in _COMPILED_IN:
        digest.update(pkgutil.get_data("colkern", f"{name}.py") or b"")
    return digest.hexdigest()


def dispatcher_of(function: Any) -> Any:
    """A dispatcher for a user's plain function; the plain functions that it calls become ones too."""
    copies = _Copies()
    dispatcher = copies.dispatcher_of(function)
    copies.close_cycles()
    return dispatcher


def items_dispatcher_of(function: Any) -> Any:
    """A dispatcher for a generator function, which takes a sink as its last argument, and hands each
    item to it; see `colkern.jit.yields`."""
    return _rewritten(function, ItemsCompiler)


def kinds_dispatcher_of(function: Any) -> Any:
    """A dispatcher for a generator function, which takes a bool as its last argument, and returns what
    the generator yields; to be asked for its types."""
    return _rewritten(function, KindsCompiler)


def _rewritten(function: Any, compiler: Any) -> Any:
    copies = _Copies()
    copy = copies.copy(function)
    with_sink(copy)
    copies.close_cycles()
    return jit(copy, library_key(), boundscheck=True, pipeline_class=compiler)


class _Copies:
    """The functions that one function reaches, each copied and compiled once."""

    def __init__(self) -> None:
        self._copies: dict[types.FunctionType, types.FunctionType] = {}
        self._dispatchers: dict[types.FunctionType, Any] = {}

    def dispatcher_of(self, function: types.FunctionType) -> Any:
        """The dispatcher of a copy; a copy alone while its own dispatcher is being made."""
        if function in self._copies:
            return self._dispatchers.get(function, self._copies[function])
        dispatcher = jit(
            self.copy(function), library_key(), boundscheck=True, pipeline_class=CheckedCompiler
        )
        if inspect.isgeneratorfunction(function):
            # Numba knows how to go on with a generator only where it was compiled. What calls it has
            # its code inside, and is stored.
            dispatcher._cache.disable()
        self._dispatchers[function] = dispatcher
        return dispatcher

    def copy(self, function: types.FunctionType) -> types.FunctionType:
        """A copy that calls dispatchers."""
        copy = _copy(function)
        self._copies[function] = copy
        for name in global_names(function.__code__):
            if name in function.__globals__:
                copy.__globals__[name] = self._compilable(function.__globals__[name])
        for cell in _filled_cells(copy):
            cell.cell_contents = self._compilable(cell.cell_contents)
        return copy

    def close_cycles(self) -> None:
        """Let functions that call each other in a circle do so through dispatchers."""
        compiled = {id(self._copies[f]): made for f, made in self._dispatchers.items()}
        for copy in self._copies.values():
            for name, value in copy.__globals__.items():
                copy.__globals__[name] = compiled.get(id(value), value)
            for cell in _filled_cells(copy):
                cell.cell_contents = compiled.get(id(cell.cell_contents), cell.cell_contents)

    def _compilable(self, value: Any) -> Any:
        plain = row_function(value)
        if isinstance(plain, types.FunctionType) and not _is_known(plain):
            return self.dispatcher_of(plain)
        return value


def _filled_cells(function: types.FunctionType) -> list[types.CellType]:
    return [cell for cell in function.__closure__ or () if not is_empty(cell)]


def _copy(function: types.FunctionType) -> types.FunctionType:
    namespace = {"__name__": __name__, "__builtins__": __builtins__}
    cells = tuple(
        types.CellType(*([] if is_empty(cell) else [cell.cell_contents]))
        for cell in function.__closure__ or ()
    )
    copy = types.FunctionType(
        function.__code__, namespace, function.__name__, function.__defaults__, cells
    )
    copy.__module__ = __name__
    return copy


def _is_known(function: types.FunctionType) -> bool:
    """Whether Numba has its own compiled form of a function, as for NumPy's."""
    package = (function.__module__ or "").partition(".")[0]
    if package in ("numpy", "numba"):
        return True
    if package in sys.stdlib_module_names - {"__main__"}:
        # Numba learns these by imports that take a while; users' own are there already.
        cpu_target.typing_context.refresh()
    return any(known is function for known, _ in builtin_registry.globals)
