"""Searches for functions that read the clock or random numbers: their results are not constants."""

from __future__ import annotations

import datetime
import dis
import functools
import inspect
import sys
import types
from collections.abc import Iterator, Mapping

from colkern.errors import UnsupportedError

_MODULES = ("time", "random", "secrets", "uuid", "numpy.random")
"""Modules whose members are all impure."""

_METHODS = ("now", "utcnow", "today")
"""Methods of dates and times that read the clock; impure for unknown objects too."""

_FUNCTIONS = ("urandom", "getrandom", "times")
"""Functions of `os` that are impure."""

_OF_TEXT = ("datetime64", "Timestamp", "Period", "to_datetime", "to_timedelta")
"""Functions that take the texts "now" and "today"."""

_LIBRARIES = sys.stdlib_module_names | {"numpy", "pandas", "pyarrow", "pyspark", "colkern"}
"""Packages whose functions are not searched."""

_UNKNOWN = object()


def require_pure(function: object) -> None:
    """Raise UnsupportedError if a function, or one that it calls by name, reads the clock or is random.

    Comparing two calls would not show it: a clock such as `date.today` changes once a day.
    """
    _Search().look_into(function)


class _Search:
    """Searches functions, each of them once."""

    def __init__(self) -> None:
        self._seen: set[types.CodeType] = set()

    def look_into(self, value: object) -> None:
        """Search a function, a method, a partial function or a callable object."""
        while isinstance(value, functools.partial | types.MethodType):
            value = value.func if isinstance(value, functools.partial) else value.__func__
        if not isinstance(value, types.FunctionType):
            value = inspect.getattr_static(type(value), "__call__", None)
        if not isinstance(value, types.FunctionType):
            return
        if (value.__module__ or "").partition(".")[0] not in _LIBRARIES:
            self._look_into_code(value.__code__, _Names(value))

    def _look_into_code(self, code: types.CodeType, names: _Names) -> None:
        if code in self._seen:
            return
        self._seen.add(code)
        refused, line = "", 0
        for at, path, value in _reached(code, names):
            if refused and not path.startswith(f"{refused}."):
                break
            # Both parts of the name `time.time` are impure: the message has the full name.
            if refused or _is_impure(value, path) or _is_impure_text(value, code):
                refused, line = path, at or line
            elif isinstance(value, types.FunctionType | types.MethodType | functools.partial):
                self.look_into(value)
        if refused:
            raise UnsupportedError(
                f"it uses {refused}, and the time or a random number would become a constant "
                f"(line {line or code.co_firstlineno} of {code.co_filename})"
            )
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._look_into_code(constant, names)


class _Names:
    """The values of a function's names, as far as they are known without running it."""

    def __init__(self, function: types.FunctionType) -> None:
        self.outside: Mapping[str, object] = function.__globals__
        parameters = inspect.signature(function, follow_wrapped=False).parameters
        known = ((n, each.default) for n, each in parameters.items())
        self.inside = {n: value for n, value in known if value is not inspect.Parameter.empty}
        cells = function.__closure__ or ()
        for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
            try:
                self.inside[name] = cell.cell_contents
            except ValueError:
                # The variable has no value yet.
                continue


def _reached(code: types.CodeType, names: _Names) -> Iterator[tuple[int | None, str, object]]:
    """Yields the line, the dotted name and the object of each name and attribute that code reads."""
    path, value = "", _UNKNOWN
    module: object = _UNKNOWN
    # The level of an import, and the names that it takes from a module.
    arguments: tuple[object, object] = (0, None)
    for instruction in dis.get_instructions(code):
        line = instruction.positions.lineno if instruction.positions else None
        operation, name = instruction.opname, instruction.argval
        if operation == "IMPORT_NAME":
            # Only modules that are loaded already: none of the user's modules is run here.
            level, wanted = arguments
            module = value = _module(name if wanted else name.partition(".")[0])
            if level:
                module = value = _UNKNOWN
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


def _module(name: str) -> object:
    """Returns a loaded module, or an empty one for an impure module that is not loaded."""
    missing = types.ModuleType(name) if name in _MODULES else _UNKNOWN
    return sys.modules.get(name) or missing


def _attribute(value: object, name: str) -> object:
    """Returns an attribute if it is known without running the user's code."""
    if value is _UNKNOWN:
        return _UNKNOWN
    if isinstance(value, types.ModuleType):
        # An attribute that an impure module does not have yet counts as impure.
        other = value if value.__name__ in _MODULES else _module(f"{value.__name__}.{name}")
        return vars(value).get(name, other)
    if isinstance(value, type | types.FunctionType):
        return _asked(value, name, _UNKNOWN)
    member = inspect.getattr_static(value, name, _UNKNOWN)
    if isinstance(member, classmethod | types.ClassMethodDescriptorType):
        return _asked(type(value), name, _UNKNOWN)
    if isinstance(member, staticmethod):
        return member.__func__
    return member.fget if isinstance(member, property) else member


def _asked(value: object, name: str, default: object) -> object:
    try:
        return getattr(value, name, default)
    except Exception:  # noqa: BLE001 The user's object may raise anything.
        return default


def _is_impure(value: object, path: str) -> bool:
    """Whether an object is a clock, a source of random numbers, or a function of one."""
    if value is _UNKNOWN:
        return "." in path and path.rpartition(".")[2] in _METHODS
    if isinstance(value, types.ModuleType):
        return value.__name__ in _MODULES
    # The object's own name counts, not the name that the user gives it.
    name, home = _asked(value, "__name__", ""), _asked(value, "__module__", "")
    owner = _asked(value, "__self__", None)
    if isinstance(owner, type) and issubclass(owner, datetime.date) and name in _METHODS:
        return True
    if home in ("os", "posix", "nt") and name in _FUNCTIONS:
        return True
    homes = (home, type(value).__module__, _asked(owner, "__module__", ""), type(owner).__module__)
    names = [f"{each}." for each in homes if isinstance(each, str)]
    return any(name.startswith(f"{module}.") for name in names for module in _MODULES)


def _is_impure_text(value: object, code: types.CodeType) -> bool:
    """Whether a function parses times and the code that calls it has the text "now" or "today"."""
    return _asked(value, "__name__", "") in _OF_TEXT and any(
        constant.lower() in ("now", "today")
        for constant in code.co_consts
        if isinstance(constant, str)
    )
