"""Whether a function reads the clock or takes random numbers: its results are no constants then."""

from __future__ import annotations

import datetime
import dis
import functools
import inspect
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
            value = inspect.getattr_static(type(value), "__call__", None)
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
    # Of an import: its level, and the names that it takes out of a module.
    arguments: tuple[Any, Any] = (0, None)
    for instruction in dis.get_instructions(code):
        line = instruction.positions.lineno if instruction.positions else None
        operation, name = instruction.opname, instruction.argval
        if operation == "IMPORT_NAME":
            module = value = _imported(name, *arguments)
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
            arguments = (arguments[1], name)
        else:
            continue
        yield line, path, value


def _imported(name: str, level: Any, wanted: Any) -> Any:
    """What an import statement gives, as far as it is loaded: nothing of the user's is run for it."""
    if level:
        return _UNKNOWN
    return _module(name if wanted else name.partition(".")[0])


def _module(name: str) -> Any:
    """A loaded module; one that is not loaded, without anything in it, if it counts."""
    missing = types.ModuleType(name) if name in _MODULES else _UNKNOWN
    return sys.modules.get(name) or missing


def _attribute(value: Any, name: str) -> Any:
    """An attribute, as far as that is known without running code of the user's."""
    if value is _UNKNOWN:
        return _UNKNOWN
    if isinstance(value, types.ModuleType):
        # What a module that counts does not have yet, counts like the module.
        other = value if value.__name__ in _MODULES else _module(f"{value.__name__}.{name}")
        return vars(value).get(name, other)
    if isinstance(value, type | types.FunctionType):
        return _asked(value, name, _UNKNOWN)
    found = inspect.getattr_static(value, name, _UNKNOWN)
    if isinstance(found, classmethod | types.ClassMethodDescriptorType):
        return _asked(type(value), name, _UNKNOWN)
    if isinstance(found, staticmethod):
        return found.__func__
    return found.fget if isinstance(found, property) else found


def _asked(value: Any, name: str, default: Any) -> Any:
    try:
        return getattr(value, name, default)
    except Exception:  # noqa: BLE001 The object is the user's, and may raise anything.
        return default


def _is_impure(value: Any, path: str) -> bool:
    """Whether something is a clock, a source of random numbers, or a function of one."""
    if value is _UNKNOWN:
        return "." in path and path.rpartition(".")[2] in _METHODS
    if isinstance(value, types.ModuleType):
        return value.__name__ in _MODULES
    # Its own name, whatever the user calls it.
    name, home = _asked(value, "__name__", ""), _asked(value, "__module__", "")
    owner = _asked(value, "__self__", None)
    if isinstance(owner, type) and issubclass(owner, datetime.date) and name in _METHODS:
        return True
    if home in ("os", "posix", "nt") and name in _FUNCTIONS:
        return True
    homes = (home, type(value).__module__, _asked(owner, "__module__", ""), type(owner).__module__)
    return any(_is_within(each, _MODULES) for each in homes if isinstance(each, str))


def _is_within(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def _is_impure_text(value: Any, code: types.CodeType) -> bool:
    """Whether something makes times of texts, and code has one of those that mean the present."""
    return _asked(value, "__name__", "") in _OF_TEXT and any(
        constant.lower() in ("now", "today")
        for constant in code.co_consts
        if isinstance(constant, str)
    )


def _is_of_library(function: types.FunctionType) -> bool:
    return (function.__module__ or "").partition(".")[0] in _LIBRARIES
