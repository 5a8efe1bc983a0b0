"""Whether a function reads the clock or takes random numbers: its results are no constants then."""

from __future__ import annotations

import datetime
import dis
import functools
import importlib
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Any

from colkern.errors import UnsupportedError

_MODULES = ("time", "random", "secrets", "uuid", "numpy.random")
"""Modules of which everything counts."""

_METHODS = ("now", "utcnow", "today")
"""What dates and times have to read the clock; also of objects that cannot be told from here."""

_FUNCTIONS = ("urandom", "getrandom", "times")
"""What of `os` counts."""

_OF_TEXT = ("datetime64", "Timestamp", "Period", "to_datetime", "to_timedelta")
"""What takes the texts "now" and "today"."""

_LIBRARIES = sys.stdlib_module_names | {"numpy", "pandas", "pyarrow", "pyspark", "colkern"}
"""Packages whose functions are not looked into."""

_UNKNOWN = object()


def require_pure(function: Any) -> None:
    """Check that neither a function nor what it calls by name reads the clock, or is random.

    Two calls that come to the same do not show it: a clock may tick once a day.

    Raises:
        UnsupportedError: If one does; names what, and the line.
    """
    _Search().look_into(function)


class _Search:
    """Looks into functions, each of them once."""

    def __init__(self) -> None:
        self._seen: set[Any] = set()

    def look_into(self, value: Any) -> None:
        """Look into whatever may be called: functions, methods, partial functions, objects."""
        while isinstance(value, functools.partial | types.MethodType):
            value = value.func if isinstance(value, functools.partial) else value.__func__
        if not isinstance(value, types.FunctionType):
            value = vars(type(value)).get("__call__")
        if isinstance(value, types.FunctionType) and not _is_of_library(value):
            self._look_into_code(value.__code__, _Names(value))

    def _look_into_code(self, code: types.CodeType, names: _Names) -> None:
        if code in self._seen:
            return
        self._seen.add(code)
        refused, line = "", 0
        for found, path, value in _reached(code, names):
            if refused and not path.startswith(f"{refused}."):
                break
            # Of `time.time` both names count: the whole of it is told.
            if refused or _is_impure(value, path) or _is_impure_text(value, code):
                refused, line = path, found or line
            elif isinstance(value, types.FunctionType | types.MethodType | functools.partial):
                self.look_into(value)
        if refused:
            raise UnsupportedError(
                f"it uses {refused}, and what reads the clock or is random would become a constant "
                f"(line {line or code.co_firstlineno} of {code.co_filename})"
            )
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._look_into_code(constant, names)


class _Names:
    """What the names of a function stand for, as far as that is known without running it."""

    def __init__(self, function: types.FunctionType) -> None:
        self.outside: Mapping[str, Any] = function.__globals__
        code, given = function.__code__, function.__defaults__ or ()
        positional = code.co_varnames[: code.co_argcount]
        self.inside = dict(zip(positional[len(positional) - len(given) :], given, strict=True))
        self.inside |= function.__kwdefaults__ or {}
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            try:
                self.inside[name] = cell.cell_contents
            except ValueError:
                # A variable that has no value yet.
                continue


def _reached(code: types.CodeType, names: _Names) -> Iterator[tuple[int | None, str, Any]]:
    """The line, the dotted name and the object of each name and attribute that code reads."""
    path, value = "", _UNKNOWN
    module: Any = _UNKNOWN
    for instruction in dis.get_instructions(code):
        line = instruction.positions.lineno if instruction.positions else None
        operation, name = instruction.opname, instruction.argval
        if operation == "IMPORT_NAME":
            module = value = _imported(name)
            continue
        elif operation == "IMPORT_FROM":
            path, value = f"{getattr(module, '__name__', '')}.{name}", _attribute(module, name)
        elif operation in ("LOAD_ATTR", "LOAD_METHOD"):
            path, value = f"{path}.{name}" if path else str(name), _attribute(value, name)
        elif operation in ("STORE_FAST", "STORE_DEREF", "STORE_NAME"):
            names.inside[name] = value
            continue
        elif operation == "LOAD_GLOBAL":
            path, value = name, names.outside.get(name, _UNKNOWN)
        elif operation in ("LOAD_FAST", "LOAD_DEREF", "LOAD_NAME"):
            path, value = name, names.inside.get(name, _UNKNOWN)
        elif operation not in ("EXTENDED_ARG", "CACHE"):
            path, value = "", _UNKNOWN
        else:
            continue
        yield line, path, value


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return _UNKNOWN


def _attribute(value: Any, name: str) -> Any:
    return _UNKNOWN if value is _UNKNOWN else getattr(value, name, _UNKNOWN)


def _is_impure(value: Any, path: str) -> bool:
    """Whether something is a clock, a source of random numbers, or a function of one."""
    name = path.rpartition(".")[2]
    if value is _UNKNOWN:
        return "." in path and name in _METHODS
    if isinstance(value, types.ModuleType):
        return value.__name__ in _MODULES
    owner = getattr(value, "__self__", None)
    if name in _METHODS and isinstance(owner, type) and issubclass(owner, datetime.date):
        return True
    if name in _FUNCTIONS and getattr(value, "__module__", "") in ("os", "posix"):
        return True
    if owner is not None and not isinstance(owner, types.ModuleType) and owner is not value:
        return _is_impure(owner, "")
    home = getattr(value, "__module__", None) or ""
    kind = type(value).__module__
    return any(_is_within(place, _MODULES) for place in (home, kind) if isinstance(place, str))


def _is_within(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def _is_impure_text(value: Any, code: types.CodeType) -> bool:
    """Whether something makes times of texts, and code has one of those that mean the present."""
    return getattr(value, "__name__", "") in _OF_TEXT and any(
        constant.lower() in ("now", "today")
        for constant in code.co_consts
        if isinstance(constant, str)
    )


def _is_of_library(function: types.FunctionType) -> bool:
    return (function.__module__ or "").partition(".")[0] in _LIBRARIES
